"""Pure decisions of knowledge: chunking, words, scores, states. No Django and no clock."""
