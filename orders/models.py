"""What the shop knows: its catalogue, its customers and their orders.

Customer data is read through `for_principal` alone. `for_tenant` is for code that works for the
shop and not for a person who asks: importers, the demo shop, the establishing of an identity.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Any, Self

from django.db import models
from django.db.models import F, Q, Value
from django.db.models.functions import Lower

from dsupport.contract.principal import Principal
from orders.rules import (
    STATUS_TEXT,
    MethodKind,
    OrderStatus,
    ParcelStatus,
    PaymentKind,
    PaymentStatus,
)

_CURRENCY = r"^[A-Z]{3}$"


def _choices(enum: type[StrEnum]) -> list[tuple[str, str]]:
    return [(member.value, member.value.replace("_", " ").capitalize()) for member in enum]


def _is_known(field: str, enum: type[StrEnum], name: str) -> models.CheckConstraint:
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
        return self.filter(_may_see(principal, "order__"))


def _may_see(principal: Principal, path: str = "") -> Q:
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
                condition=Q(currency__regex=_CURRENCY), name="customer_currency_is_a_code"
            ),
        ]

    def __str__(self) -> str:
        return self.name or self.external_id

    @property
    def name(self) -> str:
        return f"{self.first_name} {self.last_name}".strip()


class Product(models.Model):
    tenant = models.ForeignKey("dsupport.Tenant", on_delete=models.CASCADE, related_name="+")
    external_id = models.CharField(max_length=100, help_text="The shop's own id")
    name = models.CharField(max_length=200)
    category = models.CharField(max_length=100, blank=True)
    description = models.TextField(blank=True)

    objects: Any = TenantQuerySet.as_manager()

    class Meta:
        ordering = ["name", "pk"]
        constraints = [
            models.UniqueConstraint(fields=["tenant", "external_id"], name="product_id_in_shop"),
            models.CheckConstraint(condition=~Q(external_id=""), name="product_has_an_id"),
        ]

    def __str__(self) -> str:
        return self.name


class Variant(models.Model):
    """One orderable form of a product, such as its red one in size M."""

    tenant = models.ForeignKey("dsupport.Tenant", on_delete=models.CASCADE, related_name="+")
    product = models.ForeignKey(Product, on_delete=models.CASCADE, related_name="variants")
    sku = models.CharField(max_length=100)
    options = models.JSONField(default=dict, blank=True)
    available = models.BooleanField(default=True)

    objects: Any = TenantQuerySet.as_manager()

    class Meta:
        ordering = ["pk"]
        constraints = [
            models.UniqueConstraint(fields=["tenant", "sku"], name="sku_in_shop"),
            models.CheckConstraint(condition=~Q(sku=""), name="variant_has_a_sku"),
        ]

    def __str__(self) -> str:
        return self.sku


class VariantPriceQuerySet(models.QuerySet[Any]):
    def for_tenant(self, tenant_id: int) -> Self:
        return self.filter(variant__tenant_id=tenant_id)


class VariantPrice(models.Model):
    """What a variant costs in one currency, in minor units."""

    variant = models.ForeignKey(Variant, on_delete=models.CASCADE, related_name="prices")
    currency = models.CharField(max_length=3)
    amount_minor = models.BigIntegerField()

    objects: Any = VariantPriceQuerySet.as_manager()

    class Meta:
        ordering = ["currency"]
        constraints = [
            models.UniqueConstraint(fields=["variant", "currency"], name="one_price_per_currency"),
            models.CheckConstraint(condition=Q(amount_minor__gte=0), name="price_not_negative"),
            models.CheckConstraint(
                condition=Q(currency__regex=_CURRENCY), name="price_currency_is_a_code"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.amount_minor} {self.currency}"


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
    kind = models.CharField(max_length=10, choices=_choices(MethodKind))
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
            _is_known("kind", MethodKind, "method_kind_is_known"),
            models.CheckConstraint(
                condition=Q(kind="gift_card", balance_minor__gte=0)
                | (~Q(kind="gift_card") & Q(balance_minor=None)),
                name="gift_cards_alone_hold_money",
            ),
            models.CheckConstraint(
                condition=Q(last_four="") | Q(last_four__regex=r"^[0-9]{4}$"),
                name="last_four_are_four_digits",
            ),
            models.CheckConstraint(
                condition=Q(currency__regex=_CURRENCY), name="method_currency_is_a_code"
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


class OrderQuerySet(TenantQuerySet):
    def for_principal(self, principal: Principal) -> Self:
        """Return the asker's own orders, or those that a guest has proved; else none."""
        return self.filter(_may_see(principal))

    def to_prove(self, tenant_id: int, number_key: str) -> Self:
        """Return the one order that a guest names, to compare its e-mail and nothing more."""
        return self.for_tenant(tenant_id).filter(number_key=number_key).only("pk", "email")


class Order(Address):
    tenant = models.ForeignKey("dsupport.Tenant", on_delete=models.CASCADE, related_name="+")
    number = models.CharField(max_length=50)
    # `rules.order_key(number)`: what any spelling of the number is looked up by.
    number_key = models.CharField(max_length=50, editable=False)
    customer = models.ForeignKey(
        Customer, on_delete=models.RESTRICT, null=True, blank=True, related_name="orders"
    )
    email = models.EmailField(help_text="The address it was placed with")
    status = models.CharField(
        max_length=20, choices=[(status.value, text) for status, text in STATUS_TEXT.items()]
    )
    placed_at = models.DateTimeField(null=True, blank=True)
    currency = models.CharField(max_length=3)
    total_minor = models.BigIntegerField()
    metadata = models.JSONField(default=dict, blank=True, help_text="Kept from the shop's system")

    objects: Any = OrderQuerySet.as_manager()

    class Meta:
        ordering = ["pk"]
        indexes = [models.Index(fields=["tenant", "customer"], name="orders_of_a_customer")]
        constraints = [
            models.UniqueConstraint(fields=["tenant", "number"], name="order_number_in_shop"),
            models.UniqueConstraint(fields=["tenant", "number_key"], name="order_key_in_shop"),
            models.CheckConstraint(
                condition=Q(number_key__regex=r"^[^#\s-]+$"), name="order_key_is_normalised"
            ),
            _is_known("status", OrderStatus, "order_status_is_known"),
            models.CheckConstraint(condition=Q(total_minor__gte=0), name="total_not_negative"),
            models.CheckConstraint(
                condition=Q(currency__regex=_CURRENCY), name="order_currency_is_a_code"
            ),
        ]

    def __str__(self) -> str:
        return self.number


class OrderItem(models.Model):
    """A line of an order, as it was bought; the price is for one piece."""

    order = models.ForeignKey(Order, on_delete=models.CASCADE, related_name="items")
    position = models.PositiveSmallIntegerField()
    variant = models.ForeignKey(
        Variant, on_delete=models.SET_NULL, null=True, blank=True, related_name="+"
    )
    sku = models.CharField(max_length=100, blank=True)
    name = models.CharField(max_length=200)
    options = models.JSONField(default=dict, blank=True)
    quantity = models.PositiveIntegerField(default=1)
    price_minor = models.BigIntegerField()

    objects: Any = OwnedQuerySet.as_manager()

    class Meta:
        ordering = ["order_id", "position"]
        constraints = [
            models.UniqueConstraint(fields=["order", "position"], name="item_position_in_order"),
            models.CheckConstraint(condition=Q(quantity__gte=1), name="quantity_at_least_one"),
            models.CheckConstraint(condition=Q(price_minor__gte=0), name="item_price_not_negative"),
        ]

    def __str__(self) -> str:
        return f"{self.quantity} × {self.name}"


class Shipment(models.Model):
    """One parcel of an order."""

    order = models.ForeignKey(Order, on_delete=models.CASCADE, related_name="shipments")
    position = models.PositiveSmallIntegerField(default=0)
    carrier = models.CharField(max_length=60, blank=True)
    tracking_number = models.CharField(max_length=60, blank=True)
    status = models.CharField(max_length=20, choices=_choices(ParcelStatus))
    shipped_at = models.DateTimeField(null=True, blank=True)
    promised_on = models.DateField(null=True, blank=True, help_text="On the shop's calendar")
    delivered_at = models.DateTimeField(null=True, blank=True)
    items: Any = models.ManyToManyField(OrderItem, through="ShipmentItem", related_name="+")

    objects: Any = OwnedQuerySet.as_manager()

    class Meta:
        ordering = ["order_id", "position"]
        constraints = [
            models.UniqueConstraint(
                fields=["order", "position"], name="shipment_position_in_order"
            ),
            _is_known("status", ParcelStatus, "shipment_status_is_known"),
            models.CheckConstraint(
                condition=Q(delivered_at=None) | Q(status__in=["delivered", "returned"]),
                name="only_what_arrived_has_a_moment",
            ),
            models.CheckConstraint(
                condition=Q(delivered_at=None)
                | Q(shipped_at=None)
                | Q(delivered_at__gte=F("shipped_at")),
                name="arrives_after_leaving",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.carrier} {self.tracking_number}".strip() or f"parcel {self.position}"


class ShipmentItemQuerySet(models.QuerySet[Any]):
    def for_tenant(self, tenant_id: int) -> Self:
        return self.filter(shipment__order__tenant_id=tenant_id)

    def for_principal(self, principal: Principal) -> Self:
        """Return what travels in the parcels that this asker may see."""
        return self.filter(_may_see(principal, "shipment__order__"))


class ShipmentItem(models.Model):
    """How many pieces of a line travel in a parcel."""

    shipment = models.ForeignKey(Shipment, on_delete=models.CASCADE, related_name="contents")
    item = models.ForeignKey(OrderItem, on_delete=models.CASCADE, related_name="+")
    quantity = models.PositiveIntegerField(default=1)

    objects: Any = ShipmentItemQuerySet.as_manager()

    class Meta:
        ordering = ["pk"]
        constraints = [
            models.UniqueConstraint(fields=["shipment", "item"], name="item_once_in_a_parcel"),
            models.CheckConstraint(condition=Q(quantity__gte=1), name="parcel_holds_pieces"),
        ]

    def __str__(self) -> str:
        return f"{self.quantity} of {self.item_id}"


class Payment(models.Model):
    """Money that moved, or should have: a payment of the customer or a refund to them."""

    order = models.ForeignKey(Order, on_delete=models.CASCADE, related_name="payments")
    reference = models.CharField(max_length=100, help_text="Tells the order's payments apart")
    kind = models.CharField(max_length=10, choices=_choices(PaymentKind))
    method = models.ForeignKey(
        PaymentMethod, on_delete=models.SET_NULL, null=True, blank=True, related_name="+"
    )
    description = models.CharField(max_length=100, blank=True, help_text="Such as Visa ending 4242")
    amount_minor = models.BigIntegerField()
    currency = models.CharField(max_length=3)
    status = models.CharField(max_length=10, choices=_choices(PaymentStatus))
    at = models.DateTimeField(null=True, blank=True)

    objects: Any = OwnedQuerySet.as_manager()

    class Meta:
        ordering = ["order_id", "pk"]
        constraints = [
            models.UniqueConstraint(fields=["order", "reference"], name="payment_once_in_an_order"),
            _is_known("kind", PaymentKind, "payment_kind_is_known"),
            _is_known("status", PaymentStatus, "payment_status_is_known"),
            models.CheckConstraint(condition=Q(amount_minor__gte=0), name="payment_not_negative"),
            models.CheckConstraint(
                condition=Q(currency__regex=_CURRENCY), name="payment_currency_is_a_code"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.amount_minor} {self.currency}"


class Attempts(models.Model):
    """How many guesses did not match, per visitor, address or target, in one hour.

    `subject` is a keyed digest: no e-mail and no network address is kept.
    """

    subject = models.CharField(max_length=64)
    hour = models.DateTimeField()
    count = models.PositiveIntegerField(default=0)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["subject", "hour"], name="one_count_an_hour")
        ]
        indexes = [models.Index(fields=["hour"], name="attempts_by_age")]

    def __str__(self) -> str:
        return f"{self.count} in the hour of {self.hour}"


class UsedToken(models.Model):
    """A sign-in token that was accepted and must not be again."""

    tenant = models.ForeignKey("dsupport.Tenant", on_delete=models.CASCADE, related_name="+")
    digest = models.CharField(max_length=64)
    expires_at = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["tenant", "digest"], name="token_used_once")]
        indexes = [models.Index(fields=["expires_at"], name="used_tokens_by_age")]

    def __str__(self) -> str:
        return self.digest[:8]
