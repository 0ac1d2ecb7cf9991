"""What the tables have in common: whose rows they are, and what a column may hold."""

from __future__ import annotations

from enum import StrEnum
from typing import Any, Self

from django.db import models
from django.db.models import Q

from dsupport.contract.principal import Principal

CURRENCY_CODE = r"^[A-Z]{3}$"


def choices(enum: type[StrEnum]) -> list[tuple[str, str]]:
    return [(member.value, member.value.replace("_", " ").capitalize()) for member in enum]


def is_known(field: str, enum: type[StrEnum], name: str) -> models.CheckConstraint:
    known = [member.value for member in enum]
    return models.CheckConstraint(condition=Q(**{f"{field}__in": known}), name=name)


class TenantQuerySet(models.QuerySet[Any]):
    """Rows that belong to a shop."""

    def for_tenant(self, tenant_id: int) -> Self:
        return self.filter(tenant_id=tenant_id)


class OwnedQuerySet(models.QuerySet[Any]):
    """Rows that belong to the customer of one order."""

    def for_tenant(self, tenant_id: int) -> Self:
        return self.filter(order__tenant_id=tenant_id)

    def for_principal(self, principal: Principal) -> Self:
        """Return the rows of the orders that this asker may see."""
        return self.filter(may_see(principal, "order__"))


def may_see(principal: Principal, path: str = "") -> Q:
    """Return the condition on an order: one's own, or one that a guest has proved."""
    if principal.customer_id is not None:
        return Q(**{f"{path}tenant_id": principal.tenant_id}) & Q(
            **{f"{path}customer_id": principal.customer_id}
        )
    if principal.proved_orders:
        return Q(**{f"{path}tenant_id": principal.tenant_id}) & Q(
            **{f"{path}pk__in": sorted(principal.proved_orders)}
        )
    return Q(pk__in=[])


class Address(models.Model):
    """A postal address as the shop's system writes it."""

    line1 = models.CharField(max_length=200, blank=True)
    line2 = models.CharField(max_length=200, blank=True)
    city = models.CharField(max_length=100, blank=True)
    region = models.CharField(max_length=100, blank=True)
    postcode = models.CharField(max_length=20, blank=True)
    country = models.CharField(max_length=60, blank=True)

    class Meta:
        abstract = True
