"""What was bought, sent and paid."""

from __future__ import annotations

from typing import Any, Self

from django.db import models
from django.db.models import F, Q

from dsupport.contract.principal import Principal
from orders.models.customers import Customer, PaymentMethod
from orders.models.products import Variant
from orders.models.scoping import (
    CURRENCY_CODE,
    Address,
    OwnedQuerySet,
    TenantQuerySet,
    choices,
    is_known,
    may_see,
)
from orders.rules import STATUS_TEXT, OrderStatus, ParcelStatus, PaymentKind, PaymentStatus


class OrderQuerySet(TenantQuerySet):
    def for_principal(self, principal: Principal) -> Self:
        """Return the asker's own orders, or those that a guest has proved; else none."""
        return self.filter(may_see(principal))

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
            is_known("status", OrderStatus, "order_status_is_known"),
            models.CheckConstraint(condition=Q(total_minor__gte=0), name="total_not_negative"),
            models.CheckConstraint(
                condition=Q(currency__regex=CURRENCY_CODE), name="order_currency_is_a_code"
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
    status = models.CharField(max_length=20, choices=choices(ParcelStatus))
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
            is_known("status", ParcelStatus, "shipment_status_is_known"),
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
        return self.filter(may_see(principal, "shipment__order__"))


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
    kind = models.CharField(max_length=10, choices=choices(PaymentKind))
    method = models.ForeignKey(
        PaymentMethod, on_delete=models.SET_NULL, null=True, blank=True, related_name="+"
    )
    description = models.CharField(max_length=100, blank=True, help_text="Such as Visa ending 4242")
    amount_minor = models.BigIntegerField()
    currency = models.CharField(max_length=3)
    status = models.CharField(max_length=10, choices=choices(PaymentStatus))
    at = models.DateTimeField(null=True, blank=True)

    objects: Any = OwnedQuerySet.as_manager()

    class Meta:
        ordering = ["order_id", "pk"]
        constraints = [
            models.UniqueConstraint(fields=["order", "reference"], name="payment_once_in_an_order"),
            is_known("kind", PaymentKind, "payment_kind_is_known"),
            is_known("status", PaymentStatus, "payment_status_is_known"),
            models.CheckConstraint(condition=Q(amount_minor__gte=0), name="payment_not_negative"),
            models.CheckConstraint(
                condition=Q(currency__regex=CURRENCY_CODE), name="payment_currency_is_a_code"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.amount_minor} {self.currency}"
