"""Whether a few words are an unmistakable yes to a card, an unmistakable no, or neither. Pure.

A yes is made of words of agreement alone: one that also asks, wishes, counts, names or limits
anything is no yes to exactly what the card shows. What is unclear goes to a run like any message.
"""

from __future__ import annotations

import re
import unicodedata
from enum import StrEnum

_LONGEST = 6  # words; who says more says something else as well


class Consent(StrEnum):
    YES = "yes"
    NO = "no"
    UNCLEAR = "unclear"


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# English, German, Dutch. Each of these alone says yes to a plain question.
_YES = _words(
    "yes yeah yep yup yea ya yess yas ok okay okey oki sure certainly absolutely definitely "
    "correct right confirm confirmed agreed agree exactly perfect fine affirmative "
    "ja jap jo klar klaro genau richtig bestätige bestätigt bestätigen einverstanden stimmt gerne "
    "natürlich jawel jazeker zeker akkoord klopt prima oké bevestig bevestigd bevestigen graag"
)
_PHRASES = (
    "of course", "go ahead", "do it", "do that", "please do", "all right", "sounds good",
    "sounds great", "that is right", "that is correct", "that is fine", "that is ok",
    "it is ok", "it is fine", "it is correct", "it is perfect", "that is perfect", "thats right",
    "thats correct", "thats fine", "its ok", "its okay", "its correct", "its perfect", "its fine",
    "i confirm", "i agree", "i do", "yes i do", "mach das", "mach es", "in ordnung", "passt so",
    "doe maar", "ga je gang", "dat klopt", "is goed",
)  # fmt: skip
# May stand beside a yes and change nothing.
_BESIDE = _words(
    "please pls sir madam maam great good cool nice very hmm hm oh so it this that the order "
    "request confirm i is ahead go bitte danke gut sehr super das dann alstublieft graag hoor dat "
    "het dan goed"
)
_NO = _words(
    "no nope nah never not dont don't doesnt didnt wont cant cannot cancel stop decline refuse "
    "reject wrong incorrect forget later wait hold instead but except unless if only however "
    "nein nee niet nicht kein keine keinen nie niemals stopp abbrechen falsch aber statt warte "
    "geen nooit fout maar wacht annuleer annuleren laat"
)
_PLAIN_NO = _words("no nope nah nein nee stop stopp cancel decline reject abbrechen annuleren")
_BESIDE_NO = _words(
    "no thanks thank you please sorry not now it that this i dont want do don't sir madam "
    "danke bitte nicht jetzt das lieber bedankt dank je u niet nu dat graag alstublieft"
)
_NEGATION_ONLY = ("not now", "no thanks", "no thank you", "nicht jetzt", "niet nu", "lieber nicht",
                  "liever niet", "never mind", "nevermind", "forget it", "do not", "i dont want",
                  "i do not want", "leave it", "laat maar")  # fmt: skip


def read_consent(text: str) -> Consent:
    """Return what a message says to the one card that is open."""
    if "?" in text or any(char.isdigit() for char in text):
        return Consent.UNCLEAR
    words = _tokens(text)
    if not 0 < len(words) <= _LONGEST:
        return Consent.UNCLEAR
    if " ".join(words) in _PHRASES:
        return Consent.YES
    if _is_no(words):
        return Consent.NO
    if _NO & set(words):
        return Consent.UNCLEAR
    return Consent.YES if _is_yes(words) else Consent.UNCLEAR


def _is_yes(words: list[str]) -> bool:
    rest = " ".join(words)
    said = any(phrase in f" {rest} " for phrase in (f" {p} " for p in _PHRASES))
    for phrase in sorted(_PHRASES, key=len, reverse=True):
        rest = re.sub(rf"(?<!\S){re.escape(phrase)}(?!\S)", " ", rest)
    left = rest.split()
    said = said or any(word in _YES for word in left)
    return said and all(word in _YES or word in _BESIDE for word in left)


def _is_no(words: list[str]) -> bool:
    joined = " ".join(words)
    if joined in _NEGATION_ONLY:
        return True
    starts = words[0] in _PLAIN_NO or any(joined.startswith(phrase) for phrase in _NEGATION_ONLY)
    return starts and all(word in _PLAIN_NO or word in _BESIDE_NO for word in words)


def _tokens(text: str) -> list[str]:
    plain = unicodedata.normalize("NFKC", text).casefold().replace("’", "'")
    plain = plain.replace("that's", "thats").replace("it's", "its")
    return re.findall(r"[^\W\d_]+(?:['-][^\W\d_]+)*", plain)
