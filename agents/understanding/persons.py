"""Whether somebody plainly asks for a person. Code alone: no model stands before this wish.

It looks for a verb of contact near a word for a person, in the languages that customers write
most, and forgives a misspelt letter. Asking whether one talks to a person is not the wish.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

_WORD = re.compile(r"[^\W\d_]+(?:'[^\W\d_]+)?")
_SENTENCE = re.compile(r"[.!?\n;]+")


@dataclass(frozen=True, slots=True)
class _Tongue:
    """How one language asks: words for a person, words of contact, words of mere wanting.

    A word in `vague` (someone) counts only with a word of contact.
    """

    persons: frozenset[str]
    contact: frozenset[str]
    wanting: frozenset[str]
    vague: frozenset[str] = frozenset()


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


_TONGUES = (
    _Tongue(
        _set(
            "human humans person representative representatives operator agent agents supervisor "
            "colleague employee advisor adviser rep manager"
        ),
        _set(
            "talk talking speak speaking chat chatting connect transfer through contact reach "
            "phone call escalate pass hand"
        ),
        _set("want need give get prefer like"),
        _set("someone somebody anyone anybody people staff team support service"),
    ),
    _Tongue(
        _set("mensch menschen mitarbeiter mitarbeiterin kundenberater kollegen kollege"),
        _set("sprechen reden telefonieren verbinden verbinde verbinden weiterleiten chatten"),
        _set("will möchte moechte mochte brauche hätte hatte gib geben"),
        _set("jemand jemanden jemandem person kundenservice kundendienst"),
    ),
    _Tongue(
        _set("humain humaine conseiller conseillère conseillere"),
        _set("parler discuter joindre contacter passez transférez transferez mettre"),
        _set("veux voudrais besoin souhaite préfère prefere"),
        _set("personne quelqu'un agent service"),
    ),
    _Tongue(
        _set("humano humana persona agente representante asesor operador"),
        _set("hablar comunicar contactar pasar páseme paseme atienda transferir chatear"),
        _set("quiero necesito quisiera prefiero"),
        _set("alguien atención atencion soporte"),
    ),
    _Tongue(
        _set("humano humana pessoa atendente agente operador representante"),
        _set("falar conversar contatar contactar transferir ligar"),
        _set("quero preciso gostaria prefiro"),
        _set("alguém alguem atendimento suporte"),
    ),
    _Tongue(
        _set("umano umana persona operatore operatrice"),
        _set("parlare contattare trasferire passare chattare"),
        _set("voglio vorrei bisogno preferisco"),
        _set("qualcuno assistenza"),
    ),
    _Tongue(
        _set("mens medewerker persoon collega"),
        _set("spreken praten bellen doorverbinden verbind contact"),
        _set("wil wou graag nodig"),
        _set("iemand klantenservice"),
    ),
)
_OTHER_SCRIPTS = re.compile(
    "人間と|担当者|オペレーター|人と話|真人|人工客服|转人工|轉人工|człowiekiem|konsultantem|människa"
    "|müşteri temsilcisi|оператор|живым человеком"
)
_ASKS_WHAT_IT_IS = re.compile(
    r"\b(?:are you|is (?:this|it|that)|am i|do i (?:chat|talk|speak)|who am i)\b"
    r"(?!.*\b(?:allowed|able)\b)"
)
_REFUSES_A_PERSON = re.compile(
    r"\b(?:don't|do not|dont|never|no need|not (?:want|need)|needn't|without)\b[^.!?]{0,25}?"
    r"\b(?:talk|speak|chat|need|want|for|to|call|human|person|agent)\b"
)
_REFUSES_A_MACHINE = re.compile(
    r"\b(?:no|not|stop|hate|don't|without|tired of|enough of|sick of)\b[^.!?]{0,40}"
    r"\b(?:bots?|robots?|machines?|chatbots?|ai|computer)\b"
)
_BACK = re.compile(r"\b(?:call|ring|phone)\s+me\b|\bcall\s?back\b")
_PAST = re.compile(
    r"\b(?:spoke|talked|told|said|called me|promised|wrote|was|did|didn't|didnt|nobody|never)\b"
)
_NOT_NEEDED = re.compile(
    r"\b(?:do|must|should|will) i (?:have|need) to\b|\bhow (?:do|can|would) you\b"
)
_FILLERS = _set(
    "a an the to with my your please now real live actual some any human person support customer "
    "agent operator pls plz just only give me want i need get yes no ok hello hi service chat "
    "representative rep proper another one manager ein einen echten bitte un une vrai por favor"
)
_REACH = 7  # words between the verb and the person


def wants_person(text: str) -> bool:
    """Tell whether the text plainly asks for a person instead of the assistant."""
    folded = _fold(text)
    if _OTHER_SCRIPTS.search(folded):
        return True
    return any(
        _sentence_wants(sentence) for sentence in _SENTENCE.split(folded) if sentence.strip()
    )


def _sentence_wants(sentence: str) -> bool:
    words = _WORD.findall(sentence)
    if not words:
        return False
    person_named = any(_is_person(word) for word in words)
    if _REFUSES_A_MACHINE.search(sentence) and (person_named or len(words) <= 9):
        return not _ASKS_WHAT_IT_IS.search(sentence)
    if _ASKS_WHAT_IT_IS.search(sentence) or _NOT_NEEDED.search(sentence):
        return False
    if _REFUSES_A_PERSON.search(sentence) and person_named:
        return False
    if _BACK.search(sentence) and not _PAST.search(sentence):
        return True
    if person_named and len(words) <= 4 and all(_is_filler(word) for word in words):
        return True
    return any(_asks_in(tongue, words) for tongue in _TONGUES) and not _PAST.search(sentence)


def _is_filler(word: str) -> bool:
    return word in _FILLERS or _is_person(word)


def _is_person(word: str) -> bool:
    return any(_close(word, tongue.persons) for tongue in _TONGUES)


def _asks_in(tongue: _Tongue, words: Sequence[str]) -> bool:
    anybody = tongue.persons | tongue.vague
    for index, word in enumerate(words):
        after = words[index + 1 : index + _REACH]
        if _close(word, tongue.contact) and not (word in _NEED_ME and after[:1] not in _ME):
            # German and Dutch put the verb last, and "is there anyone I can talk to" does too.
            if any(_close(near, anybody) for near in (*words[max(0, index - 4) : index], *after)):
                return True
        elif word in tongue.wanting and _wants_directly(tongue, after):
            return True
    return False


# "pass me to …" is contact, "pass my parcel on" is not.
_NEED_ME = _set("pass hand connect transfer")
_ME = (["me"], ["us"], ["this"], ["it"])
_ARTICLES = _set(
    "a an the some any to with me my your real live actual proper human another someone from "
    "ein eine einen echten echte richtigen un une vrai vraie una uno um uma real een echte de"
)


# What may follow the person in "I want a person to …"; a noun may not ("a two person tent").
_FOLLOWERS = _set(
    "please now to who from here instead on and or not for thanks asap at in with that being real "
    "i im because so but bitte sprechen svp réel de por favor vivo spreken agent agents humano "
    "representative operator person"
)


def _wants_directly(tongue: _Tongue, after: Sequence[str]) -> bool:
    """Tell whether nothing but articles and the like stands between the wish and the person."""
    for index, word in enumerate(after):
        following = after[index + 1 : index + 2]
        if _close(word, tongue.persons):
            return not following or following[0] in _FOLLOWERS
        if word in tongue.vague and following == ["real"]:
            return True
        if word not in _ARTICLES:
            return False
    return False


def _fold(text: str) -> str:
    plain = unicodedata.normalize("NFC", text).casefold().replace("’", "'").replace("0", "o")
    return re.sub(r"(.)\1{2,}", r"\1\1", plain)


def _close(word: str, known: frozenset[str]) -> bool:
    """Tell whether a word is in a set, give or take one slip in words of five letters or more."""
    if word in known:
        return True
    if len(word) < 5:
        return False
    return any(
        len(target) >= 5
        and abs(len(word) - len(target)) <= 1
        and word[0] == target[0]
        and _one_slip(word, target)
        for target in known
    )


def _one_slip(left: str, right: str) -> bool:
    """Tell whether one letter was added, left out, changed or swapped with its neighbour."""
    if len(left) > len(right):
        left, right = right, left
    for index, (one, other) in enumerate(zip(left, right, strict=False)):
        if one == other:
            continue
        if len(left) == len(right):
            swapped = left[index : index + 2] == right[index : index + 2][::-1]
            rest = 2 if swapped else 1
            return left[index + rest :] == right[index + rest :]
        return left[index:] == right[index + 1 :]
    return True
