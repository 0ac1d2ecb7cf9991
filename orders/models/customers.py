"""Who buys, and what they pay with."""

from __future__ import annotations

from typing import Any, Self

from django.db import models
from django.db.models import F, Q, Value
from django.db.models.functions import Lower

from dsupport.contract.principal import Principal
from orders.models.scoping import CURRENCY_CODE, Address, TenantQuerySet, choices, is_known
from orders.rules import MethodKind


class CustomerQuerySet(TenantQuerySet):
    def for_principal(self, principal: Principal) -> Self:
        """Return the asker's own account; nobody who is not signed in has one."""
        if principal.customer_id is None:
            return self.none()
        return self.for_tenant(principal.tenant_id).filter(pk=principal.customer_id)

    def with_email(self, tenant_id: int, email: str) -> Self:
        """Return the account of an e-mail address in any spelling of case."""
        rows = self.for_tenant(tenant_id).alias(email_key=Lower("email"))
        return rows.filter(email_key=Lower(Value(email.strip())))


class Customer(Address):
    """A person with an account in the shop."""

    tenant = models.ForeignKey("dsupport.Tenant", on_delete=models.CASCADE, related_name="+")
    external_id = models.CharField(max_length=100, help_text="The shop's own id")
    first_name = models.CharField(max_length=100, blank=True)
    last_name = models.CharField(max_length=100, blank=True)
    email = models.EmailField()
    # A hash by Django's hashers; empty when the shop vouches for its customers by tokens.
    password = models.CharField(max_length=128, blank=True, editable=False)
    currency = models.CharField(max_length=3)
    locale = models.CharField(max_length=10, default="en")

    objects: Any = CustomerQuerySet.as_manager()

    class Meta:
        ordering = ["pk"]
        constraints = [
            models.UniqueConstraint(fields=["tenant", "external_id"], name="customer_id_in_shop"),
            models.UniqueConstraint(F("tenant"), Lower("email"), name="customer_email_in_shop"),
            models.CheckConstraint(condition=~Q(external_id=""), name="customer_has_an_id"),
            models.CheckConstraint(condition=~Q(email=""), name="customer_has_an_email"),
            models.CheckConstraint(
                condition=Q(currency__regex=CURRENCY_CODE), name="customer_currency_is_a_code"
            ),
        ]

    def __str__(self) -> str:
        return self.name or self.external_id

    @property
    def name(self) -> str:
        return f"{self.first_name} {self.last_name}".strip()


class PaymentMethodQuerySet(models.QuerySet[Any]):
    def for_tenant(self, tenant_id: int) -> Self:
        return self.filter(customer__tenant_id=tenant_id)

    def for_principal(self, principal: Principal) -> Self:
        """Return the asker's own wallet; a guest has none."""
        if principal.customer_id is None:
            return self.none()
        return self.for_tenant(principal.tenant_id).filter(customer_id=principal.customer_id)


class PaymentMethod(models.Model):
    """A card, account or gift card in a customer's profile. Never a full card number."""

    customer = models.ForeignKey(Customer, on_delete=models.CASCADE, related_name="methods")
    external_id = models.CharField(max_length=100, help_text="The shop's own id")
    kind = models.CharField(max_length=10, choices=choices(MethodKind))
    label = models.CharField(max_length=60, blank=True, help_text="Such as Visa")
    last_four = models.CharField(max_length=4, blank=True)
    balance_minor = models.BigIntegerField(null=True, blank=True)
    currency = models.CharField(max_length=3)

    objects: Any = PaymentMethodQuerySet.as_manager()

    class Meta:
        ordering = ["pk"]
        constraints = [
            models.UniqueConstraint(
                fields=["customer", "external_id"], name="method_id_of_customer"
            ),
            is_known("kind", MethodKind, "method_kind_is_known"),
            models.CheckConstraint(
                condition=Q(kind="gift_card", balance_minor__isnull=False, balance_minor__gte=0)
                | (~Q(kind="gift_card") & Q(balance_minor=None)),
                name="gift_cards_alone_hold_money",
            ),
            models.CheckConstraint(
                condition=Q(last_four="") | Q(last_four__regex=r"^[0-9]{4}$"),
                name="last_four_are_four_digits",
            ),
            models.CheckConstraint(
                condition=Q(currency__regex=CURRENCY_CODE), name="method_currency_is_a_code"
            ),
        ]

    def __str__(self) -> str:
        return self.description

    @property
    def description(self) -> str:
        """Return how the method is named to people: `Visa ending 4242`, `PayPal`, `Gift card`."""
        names = {MethodKind.PAYPAL: "PayPal", MethodKind.GIFT_CARD: "Gift card"}
        name = self.label or names.get(MethodKind(self.kind), "Card")
        return f"{name} ending {self.last_four}" if self.last_four else name
