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

ODDS = (1.25, 1.6, 2.5, 6.0)
"""Odds ratios of the alternatives that are bet on."""
BETS = len(ODDS)
CAP = 10.0
"""Evidence stops at this multiple of the threshold, so that recovery shows in finite time."""


class Bets:
    """Give the factors of one stream; remembers those of the shortfalls it has met.

    Args:
        null_rate: Highest mean shortfall that is no alarm, in (0, 1]; at 1 nothing is bet.
        overdispersion: ``phi`` >= 1; the factors are discounted by the power ``1 / phi``.
    """

    __slots__ = ("_known", "_null", "_power", "_slopes")

    def __init__(self, null_rate: float, overdispersion: float) -> None:
        self._null = null_rate
        self._power = 1.0 / overdispersion
        self._slopes = tuple(slope(null_rate, ratio) for ratio in ODDS if null_rate < 1.0)
        self._known: dict[float, tuple[tuple[float, ...], tuple[float, ...]]] = {}

    def factors(self, shortfall: float) -> tuple[tuple[float, ...], tuple[float, ...]]:
        """Return each bet's factor and its logarithm.

        Raises:
            ValueError: the shortfall is not in [0, 1].
        """
        found = self._known.get(shortfall)
        if found is None:
            found = self._computed(shortfall)
            if len(self._known) < 64:
                self._known[shortfall] = found
        return found

    def _computed(self, shortfall: float) -> tuple[tuple[float, ...], tuple[float, ...]]:
        if not 0.0 <= shortfall <= 1.0:
            raise ValueError(f"a shortfall is between 0 and 1, not {shortfall!r}")
        if not self._slopes:
            return (0.0,) * BETS, (0.0,) * BETS
        gained = shortfall - self._null
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
