"""Embedders: the local model and the shipped fake."""
