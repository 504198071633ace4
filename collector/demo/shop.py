"""Keep the invented shop's books: customers, orders, stock, shipments, refunds and vouchers."""

from __future__ import annotations

import random
from collections.abc import Container
from datetime import date, timedelta
from typing import Literal

import msgspec

from collector.demo.catalogue import (
    CARRIERS,
    CITIES,
    FIRST_NAMES,
    GOODS,
    LAST_NAMES,
    MAIL_HOSTS,
    STREETS,
)
from collector.model import JsonValue

OrderStatus = Literal["processing", "packed", "shipped", "delivered", "cancelled"]

SHIPPING_CENTS = 495
REFUND_DAYS = 30
"""Days after delivery in which goods are taken back."""


class Customer(msgspec.Struct, frozen=True, kw_only=True):
    """Somebody who has bought something."""

    id: str
    name: str
    email: str


class Line(msgspec.Struct, frozen=True, kw_only=True):
    """One article of an order."""

    sku: str
    name: str
    quantity: int
    price: int
    """Cents for one piece."""

    @property
    def paid(self) -> int:
        """Return what all pieces cost, in cents."""
        return self.price * self.quantity


class Order(msgspec.Struct, kw_only=True):
    """An order, as it stands now."""

    id: str
    customer_id: str
    lines: tuple[Line, ...]
    placed: date
    status: OrderStatus
    street: str
    city: str
    postcode: str
    card: str
    """Last four digits of the card it was paid with."""
    carrier: str = ""
    tracking: str = ""
    due: date | None = None
    """Day on which the carrier means to deliver, or has."""
    refunded: int = 0
    """Cents paid back so far."""
    voucher: str = ""

    @property
    def total(self) -> int:
        """Return what was paid, shipping included, in cents."""
        return sum(line.paid for line in self.lines) + SHIPPING_CENTS


class Voucher(msgspec.Struct, kw_only=True):
    """A voucher for one order."""

    code: str
    value: int
    """Cents."""
    expires: date
    used: bool = False


class Shop:
    """The books; every tool of the agent reads or changes them and nothing else."""

    def __init__(self) -> None:
        self.customers: dict[str, Customer] = {}
        self.orders: dict[str, Order] = {}
        self.vouchers: dict[str, Voucher] = {}
        self.stock = {sku: 40 for sku, _, _ in GOODS}
        self.labels: dict[str, str] = {}
        """Return label by order."""
        self.complaints: list[tuple[str, str]] = []
        self.watchers: list[tuple[str, str]] = []
        """SKU and e-mail address of who wants to hear when it is back."""
        self.invoices: list[tuple[str, str]] = []
        """Order and address to which a copy was sent."""

    def admit(self, rng: random.Random) -> Customer:
        """Take a new customer in."""
        first, last = rng.choice(FIRST_NAMES), rng.choice(LAST_NAMES)
        number = rng.randrange(10, 100)
        customer = Customer(
            id=f"C-{_unused(rng, 100_000, 'C-', self.customers)}",
            name=f"{first} {last}",
            email=f"{first}.{last}{number}@{rng.choice(MAIL_HOSTS)}".lower(),
        )
        self.customers[customer.id] = customer
        return customer

    def order(
        self, customer: Customer, status: OrderStatus, rng: random.Random, *, today: date, age: int
    ) -> Order:
        """Enter an order; ``age`` is how many days ago it was delivered, or else placed."""
        lines = tuple(
            Line(sku=sku, name=name, quantity=1 + (rng.random() < 0.15), price=price)
            for sku, name, price in rng.sample(GOODS, rng.choice((1, 1, 1, 2, 2, 3)))
        )
        street, city, postcode = address(rng)
        order = Order(
            id=f"PW-{_unused(rng, 10_000, 'PW-', self.orders)}",
            customer_id=customer.id,
            lines=lines,
            placed=today - timedelta(days=age),
            status=status,
            street=street,
            city=city,
            postcode=postcode,
            card=f"{rng.randrange(1000, 10_000)}",
        )
        for line in lines:
            self.take(line.sku, line.quantity)
        if status in ("shipped", "delivered"):
            order.carrier = rng.choice(CARRIERS)
            order.tracking = f"{order.carrier[:2].upper()}{rng.randrange(10**7, 10**8)}X"
            order.placed -= timedelta(days=4)
            sent = status == "shipped"
            order.due = (
                today + timedelta(days=rng.randrange(1, 5)) if sent else today - timedelta(days=age)
            )
        self.orders[order.id] = order
        return order

    def take(self, sku: str, quantity: int) -> None:
        """Take goods from the shelf; an empty one is filled again most of the time."""
        left = self.stock[sku] - quantity
        # Every fifth article waits for its delivery a while, so that some are out of stock.
        self.stock[sku] = left if left >= 0 else (0 if hash_of(sku) % 5 == 0 else 40)

    def search(self, query: str) -> list[JsonValue]:
        """Find the articles whose names hold every word of a query."""
        words = query.lower().split()
        return [
            {"sku": sku, "name": name, "price": money(price), "in_stock": self.stock[sku]}
            for sku, name, price in GOODS
            if all(word in name.lower() for word in words)
        ]

    def voucher(self, rng: random.Random, *, today: date, expired: bool) -> Voucher:
        """Hand a voucher out."""
        days = -rng.randrange(2, 40) if expired else rng.randrange(20, 200)
        voucher = Voucher(
            code=f"TRAIL{_unused(rng, 1_000, 'TRAIL', self.vouchers)}",
            value=rng.choice((500, 1000, 1500, 2000)),
            expires=today + timedelta(days=days),
        )
        self.vouchers[voucher.code] = voucher
        return voucher


def address(rng: random.Random) -> tuple[str, str, str]:
    """Invent a street with its number, a city and a postcode."""
    letters = "".join(rng.choices("ABCDEFGHKLMNPRSTWXYZ", k=2))
    postcode = f"{letters}{rng.randrange(10, 100)} {rng.randrange(1, 10)}{rng.choice('ABDEFGHJ')}K"
    return f"{rng.randrange(2, 190)} {rng.choice(STREETS)}", rng.choice(CITIES), postcode


def hash_of(text: str) -> int:
    """Return a small number that stays the same from run to run."""
    return sum(text.encode())


def money(cents: int) -> float:
    """Return an amount as the tools' results write it."""
    return cents / 100


def _unused(rng: random.Random, low: int, prefix: str, taken: Container[str]) -> int:
    """Draw a number of the length of ``low`` that nothing has yet; longer ones when they run out."""
    while True:
        for _ in range(100):
            number = rng.randrange(low, low * 10)
            if f"{prefix}{number}" not in taken:
                return number
        low *= 10
