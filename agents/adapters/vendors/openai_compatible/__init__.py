"""Chat completions of OpenAI, and of Ollama, vLLM, llama.cpp and others that speak the same."""

from agents.adapters.vendors.openai_compatible.client import OpenAICompatible

__all__ = ["OpenAICompatible"]
