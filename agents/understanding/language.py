"""A guess at the language of a message, from its small words and its script."""

from __future__ import annotations

import re

_WORD = re.compile(r"[^\W\d_]+")
_SMALL = {
    "en": "the is are my i you it to a an of for and in on do does can what when where how not "
    "have has was please with this that me",
    "de": "ich ist nicht und der die das ein eine mein meine wie wo wann bitte sie mir mich habe "
    "kann für mit auf zu von den dem es noch",
    "fr": "je est le la les un une mon ma mes et ne pas où quand comment vous pour avec dans sur "
    "que qui ce cette j'ai des du bonjour",
    "es": "el la los las un una mi mis y no dónde donde cuándo cómo por para con que es está esta "
    "yo tengo quiero puedo hola del",
    "pt": "o a os as um uma meu minha e não nao onde quando como por para com que é está eu tenho "
    "quero posso meus olá do da",
    "it": "il lo la gli un una mio mia e non dove quando come per con che è sono ho voglio posso "
    "del della ciao mi",
    "nl": "de het een mijn en niet waar wanneer hoe voor met dat is ik je u heb kan wil op "
    "van graag",
}
_WORDS = {language: frozenset(words.split()) for language, words in _SMALL.items()}
_SCRIPTS = (
    ("ja", re.compile("[\u3040-\u30ff]")),
    ("zh", re.compile("[\u4e00-\u9fff]")),
    ("ko", re.compile("[\uac00-\ud7af]")),
    ("ru", re.compile("[\u0400-\u04ff]")),
    ("ar", re.compile("[\u0600-\u06ff]")),
)


def guess_language(text: str) -> str:
    """Return the code of the likeliest language; English when nothing says otherwise."""
    for language, script in _SCRIPTS:
        if len(script.findall(text)) >= 2:
            return language
    words = _WORD.findall(text.casefold())
    scores = {language: sum(word in known for word in words) for language, known in _WORDS.items()}
    best = max(scores, key=lambda language: scores[language])
    # Two small words more than English has: one alone ("die", "la") may be anything.
    return best if scores[best] >= scores["en"] + 2 else "en"
