"""Language models of other houses behind the port. Each adapter: pure translation, thin edge."""
