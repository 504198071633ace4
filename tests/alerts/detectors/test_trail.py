"""Test where a change is located."""

from __future__ import annotations

import math
import random

from alerts.detectors.evidence import BETS, Bets
from alerts.detectors.trail import MOST, Stretch, extend, locate


def followed(shortfalls: list[float]) -> tuple[list[Stretch], list[float]]:
    """Follow a stream with one conversation a second; its null rate is 10 %."""
    bets = Bets(0.1, 1.0)
    trail: list[Stretch] = []
    logs = [0.0] * BETS
    total = 0.0
    for second, shortfall in enumerate(shortfalls):
        extend(trail, logs, low_ns=second - 1, high_ns=second, count=second, total=total)
        logs = [a + b for a, b in zip(logs, bets.factors(shortfall)[1], strict=True)]
        total += shortfall
    return trail, logs


def exact(shortfalls: list[float]) -> list[float]:
    """Return the posterior of each moment of change, without joining any."""
    bets = Bets(0.1, 1.0)
    masses = []
    for first in range(len(shortfalls)):
        logs = [0.0] * BETS
        for shortfall in shortfalls[first:]:
            logs = [a + b for a, b in zip(logs, bets.factors(shortfall)[1], strict=True)]
        masses.append(sum(math.exp(log) for log in logs))
    return [mass / sum(masses) for mass in masses]


def drawn(seed: int, healthy: int, worse: int, rate: float) -> list[float]:
    """Draw healthy traffic at 5 %, then worse."""
    rng = random.Random(seed)  # noqa: S311 - repeatable, not secret
    return [float(rng.random() < (0.05 if i < healthy else rate)) for i in range(healthy + worse)]


def test_nothing_seen_is_no_change() -> None:
    """An empty trail locates nothing."""
    assert locate([], [0.0] * BETS) is None


def test_the_interval_holds_what_the_exact_posterior_holds() -> None:
    """Joining stretches may widen the interval a little and never cuts into it."""
    for seed in range(8):
        shortfalls = drawn(seed, 400, 60, 0.4)
        trail, logs = followed(shortfalls)
        found = locate(trail, logs)
        assert found is not None
        shares = exact(shortfalls)
        inside = sum(share for i, share in enumerate(shares) if found.low_ns < i <= found.high_ns)
        assert inside >= 0.94
        assert found.high_ns - found.low_ns < 120


def test_a_sharp_change_is_found_to_the_conversation() -> None:
    """When everything fails from one conversation on, the change is put next to it."""
    found = locate(*followed([0.0] * 300 + [1.0] * 30))
    assert found is not None
    assert found.low_ns <= 300 <= found.high_ns
    assert abs(found.at_ns - 300) <= 3
    assert found.high_ns - found.low_ns <= 12
    assert abs(found.count - 300) <= 3
    assert found.total <= 3


def test_the_trail_stays_short() -> None:
    """However long the traffic, a bounded number of stretches is kept."""
    for shortfalls in (drawn(1, 30_000, 0, 0.0), drawn(2, 2_000, 2_000, 0.3)):
        assert len(followed(shortfalls)[0]) <= MOST


def test_a_likelier_moment_draws_the_interval() -> None:
    """A moment that is more plausible from the start is inside unless the evidence is against it."""
    bets = Bets(0.1, 1.0)
    trail: list[Stretch] = []
    logs = [0.0] * BETS
    for second in range(30):
        extend(
            trail,
            logs,
            low_ns=second - 1,
            high_ns=second,
            count=second,
            total=0.0,
            prior=100.0 if second == 0 else 1.0,
        )
        logs = [a + b for a, b in zip(logs, bets.factors(float(second % 3 == 2))[1], strict=True)]
    found = locate(trail, logs)
    assert found is not None
    assert found.low_ns == -1
