"""What the shop knows: its catalogue, its customers and their orders.

Customer data is read through `for_principal` alone. `for_tenant` is for code that works for the
shop and not for a person who asks: importers, the demo shop, the establishing of an identity.
"""

from __future__ import annotations

from orders.models.customers import Customer, PaymentMethod
from orders.models.orders import Order, OrderItem, Payment, Shipment, ShipmentItem
from orders.models.products import Product, Variant, VariantPrice
from orders.models.proofs import Attempts, UsedToken
from orders.models.simulated import SimulatedRefund

__all__ = [
    "Attempts",
    "Customer",
    "Order",
    "OrderItem",
    "Payment",
    "PaymentMethod",
    "Product",
    "Shipment",
    "ShipmentItem",
    "SimulatedRefund",
    "UsedToken",
    "Variant",
    "VariantPrice",
]
