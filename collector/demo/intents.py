"""List why customers write, how often, and what can go wrong in each case."""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from collector.demo.desk import Desk
from collector.demo.grievances import complaint, person
from collector.demo.mistakes import Mistake
from collector.demo.parcels import cancel, redirect, status
from collector.demo.questions import invoice, stock, voucher
from collector.demo.returns import label, refund
from collector.demo.shop import OrderStatus


class Intent(msgspec.Struct, frozen=True, kw_only=True):
    """One reason to write."""

    name: str
    share: float
    """Of all conversations; the shares sum to 1."""
    play: Callable[[Desk], None]
    stands: tuple[tuple[OrderStatus, float], ...]
    """How the customer's order stands, with weights."""
    ages: tuple[int, int]
    """Days since delivery or purchase, from and up to."""
    mistakes: frozenset[Mistake]
    """What the agent can get wrong."""


_BY_ORDER: tuple[Mistake, ...] = (
    "looping",
    "tool_calls",
    "invented_arguments",
    "unnecessary_escalation",
)
_OPEN: tuple[tuple[OrderStatus, float], ...] = (
    ("processing", 0.6),
    ("packed", 0.28),
    ("shipped", 0.12),
)
_HOME: tuple[tuple[OrderStatus, float], ...] = (("delivered", 1.0),)

INTENTS: tuple[Intent, ...] = (
    Intent(
        name="refund",
        share=0.33,
        play=refund,
        stands=_HOME,
        ages=(0, 32),
        mistakes=frozenset((*_BY_ORDER, "false_success")),
    ),
    Intent(
        name="status",
        share=0.17,
        play=status,
        stands=(("shipped", 0.75), ("processing", 0.15), ("delivered", 0.1)),
        ages=(0, 4),
        mistakes=frozenset((*_BY_ORDER, "ignored_tool_error", "faithfulness")),
    ),
    Intent(
        name="cancel",
        share=0.09,
        play=cancel,
        stands=_OPEN,
        ages=(0, 3),
        mistakes=frozenset((*_BY_ORDER, "false_success")),
    ),
    Intent(
        name="address",
        share=0.07,
        play=redirect,
        stands=_OPEN,
        ages=(0, 3),
        mistakes=frozenset((*_BY_ORDER, "false_success")),
    ),
    Intent(
        name="label",
        share=0.07,
        play=label,
        stands=_HOME,
        ages=(0, 32),
        mistakes=frozenset((*_BY_ORDER, "false_success")),
    ),
    Intent(
        name="voucher",
        share=0.06,
        play=voucher,
        stands=_HOME,
        ages=(5, 60),
        mistakes=frozenset(
            (
                "looping",
                "tool_calls",
                "unnecessary_escalation",
                "ignored_tool_error",
                "faithfulness",
            )
        ),
    ),
    Intent(
        name="stock",
        share=0.06,
        play=stock,
        stands=_HOME,
        ages=(5, 60),
        mistakes=frozenset(
            (
                "looping",
                "tool_calls",
                "unnecessary_escalation",
                "ignored_tool_error",
                "faithfulness",
            )
        ),
    ),
    Intent(
        name="invoice",
        share=0.05,
        play=invoice,
        stands=_HOME,
        ages=(1, 90),
        mistakes=frozenset((*_BY_ORDER, "false_success")),
    ),
    Intent(
        name="person",
        share=0.05,
        play=person,
        stands=_HOME,
        ages=(1, 40),
        mistakes=frozenset(("missed_escalation",)),
    ),
    Intent(
        name="complaint",
        share=0.05,
        play=complaint,
        stands=_HOME,
        ages=(0, 20),
        mistakes=frozenset((*_BY_ORDER, "false_success", "missed_escalation")),
    ),
)
