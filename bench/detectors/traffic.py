"""Invent the verdicts of an agent whose failure rate is known: one byte each, 1 is a failure."""

from __future__ import annotations

import math
import random
from typing import Literal

PER_HOUR = 200
"""Conversations, evenly spaced."""
DAY = 24 * PER_HOUR
USUAL = 0.10
"""Failure rate while all is well."""
SWING = 0.02
"""Amplitude of the daily cycle: worst six hours after midnight, best twelve hours later."""
TOGETHER = 5
"""Conversations in a row of one user."""
ALIKE = 0.1
"""Correlation of two conversations of one user (ICC)."""

Kind = Literal["even", "daily", "users"]
KINDS: dict[Kind, str] = {
    "even": "independent, always at the same rate",
    "daily": f"a daily cycle of ± {100 * SWING:.0f} points",
    "users": f"users with {TOGETHER} conversations in a row, correlation {ALIKE}",
}


def verdicts(rng: random.Random, count: int, *, rate: float = USUAL, kind: Kind = "even") -> bytes:
    """Draw verdicts of so many conversations, from midnight on."""
    if kind == "daily":
        turn = 2 * math.pi / DAY
        rates = [rate + SWING * math.sin(turn * i) for i in range(DAY)]
        return bytes(rng.random() < rates[i % DAY] for i in range(count))
    if kind == "users":
        size = 1.0 / ALIKE - 1.0
        found = bytearray()
        while len(found) < count:
            own = rng.betavariate(size * rate, size * (1.0 - rate))
            found += bytes(rng.random() < own for _ in range(TOGETHER))
        return bytes(found[:count])
    return bytes(rng.random() < rate for _ in range(count))
