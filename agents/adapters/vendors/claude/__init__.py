"""Anthropic's Messages API behind the port."""

from agents.adapters.vendors.claude.client import Claude

__all__ = ["Claude"]
