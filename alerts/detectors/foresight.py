"""Foresee what the detectors would find in somebody's traffic, and how soon."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence

import msgspec

from alerts.detectors.delay import expected, simulated, smallest
from alerts.detectors.reference import bound
from alerts.detectors.settings import Settings
from alerts.detectors.stream import threshold

RISES = (0.02, 0.05, 0.10, 0.20, 0.40)
"""Rises of the failure rate that are foreseen unless others are asked for."""
BIG = 0.05
"""Where a rise of this is not found within a day, only big ones are."""
DAY_H = 24.0
RUNS = 200
"""Simulations of one rise,"""
MOST = 1_000_000
"""fewer where they would take more conversations than this,"""
FEWEST = 20
"""and none where so few would."""


class Simulated(msgspec.Struct, frozen=True, kw_only=True):
    """What a seeded simulation found, in conversations."""

    runs: int
    mean: float
    standard_error: float
    p90: float
    """Nine in ten are found by then."""


class Found(msgspec.Struct, frozen=True, kw_only=True):
    """One rise, and how long it takes to find it."""

    rate: float
    """Failure rate after the change."""
    page: float | None
    """Conversations until a page, on average, by the formula; ``None`` for hardly ever."""
    ticket: float | None
    simulated: Simulated | None = None
    """Of the page."""


class Foreseen(msgspec.Struct, frozen=True, kw_only=True):
    """What one scorer's detector does in such traffic."""

    rate: float
    """Usual failure rate."""
    per_hour: float
    """Conversations scored an hour."""
    budget_hours: float
    scorers: int
    learning_hours: float
    learning_conversations: float
    null_rate: float
    """No alarm up to here."""
    page_threshold: float
    ticket_threshold: float
    delays: tuple[Found, ...]
    same_day: float | None
    """Lowest failure rate that pages within 24 hours, on average; ``None`` if none does."""

    @property
    def only_big(self) -> bool:
        """Whether a rise of five points goes unnoticed for longer than a day."""
        return self.same_day is None or self.same_day > self.rate + BIG


def foresee(
    rate: float,
    per_hour: float,
    settings: Settings,
    *,
    worse: Sequence[float] = (),
    rng: random.Random | None = None,
) -> Foreseen:
    """Tell of a scorer that usually fails at a rate.

    The traffic is taken to be even and its conversations independent; where they are not, a
    detector discounts its evidence by the overdispersion and takes that much longer.

    Args:
        rate: 0..1.
        per_hour: Conversations that the scorer judges in an hour with traffic.
        settings: Of the detectors.
        worse: Rates after the change; by default some rises.
        rng: Simulates pages as well, where given.
    """
    hours = float(max(settings.reference_hours, math.ceil(settings.reference_min / per_hour)))
    learned = per_hour * hours
    null_rate = bound(rate * learned, learned, overdispersion=1.0, tolerance=settings.tolerance)
    page, ticket = (
        threshold(per_hour, budget, scorers=settings.scorers)
        for budget in (settings.page_hours, settings.ticket_hours)
    )
    rates = sorted(worse) or [rate + rise for rise in RISES if rate + rise <= 1.0]

    def found(after: float) -> Found:
        wait = expected(null_rate, after, threshold=page)
        return Found(
            rate=after,
            page=_finite(wait),
            ticket=_finite(expected(null_rate, after, threshold=ticket)),
            simulated=_simulated(rng, null_rate, after, threshold=page, wait=wait) if rng else None,
        )

    return Foreseen(
        rate=rate,
        per_hour=per_hour,
        budget_hours=settings.page_hours,
        scorers=settings.scorers,
        learning_hours=hours,
        learning_conversations=learned,
        null_rate=null_rate,
        page_threshold=page,
        ticket_threshold=ticket,
        delays=tuple(found(after) for after in rates),
        same_day=smallest(null_rate, observations=per_hour * DAY_H, threshold=page),
    )


def _simulated(
    rng: random.Random, null_rate: float, after: float, *, threshold: float, wait: float
) -> Simulated | None:
    runs = min(RUNS, int(MOST / wait))
    if runs < FEWEST:
        return None
    times = simulated(rng, null_rate, after, threshold=threshold, runs=runs)
    mean = sum(times) / runs
    variance = sum((time - mean) ** 2 for time in times) / (runs - 1)
    return Simulated(
        runs=runs,
        mean=mean,
        standard_error=math.sqrt(variance / runs),
        p90=float(times[math.ceil(0.9 * runs) - 1]),
    )


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None
