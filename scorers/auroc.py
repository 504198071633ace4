"""Measure how well values rank sound conversations above faulty ones."""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from statistics import fmean, variance

from scorers.interval import Z_95, Interval

_UNDECIDED = 0.5


def auroc(faulty: Sequence[float | None], sound: Sequence[float | None]) -> Interval | None:
    """Return the chance that a sound conversation has the higher value of a pair.

    A tie counts one half, and so does a pair with a conversation that has no value (``None``):
    a skip tells neither. The interval is that of DeLong, DeLong and Clarke-Pearson (1988), the
    variance of the two sets of shares. ``None`` without two of each.
    """
    if len(faulty) < 2 or len(sound) < 2:
        return None
    above = _shares_above(faulty, sound)
    below = [1 - share for share in _shares_above(sound, faulty)]
    value = fmean(above)
    spread = variance(above) / len(above) + variance(below) / len(below)
    half = Z_95 * math.sqrt(spread)
    return Interval(value=value, low=max(0.0, value - half), high=min(1.0, value + half))


def _shares_above(ones: Sequence[float | None], others: Sequence[float | None]) -> list[float]:
    """Return for each of the ones what share of the others has a higher value."""
    known = sorted(value for value in others if value is not None)
    unknown = _UNDECIDED * (len(others) - len(known))
    shares = []
    for one in ones:
        if one is None:
            shares.append(_UNDECIDED)
            continue
        higher, ties = len(known) - bisect_right(known, one), bisect_left(known, one)
        tied = len(known) - higher - ties
        shares.append((higher + _UNDECIDED * tied + unknown) / len(others))
    return shares
