"""Bringing a shop's own data in: one reader for each format, one way into the tables."""
