"""Test that the tools really read and change the shop's books."""

from __future__ import annotations

import random
from datetime import date, timedelta
from typing import Any

import msgspec
import pytest

from collector.demo.shop import Order, OrderStatus, Shop
from collector.demo.tool_list import TOOLS
from collector.demo.toolbox import FAULTS, Answer, Arguments, Toolbox

TODAY = date(2026, 11, 30)


class Bench:
    """A shop with one customer and one order, and tools that never fail by themselves."""

    def __init__(self, status: OrderStatus = "processing", *, age: int = 2) -> None:
        rng = random.Random(5)  # noqa: S311 - repeatable, not secret
        self.shop = Shop()
        self.customer = self.shop.admit(rng)
        self.order: Order = self.shop.order(self.customer, status, rng, today=TODAY, age=age)
        self.voucher = self.shop.voucher(rng, today=TODAY, expired=True)
        self._tools = Toolbox(self.shop, trouble=0.0)
        self._rng = rng

    def call(self, name: str, fault: str = "", **arguments: Any) -> Answer:
        """Call a tool."""
        return self._tools.call(name, arguments, today=TODAY, rng=self._rng, fault=fault)

    def found(self, name: str, **arguments: Any) -> dict[str, Any]:
        """Call a tool that must work, and return its result."""
        answer = self.call(name, **arguments)
        assert not answer.error, answer.text
        result: dict[str, Any] = msgspec.json.decode(answer.text)
        return result


def test_looks_things_up() -> None:
    """A customer is found by address, the order under the customer, the parcel by its number."""
    bench = Bench("shipped")
    found = bench.found("find_customer", email=bench.customer.email.upper())
    (listed,) = bench.found("list_orders", customer_id=found["customer_id"])["orders"]
    order = bench.found("find_order", order_id=listed["order_id"])
    parcel = bench.found("track_shipment", tracking=order["tracking"])
    assert parcel["state"] == "in_transit"
    assert parcel["expected"] > TODAY.isoformat()


def test_stock_follows_sales() -> None:
    """What was sold is no longer there."""
    bench = Bench()
    line = bench.order.lines[0]
    (article,) = bench.found("check_stock", query=line.name)["articles"]
    assert article["in_stock"] == 40 - line.quantity
    bench.found("order_replacement", order_id=bench.order.id, sku=line.sku)
    (article,) = bench.found("check_stock", query=line.name)["articles"]
    assert article["in_stock"] == 39 - line.quantity


def test_cancels_what_is_still_here() -> None:
    """An order that was not shipped is cancelled and its goods go back; a shipped one is not."""
    bench = Bench()
    bench.found("cancel_order", order_id=bench.order.id, reason="other")
    assert bench.order.status == "cancelled"
    assert bench.shop.stock[bench.order.lines[0].sku] == 40

    gone = Bench("shipped")
    assert gone.call("cancel_order", order_id=gone.order.id, reason="other").error == "conflict"
    assert gone.order.status == "shipped"


def test_refunds_within_what_was_paid() -> None:
    """Money is paid back up to the total of the order, and no cent more."""
    bench = Bench("delivered")
    paid = bench.order.total / 100
    refund = {"order_id": bench.order.id, "reason": "damaged"}
    assert bench.found("refund_order", amount=paid - 1, **refund)["refunded"] == paid - 1
    assert bench.call("refund_order", amount=2.0, **refund).error == "too_much"
    assert bench.order.refunded == bench.order.total - 100


def test_takes_back_for_thirty_days() -> None:
    """After that there is neither a refund nor a label."""
    late = Bench("delivered", age=31)
    order = {"order_id": late.order.id}
    refund = late.call("refund_order", amount=1.0, reason="faulty", **order)
    assert refund.error == late.call("create_return_label", **order).error == "window_closed"
    assert late.order.refunded == 0


def test_writes_down_what_it_is_told() -> None:
    """Addresses, labels, vouchers, invoices, complaints and wishes end up in the books."""
    bench = Bench("packed")
    order = {"order_id": bench.order.id}
    bench.found("change_address", street="2 Mill Lane", city="Aldmere", postcode="AB1 2CD", **order)
    bench.found("create_return_label", **order)
    bench.found("renew_voucher", code=bench.voucher.code, **order)
    bench.found("send_invoice", email="a@mailbox.example", **order)
    bench.found("log_complaint", summary="late", **order)
    bench.found("notify_when_back", sku="TNT-204", email="a@mailbox.example")
    assert bench.found("transfer_to_human", department="care", summary="x")["transferred"]
    assert (bench.order.street, bench.order.postcode) == ("2 Mill Lane", "AB1 2CD")
    assert list(bench.shop.labels) == [bench.order.id]
    assert bench.voucher.expires == TODAY + timedelta(days=90)
    assert bench.found("check_voucher", code=bench.voucher.code)["valid"]
    assert bench.shop.invoices == [(bench.order.id, "a@mailbox.example")]
    assert bench.shop.complaints == [(bench.order.id, "late")]
    assert bench.shop.watchers == [("TNT-204", "a@mailbox.example")]


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("find_customer", {"email": "nobody@mailbox.example"}),
        ("find_order", {"order_id": "PW-1"}),
        ("track_shipment", {"tracking": "XX1"}),
        ("check_voucher", {"code": "NONE"}),
        ("cancel_order", {"order_id": "PW-1", "reason": "other"}),
        ("send_invoice", {"order_id": "PW-1", "email": "a@mailbox.example"}),
    ],
)
def test_knows_what_it_does_not_know(name: str, arguments: dict[str, str]) -> None:
    """What is not in the books is an error that says so."""
    assert Bench().call(name, **arguments).error == "not_found"


@pytest.mark.parametrize("arguments", [{}, {"order_id": 7}, {"order_id": "PW-1", "x": 1}])
def test_wants_what_its_schema_says(arguments: dict[str, Any]) -> None:
    """A missing, a wrong and an unknown argument are refused."""
    assert Bench().call("find_order", **arguments).error == "invalid_request"


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_changes_nothing(fault: str) -> None:
    """A call that breaks down has done nothing."""
    bench = Bench("delivered")
    answer = bench.call(
        "refund_order", fault, order_id=bench.order.id, amount=1.0, reason="damaged"
    )
    assert answer.error == fault
    assert bench.order.refunded == 0


def test_fails_now_and_then() -> None:
    """Each kind of trouble comes up by itself, and seldom."""
    bench = Bench("delivered")
    tools = Toolbox(bench.shop)
    rng = random.Random(1)  # noqa: S311 - repeatable, not secret
    refund: Arguments = {"order_id": bench.order.id, "amount": 0.01, "reason": "damaged"}
    errors = [tools.call("refund_order", refund, today=TODAY, rng=rng).error for _ in range(1_000)]
    assert {*FAULTS, ""} == set(errors)
    assert errors.count("") > 850


def test_every_tool_is_explained() -> None:
    """Each has a description and a closed schema, and there are more than a dozen."""
    assert len(TOOLS) > 12
    for tool in TOOLS:
        assert tool.description.endswith(".")
        assert isinstance(tool.parameters, dict)
        assert tool.parameters["additionalProperties"] is False
