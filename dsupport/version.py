"""The version of the application."""

VERSION = "0.1.0"
