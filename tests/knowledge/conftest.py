"""A small help centre on the shipped fake embedder, and the people who read it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

import pytest

from dsupport.contract.principal import Principal, Proof
from knowledge import services
from knowledge.rules.articles import ArticleSource, build_article
from knowledge.search import search
from tests.conftest import NOW, make_tenant

HASHED = "knowledge.adapters.memory.HashEmbedder"
MINILM = "knowledge.adapters.minilm.MiniLM"

RETURNS = """
You may hand almost everything over again when it does not please you.

## Return window

You can return an item within 30 days after delivery. The day of delivery does not count. Write
down the number of your return, so that we find it when the parcel reaches the warehouse.

## Condition of the item

Items must be unworn and in their own box. Tags stay on. What has been used cannot be taken back,
except when it was broken on arrival or when it fails within its warranty of two years.
"""
SHIPPING = """
## Delivery times

Parcels reach Germany in two to four working days and Japan in five to nine. Large furniture needs
two weeks, because a team of two people brings it to the room of your choice.

## Shipping costs

Standard shipping costs 4.95 and is free from 50 upwards. Express costs 12 and never becomes free.
Islands and mountain huts cost 8 more, whatever the order is worth or weighs.
"""
STAFF = """
## Goodwill gestures

The secret word of the staff handbook is ZEBRA-77. Staff may offer a voucher of ten euros when a
parcel was late twice, and never more than two such vouchers to a customer in a year.
"""


def article(doc_id: str, title: str, body: str, **fields: Any) -> ArticleSource:
    return build_article({"doc_id": doc_id, "title": title, "body": body, **fields})


ARTICLES = (
    article("returns", "Returns", RETURNS, sample_questions=["can I bring it back?"]),
    article("shipping", "Shipping", SHIPPING),
    article("goodwill", "Goodwill for staff", STAFF, audience="internal"),
)


@dataclass
class HelpCentre:
    """A shop's help centre with what a test does to it."""

    tenant: Any

    @property
    def guest(self) -> Principal:
        return Principal(tenant_id=self.tenant.pk, visitor="somebody")

    @property
    def staff(self) -> Principal:
        return Principal(tenant_id=self.tenant.pk, proof=Proof.STAFF, staff_id=7)

    def publish(self, source: ArticleSource, *, now: datetime = NOW, **fields: Any):
        return services.publish_article(
            tenant_id=self.tenant.pk,
            article=source,
            actor="editor",
            now=now,
            **{"calibrate": False, **fields},
        )

    def edit(self, source: ArticleSource, *, now: datetime = NOW):
        return services.edit_article(
            tenant_id=self.tenant.pk, article=source, actor="editor", now=now
        )

    def archive(self, doc_id: str, *, now: datetime = NOW) -> None:
        services.archive_article(tenant_id=self.tenant.pk, doc_id=doc_id, actor="editor", now=now)

    def search(self, query: str, *, principal: Principal | None = None, **fields: Any):
        return search(principal=principal or self.guest, query=query, **{"now": NOW, **fields})

    def ids(self, query: str, **fields: Any) -> list[str]:
        """Return the articles that a search ranks, those below the cut-off among them."""
        return [hit.doc_id for hit in self.search(query, **fields).ranked]


def open_centre(slug: str = "shop", articles=ARTICLES) -> HelpCentre:
    centre = HelpCentre(make_tenant(slug))
    for source in articles:
        centre.publish(source)
    return centre


@pytest.fixture(autouse=True)
def embedder(request, settings):
    """Use the fake embedder; the real one where a test asks for it or for the demo shop.

    The demo shop is seeded once for all tests, so never with the fake one.
    """
    real = not {"minilm", "demo_db"}.isdisjoint(request.fixturenames)
    settings.DSUPPORT_EMBEDDER = MINILM if real else HASHED


@pytest.fixture
def minilm(embedder) -> None:
    """Ask for the model that is really used."""


@pytest.fixture
def centre(db) -> HelpCentre:
    """Give a small help centre whose cut-off has not been measured, so the strict one holds."""
    return open_centre()


@pytest.fixture
def measured(centre) -> HelpCentre:
    services.calibrate(tenant_id=centre.tenant.pk, now=NOW)
    return centre
