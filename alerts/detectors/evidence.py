"""Weigh the evidence that a failure rate rose: a mixture of Shiryaev-Roberts e-detectors.

Each bet multiplies its stake by ``e = (1 + slope * (x - null)) ** (1 / phi)``, whose expectation
is at most 1 while the mean shortfall is at most ``null``, whatever its distribution (betting:
Waudby-Smith and Ramdas 2024; the power by Jensen). Staking 1 anew at every observation,
``M <- e * (M + 1)``, makes ``M - n`` a supermartingale, so that the mean time to a false
crossing of ``c`` is at least ``c`` observations (Shin, Ramdas and Rinaldo 2024, arXiv
2203.03532). The mean of four bets loses at most ln 4 to the one that knew the shift.
"""

from __future__ import annotations

import math
from typing import TypeAlias

ODDS = (1.25, 1.6, 2.5, 6.0)
"""Odds ratios of the alternatives that are bet on."""
BETS = len(ODDS)
_Factors: TypeAlias = tuple[tuple[float, ...], tuple[float, ...]]
CAP = 10.0
"""Evidence stops at this multiple of the threshold, so that recovery shows in finite time."""
CERTAIN = 1.0 - 1e-9
"""From this null on rounding leaves nothing of what a bet could lose, so none is made."""


class Bets:
    """Give the factors of one stream; remembers those of the shortfalls it has met.

    An observation that stands for fewer than the heaviest do moves the stake in proportion:
    ``e = 1 + slope * share * (x - null)`` expects nothing where the weighted mean is the null's,
    and is a fair bet for any share up to 1.

    Args:
        null_rate: Highest mean shortfall that is no alarm, in (0, 1]; from ``CERTAIN`` on nothing is bet.
        overdispersion: ``phi`` >= 1; the factors are discounted by the power ``1 / phi``.
    """

    __slots__ = ("_known", "_null", "_power", "_slopes")

    def __init__(self, null_rate: float, overdispersion: float) -> None:
        self._null = null_rate
        self._power = 1.0 / overdispersion
        self._slopes = tuple(slope(null_rate, ratio) for ratio in ODDS if null_rate < CERTAIN)
        self._known: dict[tuple[float, float], _Factors] = {}

    def factors(self, shortfall: float, share: float = 1.0) -> _Factors:
        """Return each bet's factor and its logarithm.

        Args:
            shortfall: 0..1, 1 is a failure.
            share: Its weight over the largest weight, in (0, 1].

        Raises:
            ValueError: one of them is not in its range.
        """
        found = self._known.get((shortfall, share))
        if found is None:
            found = self._computed(shortfall, share)
            if len(self._known) < 64:
                self._known[shortfall, share] = found
        return found

    def _computed(self, shortfall: float, share: float) -> _Factors:
        if not 0.0 <= shortfall <= 1.0:
            raise ValueError(f"a shortfall is between 0 and 1, not {shortfall!r}")
        if not 0.0 < share <= 1.0:
            raise ValueError(f"a share is above 0 and up to 1, not {share!r}")
        if not self._slopes:
            return (0.0,) * BETS, (0.0,) * BETS
        gained = share * (shortfall - self._null)
        factors = tuple((1.0 + lam * gained) ** self._power for lam in self._slopes)
        return factors, tuple(math.log(e) for e in factors)


def slope(null_rate: float, odds_ratio: float) -> float:
    """Return how strongly to bet that the odds of failing are this many times the null's.

    With shortfalls of 0 and 1 the factor is then the likelihood ratio of the two rates.
    """
    odds = odds_ratio * null_rate / (1.0 - null_rate)
    alternative = odds / (1.0 + odds)
    return (alternative - null_rate) / (null_rate * (1.0 - null_rate))


def weighed(masses: list[float], factors: tuple[float, ...], *, threshold: float) -> float:
    """Take one observation into the masses, in place, and return the evidence."""
    most = CAP * threshold * BETS
    total = 0.0
    for index, factor in enumerate(factors):
        mass = min(factor * (masses[index] + 1.0), most)
        masses[index] = mass
        total += mass
    return min(total / BETS, CAP * threshold)
