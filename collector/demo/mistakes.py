"""Decide which mistake an agent of some version makes in a conversation, if any.

Everybody errs: the healthy version makes each kind of mistake in about one to two
conversations of a hundred. The other claims refunds it did not make, and repeats its calls.
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from types import MappingProxyType
from typing import Literal

import msgspec

Mistake = Literal[
    "",
    "false_success",
    "looping",
    "missed_escalation",
    "unnecessary_escalation",
    "tool_calls",
    "invented_arguments",
    "ignored_tool_error",
    "faithfulness",
]
"""Named like the scorer that should find it."""

HEALTHY_VERSION = "2.3.0"
BROKEN_VERSION = "2.4.0"

RATES: Mapping[Mistake, float] = MappingProxyType(
    {
        "false_success": 0.015,
        "looping": 0.012,
        "missed_escalation": 0.015,
        "unnecessary_escalation": 0.012,
        "tool_calls": 0.012,
        "invented_arguments": 0.014,
        "ignored_tool_error": 0.012,
        "faithfulness": 0.014,
    }
)
"""Share of all conversations in which each is made when the agent is healthy."""


class Regression(msgspec.Struct, frozen=True, kw_only=True):
    """What the broken version does beside the usual mistakes."""

    claims_refunds: float = 0.85
    """Share of refund conversations in which it claims a refund that it did not make."""
    repeats_calls: float = 0.22
    """Share of the others in which it makes the same call over and over."""


class Mistakes:
    """Draw mistakes so that each comes up at its rate over all conversations."""

    def __init__(
        self,
        possible: Mapping[str, frozenset[Mistake]],
        shares: Mapping[str, float],
        *,
        regression: Regression | None,
    ) -> None:
        """Prepare the draw.

        Args:
            possible: by intent, the mistakes that can be made in it.
            shares: how much of the traffic each intent is; together 1.
            regression: what the broken version does; ``None`` makes it as good as the other.
        """
        self._possible = possible
        self._regression = regression
        self._chances = {
            mistake: rate / sum(share for i, share in shares.items() if mistake in possible[i])
            for mistake, rate in RATES.items()
        }

    def draw(self, intent: str, version: str, rng: random.Random) -> Mistake:
        """Return the mistake of one conversation; empty for none."""
        worse, left = rng.random(), rng.random()
        if version == BROKEN_VERSION and self._regression is not None:
            if intent == "refund" and worse < self._regression.claims_refunds:
                return "false_success"
            repeats = "looping" in self._possible[intent] and intent != "refund"
            if repeats and worse < self._regression.repeats_calls:
                return "looping"
        for mistake, chance in self._chances.items():
            if mistake in self._possible[intent]:
                if left < chance:
                    return mistake
                left -= chance
        return ""
