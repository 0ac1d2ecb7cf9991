"""A deterministic stand-in for a language model: no key, no network, the same port and tools."""

from agents.adapters.offline.adapter import OfflineRules

__all__ = ["OfflineRules"]
