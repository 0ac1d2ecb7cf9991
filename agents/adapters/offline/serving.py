"""How each kind of wish is served: what to look up, what to say, what to pass on."""

from __future__ import annotations

from collections.abc import Callable

from agents.adapters.offline import phrases
from agents.adapters.offline.asks import Ask
from agents.adapters.offline.behaviour import Kind
from agents.adapters.offline.findings import Search
from agents.adapters.offline.handover import Need, reason_of
from agents.adapters.offline.products import tell_products
from agents.adapters.offline.serve_orders import serve_action, serve_order
from agents.adapters.offline.served import Served
from agents.adapters.offline.words import clip
from agents.adapters.offline.workbench import Workbench

_COMPLAINS = 0.35  # chance from which a complaint is taken for one without asking
_PERSON = 0.4
_PLAINLY = 0.99  # what a wish for a person has that code itself has seen
_GUESS = 0.3  # a deed that is less likely than this is not even asked about
_SOCIAL = 0.35
_WELL = 0.65  # score of a search that beats the catalogue
_CLEAR = 0.85  # score that counts although the question is unlike any that customers ask


def serve(ask: Ask, bench: Workbench) -> Served:
    """Serve one wish with what is known; what is not known yet is noted as wanted."""
    return _SERVERS[_kind_of(ask, bench)](ask, bench)


def _kind_of(ask: Ask, bench: Workbench) -> Kind:
    """Return how to serve a wish; one that is not understood well goes to the articles first."""
    kind = ask.behaviour.kind
    if ask.in_general and kind in {Kind.ORDER, Kind.ACTION} and not ask.agreed:
        return Kind.KNOWLEDGE
    if kind is Kind.SOCIAL:
        return kind if ask.in_scope or ask.p >= _SOCIAL else Kind.KNOWLEDGE
    if ask.agreed or ask.in_scope:
        return Kind.KNOWLEDGE if _is_a_guess(ask) else kind
    if kind is Kind.ORDER and ask.said_order and bench.turn.is_known:
        return kind
    return Kind.PRODUCT if kind is Kind.PRODUCT else Kind.KNOWLEDGE


def _is_a_guess(ask: Ask) -> bool:
    """Tell whether a deed or a complaint is so unlikely that looking for an answer is better."""
    if ask.agreed or ask.said_order:
        return False
    if ask.intent == "human_agent" and ask.asks and ask.p < _PLAINLY:
        return True  # "how do I contact you" is a question, and the articles know
    least = {"complaint": _COMPLAINS, "human_agent": _PERSON}.get(ask.intent, _GUESS)
    return ask.behaviour.kind in {Kind.ACTION, Kind.PERSON} and ask.p < least


# --- knowledge and products -------------------------------------------------------------------
def _serve_knowledge(ask: Ask, bench: Workbench) -> Served:
    served = Served()
    if ask.intent == "feedback" and not (ask.asks or ask.how_to):
        served.say(phrases.FEEDBACK)
        served.say(phrases.OFFER_PERSON, "offer")
        return served
    _tell_rules(served, bench.search(ask.query), ask, bench)
    return served


def _tell_rules(served: Served, search: Search | None, ask: Ask, bench: Workbench) -> None:
    quote = bench.quote(search, ask.query, ask)
    if search is None or search.failed:
        served.say(phrases.SEARCH_DOWN)
        served.say(phrases.OFFER_PERSON, "offer")
        served.sure = 0.2
    elif quote is not None and search.band == "answer" and not _is_doubtful(search, ask):
        served.cite(quote)
    elif quote is not None:
        served.cite(quote, phrases.MAY_HELP)
        served.say(phrases.OFFER_PERSON, "offer")
        served.sure = 0.5
    elif ask.intent == "other" and not ask.in_scope:
        shop = str(bench.turn.context.get("shop") or "this shop")
        served.say(phrases.DECLINE.format(shop=shop))
    else:
        about = phrases.UNKNOWN_ABOUT.format(question=clip(ask.query.rstrip(".?! "), 80))
        served.say(phrases.UNKNOWN if ask.alone else about)
        served.say(phrases.OFFER_PERSON, "offer")
        served.sure = 0.3


def _is_doubtful(search: Search, ask: Ask) -> bool:
    """Tell whether a match may be one of words only: the question is not like a customer's."""
    return not ask.in_scope and search.best < _CLEAR


def _serve_product(ask: Ask, bench: Workbench) -> Served:
    served = Served()
    search = bench.search(ask.query)
    products = bench.products(ask.query) or []
    told = tell_products(products, ask.query)
    if told and (told.sure or not _is_well_answered(search)):
        served.say(told.text, "facts")
        served.sure = 0.9 if told.sure else 0.5
    else:
        _tell_rules(served, search, ask, bench)
    return served


def _is_well_answered(search: Search | None) -> bool:
    """Tell whether an article answers better than a look at the catalogue would."""
    if search is None or search.band != "answer":
        return False
    return search.best >= _WELL


# --- people and small talk --------------------------------------------------------------------
def _serve_person(ask: Ask, bench: Workbench) -> Served:
    served = Served()
    order = ask.order if ask.said_order or ask.agreed else ""
    reason = reason_of(Kind.PERSON, ask.intent)
    wish = ask.behaviour.wish
    if ask.agreed and phrases.UNKNOWN in bench.turn.last_answer:
        reason, wish = "no_answer", phrases.WISH_ANSWER
    served.needs.append(Need(reason, wish, order))
    return served


def _serve_social(ask: Ask, bench: Workbench) -> Served:
    served = Served()
    turn = bench.turn
    if ask.intent == "bot_identity":
        served.say(phrases.IDENTITY.format(shop=turn.context.get("shop") or "this shop"))
    elif ask.intent == "thanks_bye":
        served.say(phrases.THANKS)
    elif ask.intent == "yes_no":
        served.say(phrases.NO if ask.query.casefold().startswith("n") else phrases.YES)
    else:
        first = str(turn.context.get("asker_name") or "").split(" ")[0]
        served.say(phrases.GREETING.format(name=f" {first}" if first else ""))
    return served


_SERVERS: dict[Kind, Callable[[Ask, Workbench], Served]] = {
    Kind.KNOWLEDGE: _serve_knowledge,
    Kind.PRODUCT: _serve_product,
    Kind.ORDER: serve_order,
    Kind.ACTION: serve_action,
    Kind.PERSON: _serve_person,
    Kind.SOCIAL: _serve_social,
}
