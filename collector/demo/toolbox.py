"""Run the agent's tools over the shop's books: they check, read, change, and sometimes fail."""

from __future__ import annotations

import random
from collections.abc import Callable
from datetime import date, timedelta
from typing import Any, cast

import jsonschema_rs
import msgspec

from collector.demo.shop import REFUND_DAYS, Order, Shop, money
from collector.demo.tool_list import TOOLS
from collector.model import JsonValue

Arguments = dict[str, JsonValue]
WRITES = frozenset(
    (
        *("cancel_order", "refund_order", "order_replacement", "change_address"),
        *("create_return_label", "renew_voucher", "send_invoice", "log_complaint"),
    )
)
"""Tools that change an order, and so meet its lock."""
FAULTS: dict[str, tuple[str, float]] = {
    "unavailable": ("The service is unavailable (503), try again.", 0.4),
    "locked": ("The order is locked by another process.", 0.3),
    "timeout": ("The payment provider timed out.", 6.0),
}
"""What goes wrong by itself: the words, and about how many seconds it takes."""
RETRYABLE = frozenset(FAULTS)
"""Errors that a second attempt may heal."""


class Answer(msgspec.Struct, frozen=True, kw_only=True):
    """What a call came back with."""

    text: str
    """JSON."""
    error: str = ""
    """Kind of error; empty when the call did what it was asked."""
    seconds: float


class Refusal(msgspec.Struct, frozen=True):
    """Why a tool did not do it."""

    kind: str
    words: str


class Toolbox:
    """Run calls by name."""

    def __init__(self, shop: Shop, *, trouble: float = 1.0) -> None:
        """Serve a shop; ``trouble`` scales how often something fails by itself."""
        self._shop = shop
        self._trouble = trouble
        self._checks = {
            t.name: jsonschema_rs.validator_for(cast("dict[str, Any]", t.parameters)) for t in TOOLS
        }
        self._tools: dict[str, Callable[[Any, date], JsonValue | Refusal]] = {
            "find_customer": self._find_customer,
            "list_orders": self._list_orders,
            "find_order": self._find_order,
            "track_shipment": self._track_shipment,
            "check_stock": self._check_stock,
            "cancel_order": self._cancel_order,
            "refund_order": self._refund_order,
            "order_replacement": self._order_replacement,
            "change_address": self._change_address,
            "create_return_label": self._create_return_label,
            "check_voucher": self._check_voucher,
            "renew_voucher": self._renew_voucher,
            "send_invoice": self._send_invoice,
            "notify_when_back": self._notify_when_back,
            "log_complaint": self._log_complaint,
            "transfer_to_human": self._transfer_to_human,
        }

    def call(
        self, name: str, arguments: Arguments, *, today: date, rng: random.Random, fault: str = ""
    ) -> Answer:
        """Run a call; ``fault`` makes it fail in that way, else chance decides."""
        seconds = min(0.9, 0.04 + rng.lognormvariate(-1.9, 0.7))
        problem = next(self._checks[name].iter_errors(arguments), None)
        if problem is not None:
            refusal = Refusal("invalid_request", f"Invalid request: {problem.message}")
            return _refused(refusal, seconds)
        fault = fault or self._weather(name, rng)
        if fault:
            words, pause = FAULTS[fault]
            return _refused(Refusal(fault, words), pause * rng.uniform(0.7, 1.3))
        found = self._tools[name](arguments, today)
        if isinstance(found, Refusal):
            return _refused(found, seconds)
        return Answer(text=_json(found), seconds=seconds)

    def _weather(self, name: str, rng: random.Random) -> str:
        chance = rng.random() / self._trouble if self._trouble else 1.0
        if chance < 0.025:
            return "unavailable"
        if name in WRITES and chance < 0.05:
            return "locked"
        return "timeout" if name == "refund_order" and chance < 0.09 else ""

    # --- tools that look

    def _find_customer(self, asked: Any, today: date) -> JsonValue | Refusal:
        del today
        for customer in reversed(self._shop.customers.values()):
            if customer.email == asked["email"].lower():
                return {"customer_id": customer.id, "name": customer.name}
        return Refusal("not_found", "No customer was found under that address.")

    def _list_orders(self, asked: Any, today: date) -> JsonValue | Refusal:
        del today
        mine = [o for o in self._shop.orders.values() if o.customer_id == asked["customer_id"]]
        return {
            "orders": [
                {
                    "order_id": order.id,
                    "placed": order.placed.isoformat(),
                    "status": order.status,
                    "articles": [line.name for line in order.lines],
                }
                for order in sorted(mine, key=lambda order: order.placed, reverse=True)
            ]
        }

    def _find_order(self, asked: Any, today: date) -> JsonValue | Refusal:
        del today
        order = self._shop.orders.get(asked["order_id"])
        if order is None:
            return _unknown(asked["order_id"])
        shown: dict[str, JsonValue] = {
            "order_id": order.id,
            "customer_id": order.customer_id,
            "status": order.status,
            "placed": order.placed.isoformat(),
            "articles": [
                {
                    "sku": one.sku,
                    "name": one.name,
                    "quantity": one.quantity,
                    "price": money(one.price),
                    "paid": money(one.paid),
                }
                for one in order.lines
            ],
            "total": money(order.total),
            "card": order.card,
            "ship_to": {"street": order.street, "city": order.city, "postcode": order.postcode},
        }
        if order.tracking:
            shown |= {"carrier": order.carrier, "tracking": order.tracking}
        if order.status == "delivered" and order.due:
            shown["delivered"] = order.due.isoformat()
        if order.refunded:
            shown["refunded"] = money(order.refunded)
        return shown

    def _track_shipment(self, asked: Any, today: date) -> JsonValue | Refusal:
        for order in reversed(self._shop.orders.values()):
            if order.tracking == asked["tracking"] and order.due:
                here = order.status == "delivered"
                return {
                    "tracking": order.tracking,
                    "carrier": order.carrier,
                    "state": "delivered" if here else "in_transit",
                    "last_seen": order.city if here else "sorting centre",
                    "delivered" if here else "expected": order.due.isoformat(),
                    "days_on_the_way": max(1, (today - order.placed).days - 1),
                }
        return Refusal("not_found", "The carrier knows no such parcel.")

    def _check_stock(self, asked: Any, today: date) -> JsonValue | Refusal:
        del today
        return {"articles": self._shop.search(asked["query"])}

    def _check_voucher(self, asked: Any, today: date) -> JsonValue | Refusal:
        voucher = self._shop.vouchers.get(asked["code"].upper())
        if voucher is None:
            return Refusal("not_found", "No such voucher.")
        return {
            "code": voucher.code,
            "value": money(voucher.value),
            "expires": voucher.expires.isoformat(),
            "valid": not voucher.used and voucher.expires >= today,
        }

    # --- tools that act

    def _cancel_order(self, asked: Any, today: date) -> JsonValue | Refusal:
        del today
        order = self._shop.orders.get(asked["order_id"])
        if order is None:
            return _unknown(asked["order_id"])
        if order.status not in ("processing", "packed"):
            return Refusal("conflict", f"The order is {order.status} and cannot be cancelled.")
        order.status = "cancelled"
        order.refunded = order.total
        for line in order.lines:
            self._shop.stock[line.sku] += line.quantity
        return {"order_id": order.id, "status": "cancelled", "paid_back": money(order.total)}

    def _refund_order(self, asked: Any, today: date) -> JsonValue | Refusal:
        order = self._shop.orders.get(asked["order_id"])
        if order is None:
            return _unknown(asked["order_id"])
        if _window_closed(order, today):
            return Refusal(
                "window_closed",
                f"The refund window of {REFUND_DAYS} days for this order is closed.",
            )
        cents = round(asked["amount"] * 100)
        if cents > order.total - order.refunded:
            return Refusal("too_much", "The amount is larger than what was paid, refused.")
        order.refunded += cents
        return {"order_id": order.id, "refunded": money(cents), "card": order.card, "days": 5}

    def _order_replacement(self, asked: Any, today: date) -> JsonValue | Refusal:
        order = self._shop.orders.get(asked["order_id"])
        if order is None:
            return _unknown(asked["order_id"])
        if not self._shop.stock.get(asked["sku"]):
            return Refusal("out_of_stock", "The article is not available.")
        self._shop.take(asked["sku"], 1)
        leaves = today + timedelta(days=1)
        return {"order_id": order.id, "sku": asked["sku"], "ships": leaves.isoformat()}

    def _change_address(self, asked: Any, today: date) -> JsonValue | Refusal:
        del today
        order = self._shop.orders.get(asked["order_id"])
        if order is None:
            return _unknown(asked["order_id"])
        if order.status not in ("processing", "packed"):
            return Refusal("conflict", f"The order is {order.status}, it cannot be redirected.")
        order.street, order.city, order.postcode = (
            *(asked["street"], asked["city"]),
            asked["postcode"],
        )
        return {"order_id": order.id, "ship_to": f"{order.street}, {order.city}, {order.postcode}"}

    def _create_return_label(self, asked: Any, today: date) -> JsonValue | Refusal:
        order = self._shop.orders.get(asked["order_id"])
        if order is None:
            return _unknown(asked["order_id"])
        if _window_closed(order, today):
            return Refusal(
                "window_closed", f"The {REFUND_DAYS} days for a return are over; refused."
            )
        label = self._shop.labels.setdefault(order.id, f"RL-{order.id[3:]}")
        return {"order_id": order.id, "label": label, "sent_to": self._email(order)}

    def _renew_voucher(self, asked: Any, today: date) -> JsonValue | Refusal:
        voucher = self._shop.vouchers.get(asked["code"].upper())
        if voucher is None:
            return Refusal("not_found", "No such voucher.")
        if asked["order_id"] not in self._shop.orders:
            return _unknown(asked["order_id"])
        voucher.expires = today + timedelta(days=90)
        return {"code": voucher.code, "expires": voucher.expires.isoformat()}

    def _send_invoice(self, asked: Any, today: date) -> JsonValue | Refusal:
        del today
        order = self._shop.orders.get(asked["order_id"])
        if order is None:
            return _unknown(asked["order_id"])
        self._shop.invoices.append((order.id, asked["email"]))
        return {"invoice": f"INV-{order.id[3:]}", "order_id": order.id, "sent_to": asked["email"]}

    def _notify_when_back(self, asked: Any, today: date) -> JsonValue | Refusal:
        del today
        self._shop.watchers.append((asked["sku"], asked["email"]))
        return {"sku": asked["sku"], "registered": True}

    def _log_complaint(self, asked: Any, today: date) -> JsonValue | Refusal:
        del today
        self._shop.complaints.append((asked["order_id"], asked["summary"]))
        return {"complaint": f"CP-{len(self._shop.complaints):05d}", "order_id": asked["order_id"]}

    def _transfer_to_human(self, asked: Any, today: date) -> JsonValue | Refusal:
        del today
        return {"transferred": True, "department": asked["department"], "wait_minutes": 3}

    def _email(self, order: Order) -> str:
        return self._shop.customers[order.customer_id].email


def _window_closed(order: Order, today: date) -> bool:
    return order.due is not None and (today - order.due).days > REFUND_DAYS


def _unknown(order_id: str) -> Refusal:
    return Refusal("not_found", f"There is no such order: {order_id}.")


def _refused(refusal: Refusal, seconds: float) -> Answer:
    text = _json({"error": refusal.kind, "message": refusal.words})
    return Answer(text=text, error=refusal.kind, seconds=seconds)


def _json(value: Any) -> str:
    return msgspec.json.encode(value).decode()
