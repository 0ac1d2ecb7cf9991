"""Customers, their orders and the catalogue, to look at and never to edit."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.db.models import Prefetch, QuerySet
from django.http import HttpRequest
from django.urls import reverse
from django.utils.html import format_html
from unfold.admin import TabularInline
from unfold.decorators import display

from dsupport.lib.money import Money
from dsupport.lib.readonly_admin import ReadOnlyAdmin, pretty_json, record_link
from dsupport.models import Membership
from orders.models import (
    Customer,
    Order,
    OrderItem,
    Payment,
    PaymentMethod,
    Product,
    Shipment,
    Variant,
)

# Whoever edits help articles has no business with what customers bought.
_CASE_WORKERS = frozenset(Membership.Role.values) - {Membership.Role.EDITOR}
_ADDRESS = ("line1", "line2", "city", "region", "postcode", "country")
_STATUS_COLOURS = {
    "pending": "info",
    "items_changed": "info",
    "processed": "info",
    "shipped": "info",
    "delivered": "success",
    "cancelled": "danger",
    "return_requested": "warning",
    "exchange_requested": "warning",
}


class _ReadOnlyInline(TabularInline):
    """Rows on the page of another, with no way to change them."""

    extra = 0
    can_delete = False
    show_change_link = False
    hide_title = True

    def has_view_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return True  # the page around it has decided who may look

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


class ItemInline(_ReadOnlyInline):
    model = OrderItem
    fields = readonly_fields = ("position", "name", "sku", "chosen", "quantity", "price")

    def get_queryset(self, request: HttpRequest) -> QuerySet[OrderItem]:
        rows: QuerySet[OrderItem] = super().get_queryset(request)
        return rows.select_related("order")

    @admin.display(description="Options")
    def chosen(self, item: OrderItem) -> str:
        return _options(item.options)

    @admin.display(description="Price")
    def price(self, item: OrderItem) -> str:
        return str(Money(item.price_minor, item.order.currency))


class ShipmentInline(_ReadOnlyInline):
    model = Shipment
    fields = readonly_fields = (
        "carrier",
        "tracking_number",
        "status",
        "shipped_at",
        "promised_on",
        "delivered_at",
        "holds",
    )

    def get_queryset(self, request: HttpRequest) -> QuerySet[Shipment]:
        rows: QuerySet[Shipment] = super().get_queryset(request)
        return rows.prefetch_related("contents__item")

    @admin.display(description="Holds")
    def holds(self, shipment: Shipment) -> str:
        parts = [f"{part.quantity} × {part.item.name}" for part in shipment.contents.all()]
        return ", ".join(parts) or "–"


class PaymentInline(_ReadOnlyInline):
    model = Payment
    fields = readonly_fields = ("kind", "description", "amount", "status", "at", "reference")

    @admin.display(description="Amount")
    def amount(self, payment: Payment) -> str:
        return str(Money(payment.amount_minor, payment.currency))


class MethodInline(_ReadOnlyInline):
    model = PaymentMethod
    fields = readonly_fields = ("kind", "description", "balance", "external_id")

    @admin.display(description="Balance")
    def balance(self, method: PaymentMethod) -> str:
        if method.balance_minor is None:
            return "–"
        return str(Money(method.balance_minor, method.currency))


class CustomerOrderInline(_ReadOnlyInline):
    model = Order
    verbose_name_plural = "orders"
    fields = readonly_fields = ("link", "status", "placed_at", "total")

    @admin.display(description="Number")
    def link(self, order: Order) -> str:
        return record_link("orders_order", order.pk, order.number)

    @admin.display(description="Total")
    def total(self, order: Order) -> str:
        return str(Money(order.total_minor, order.currency))


class VariantInline(_ReadOnlyInline):
    model = Variant
    fields = readonly_fields = ("sku", "chosen", "costs", "available")

    def get_queryset(self, request: HttpRequest) -> QuerySet[Variant]:
        rows: QuerySet[Variant] = super().get_queryset(request)
        return rows.prefetch_related("prices")

    @admin.display(description="Options")
    def chosen(self, variant: Variant) -> str:
        return _options(variant.options)

    @admin.display(description="Price")
    def costs(self, variant: Variant) -> str:
        prices = [str(Money(p.amount_minor, p.currency)) for p in variant.prices.all()]
        return " · ".join(prices) or "–"


@admin.register(Order)
class OrderAdmin(ReadOnlyAdmin):
    view_roles = _CASE_WORKERS
    list_display = ("number", "state", "owner", "placed_at", "total", "tenant")
    list_filter = ("status", "currency", ("tenant", admin.RelatedOnlyFieldListFilter))
    list_select_related = ("tenant", "customer")
    search_fields = ("number", "email", "customer__last_name", "shipments__tracking_number")
    search_help_text = "Order number, e-mail, last name or tracking number"
    ordering = ("-pk",)
    inlines = (ItemInline, ShipmentInline, PaymentInline)
    fieldsets = (
        (None, {"fields": ("number", "status", "owner", "email", "placed_at", "total", "tenant")}),
        ("Delivery address", {"fields": _ADDRESS}),
        ("From the shop's system", {"fields": ("kept",), "classes": ("collapse",)}),
    )
    readonly_fields = ("owner", "total", "kept")

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        return super().get_queryset(request).select_related("tenant", "customer")

    @display(description="Status", label=_STATUS_COLOURS, ordering="status")
    def state(self, order: Order) -> tuple[str, str]:
        return order.status, order.get_status_display()

    @admin.display(description="Customer", ordering="customer__last_name")
    def owner(self, order: Order) -> str:
        if order.customer is None:
            return f"{order.email} (no account)"
        return record_link("orders_customer", order.customer_id, str(order.customer))

    @admin.display(description="Total", ordering="total_minor")
    def total(self, order: Order) -> str:
        return str(Money(order.total_minor, order.currency))

    @admin.display(description="Kept as it came")
    def kept(self, order: Order) -> str:
        return pretty_json(order.metadata)


@admin.register(Customer)
class CustomerAdmin(ReadOnlyAdmin):
    view_roles = _CASE_WORKERS
    list_display = ("name", "email", "external_id", "their_orders", "tenant")
    list_filter = ("currency", "country", ("tenant", admin.RelatedOnlyFieldListFilter))
    list_select_related = ("tenant",)
    search_fields = ("email", "first_name", "last_name", "external_id")
    search_help_text = "Name, e-mail or the shop's id"
    ordering = ("-pk",)
    inlines = (CustomerOrderInline, MethodInline)
    fieldsets = (
        (None, {"fields": ("first_name", "last_name", "email", "external_id", "tenant")}),
        ("Address", {"fields": _ADDRESS}),
        ("Preferences", {"fields": ("currency", "locale")}),
    )

    @admin.display(description="Name", ordering="last_name")
    def name(self, customer: Customer) -> str:
        return str(customer)

    @admin.display(description="Orders")
    def their_orders(self, customer: Customer) -> str:
        address = reverse("admin:orders_order_changelist")
        return format_html(
            '<a class="text-primary-600 underline" href="{}?customer__id__exact={}">Orders</a>',
            address,
            customer.pk,
        )


@admin.register(Product)
class ProductAdmin(ReadOnlyAdmin):
    list_display = ("name", "category", "external_id", "on_sale", "tenant")
    list_filter = ("category", ("tenant", admin.RelatedOnlyFieldListFilter))
    list_select_related = ("tenant",)
    search_fields = ("name", "external_id", "variants__sku")
    search_help_text = "Name, the shop's id or an article number"
    ordering = ("name", "pk")
    inlines = (VariantInline,)
    fields = ("name", "external_id", "category", "description", "tenant")

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        variants = Prefetch("variants", Variant.objects.only("pk", "product_id", "available"))
        return super().get_queryset(request).prefetch_related(variants)

    @admin.display(description="Variants in stock")
    def on_sale(self, product: Product) -> str:
        variants = list(product.variants.all())
        return f"{sum(variant.available for variant in variants)} of {len(variants)}"


def _options(options: dict[str, Any]) -> str:
    return ", ".join(f"{name}: {value}" for name, value in options.items()) or "–"
