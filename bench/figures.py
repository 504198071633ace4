"""Sum runs up: medians with the range they came from, and quantiles."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable, Sequence

import msgspec


class Spread(msgspec.Struct, frozen=True, kw_only=True):
    """One figure over several runs."""

    median: float
    low: float
    high: float
    runs: int


def spread(values: Iterable[float]) -> Spread | None:
    """Return the median and the range; ``None`` of nothing."""
    found = sorted(values)
    if not found:
        return None
    return Spread(median=statistics.median(found), low=found[0], high=found[-1], runs=len(found))


def quantile(values: Sequence[float], share: float) -> float:
    """Return the smallest value that at least ``share`` of the values do not exceed; 0 of none."""
    if not values:
        return 0.0
    ordered = sorted(values)
    return ordered[max(0, math.ceil(share * len(ordered)) - 1)]


def ratios(pairs: Iterable[tuple[float, float]]) -> Spread | None:
    """Return how the first of each pair compares with the second, over all pairs."""
    return spread(first / second for first, second in pairs if second > 0)
