"""What a customer wants, read without a language model: intent, entities, a wish for a person."""

from agents.understanding.catalogue import Catalogue, Intent, load_catalogue
from agents.understanding.entities import Entities, find_entities
from agents.understanding.language import guess_language
from agents.understanding.persons import wants_person
from agents.understanding.reading import Reading, read

__all__ = [
    "Catalogue",
    "Entities",
    "Intent",
    "Reading",
    "find_entities",
    "guess_language",
    "load_catalogue",
    "read",
    "wants_person",
]
