"""How people and other programs hear of proposals: e-mails that remind, signed webhooks."""
