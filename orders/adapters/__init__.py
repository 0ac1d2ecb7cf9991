"""One module for each carrier, and the simulated one that ships with the desk."""
