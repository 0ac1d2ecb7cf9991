"""The public retail set tau2-bench, played against the real gate, executor and tables."""
