"""The wish for a person, which no model stands before."""

from __future__ import annotations

import pytest

from agents.understanding import guess_language, wants_person


@pytest.mark.parametrize(
    "text",
    [
        "I want to talk to a human",
        "HUMAN PLEASE",
        "agent!",
        "let me speak to your manager",
        "I need a humna",
        "get me a representitive",
        "I WANT TO SPEEK TO A HUMAN NOW",
        "put me through to someone",
        "can someone call me back",
        "no robots please, give me a human",
        "I don't want to talk to a machine",
        "is there anyone I can talk to",
        "Where is my order? I want to talk to a person.",
        "Ich möchte mit einem Menschen sprechen",
        "Bitte verbinden Sie mich mit einem Mitarbeiter",
        "je voudrais parler à une personne",
        "quiero hablar con un agente",
        "quero falar com um atendente",
        "vorrei parlare con un operatore",
        "ik wil een medewerker spreken",
        "転送してください、担当者と話したい",
        "转人工",
    ],
)
def test_wish_for_a_person_is_seen(text):
    assert wants_person(text)


@pytest.mark.parametrize(
    "text",
    [
        "are you human",
        "am I talking to a human or a bot?",
        "is this a real person",
        "I don't want to talk to a human",
        "no need for a person, just tell me the status",
        "do I need to talk to a person to return it",
        "the person who delivered it was rude",
        "your agent told me it would come Monday",
        "I spoke to a person yesterday",
        "I'd like a two person tent",
        "how many people sleep in the tent",
        "give me a discount",
        "I want my money back",
        "the courier did not call me",
        "please call off my order",
        "somebody else's order arrived",
        "did your team pass my parcel on",
        "",
        "?!",
    ],
)
def test_talk_of_persons_is_no_wish(text):
    assert not wants_person(text)


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("Where is my order 1042?", "en"),
        ("I want my money back", "en"),
        ("Wo ist meine Bestellung und wann kommt sie?", "de"),
        ("où est ma commande et quand est-ce que je la reçois", "fr"),
        ("¿Dónde está mi pedido y cuándo llega?", "es"),
        ("dov'è il mio ordine e quando arriva", "it"),
        ("waar is mijn bestelling en wanneer komt het", "nl"),
        ("私の注文はどこですか", "ja"),
        ("1042", "en"),
        ("la lamp", "en"),
    ],
)
def test_language_is_guessed_with_english_in_doubt(text, language):
    assert guess_language(text) == language
