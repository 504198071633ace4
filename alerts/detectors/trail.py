"""Remember where a stream's evidence comes from: when did the rate change?

The Shiryaev-Roberts statistic is a sum over all possible moments of change; each moment's term
is its likelihood, so its share of the sum is its posterior probability, under a flat prior
unless said otherwise. The
trail keeps these terms. All terms of one bet grow by the same factors, so their shares stand
still once written, and neighbours can be joined where they matter little.
"""

from __future__ import annotations

import math

import msgspec

from alerts.detectors.evidence import BETS

MOST = 128
"""Stretches kept before the trail is shortened."""
_SHARE = 1 / 24
"""Stretches are joined up to this share of the posterior,"""
_TAIL = 0.5
"""and to this part of what lies beyond them, so that the ends of the interval stay sharp."""
_LOST = 1e-4
"""What is less than this at either end is not told apart."""
_LEVEL = 0.95


class Stretch(msgspec.Struct, array_like=True):
    """Neighbouring moments at which the change may have come."""

    low_ns: int
    """The earliest start among the conversations around them."""
    high_ns: int
    """The latest."""
    count: int
    """Observations of the stream before the first of them."""
    total: float
    """Their summed shortfall."""
    weights: list[float]
    """Log of the summed terms, by bet, less the bet's log-likelihood so far."""


class Located(msgspec.Struct, frozen=True, kw_only=True):
    """Where the change lies."""

    low_ns: int
    at_ns: int
    high_ns: int
    count: int
    """Observations of the stream before it."""
    total: float
    """Their summed shortfall."""


def extend(
    trail: list[Stretch],
    logs: list[float],
    *,
    low_ns: int,
    high_ns: int,
    count: int,
    total: float,
    prior: float = 1.0,
) -> None:
    """Add the moment before an observation.

    Args:
        trail: The moments so far.
        logs: Each bet's summed log factors before the observation.
        low_ns: The start of the conversation before, or of this one if earlier.
        high_ns: The later of the two.
        count: Observations before.
        total: Their summed shortfall.
        prior: How much more plausible this moment is than any other, before the evidence.
    """
    weight = math.log(prior)
    trail.append(Stretch(low_ns, high_ns, count, total, [weight - log for log in logs]))
    if len(trail) > MOST:
        _shorten(trail, logs)


def locate(trail: list[Stretch], logs: list[float]) -> Located | None:
    """Return the posterior's median and its central 95 %; ``None`` for an empty trail."""
    if not trail:
        return None
    shares = _shares(trail, logs)
    low = _at(shares, (1 - _LEVEL) / 2)
    middle = trail[_at(shares, 0.5)]
    high = _at(shares, (1 + _LEVEL) / 2)
    within = trail[low : high + 1]
    return Located(
        low_ns=min(stretch.low_ns for stretch in within),
        at_ns=middle.low_ns + (middle.high_ns - middle.low_ns) // 2,
        high_ns=max(stretch.high_ns for stretch in within),
        count=middle.count,
        total=middle.total,
    )


def _shares(trail: list[Stretch], logs: list[float]) -> list[float]:
    """Return each stretch's posterior probability, the bets weighed by their evidence."""
    highest = max(weight + log for s in trail for weight, log in zip(s.weights, logs, strict=True))
    masses = [sum(math.exp(s.weights[k] + logs[k] - highest) for k in range(BETS)) for s in trail]
    whole = sum(masses)
    return [mass / whole for mass in masses]


def _at(shares: list[float], probability: float) -> int:
    """Return the index at which the summed shares reach a probability."""
    reached = 0.0
    for index, share in enumerate(shares):
        reached += share
        if reached >= probability:
            return index
    return len(shares) - 1


def _shorten(trail: list[Stretch], logs: list[float]) -> None:
    """Join neighbours of little weight; let go of the oldest that have next to none."""
    kept: list[Stretch] = []
    held = reached = 0.0
    for stretch, share in zip(trail, _shares(trail, logs), strict=True):
        reached += share
        if not kept and reached < _LOST:
            continue
        most = max(_LOST, min(_SHARE, _TAIL * reached, _TAIL * (1.0 - reached)))
        if kept and held + share <= most:
            _join(kept[-1], stretch)
            held += share
        else:
            kept.append(stretch)
            held = share
    trail[:] = kept


def _join(stretch: Stretch, later: Stretch) -> None:
    stretch.low_ns = min(stretch.low_ns, later.low_ns)
    stretch.high_ns = max(stretch.high_ns, later.high_ns)
    for k in range(BETS):
        a, b = stretch.weights[k], later.weights[k]
        top = max(a, b)
        stretch.weights[k] = top + math.log1p(math.exp(min(a, b) - top))
