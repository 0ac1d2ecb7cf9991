"""What the shop sells: a public catalogue."""

from __future__ import annotations

from typing import Any, Self

from django.db import models
from django.db.models import Q

from orders.models.scoping import CURRENCY_CODE, TenantQuerySet


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
                condition=Q(currency__regex=CURRENCY_CODE), name="price_currency_is_a_code"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.amount_minor} {self.currency}"
