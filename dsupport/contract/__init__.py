"""Plain types that every room shares. Standard library and pydantic only."""
