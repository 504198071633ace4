"""Give measured shares their 95 % intervals."""

from __future__ import annotations

import math

import msgspec

Z_95 = 1.959963984540054
"""The normal quantile of a 95 % interval."""


class Interval(msgspec.Struct, frozen=True, kw_only=True):
    """A share with its 95 % interval."""

    value: float
    low: float
    high: float


def wilson(successes: int, trials: int) -> Interval | None:
    """Return a share with its Wilson score interval (Wilson 1927); ``None`` without trials."""
    if not trials:
        return None
    share, square = successes / trials, Z_95**2
    middle = (share + square / (2 * trials)) / (1 + square / trials)
    spread = math.sqrt(share * (1 - share) / trials + square / (4 * trials**2))
    half = Z_95 * spread / (1 + square / trials)
    return Interval(value=share, low=max(0.0, middle - half), high=min(1.0, middle + half))
