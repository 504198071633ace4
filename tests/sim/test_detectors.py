"""Simulate the detectors: false alarms within the budget, delays, and intervals that hold."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest

from alerts.detectors.detector import Detector
from alerts.detectors.evidence import BETS, Bets, weighed
from tests.alerts.detectors.traffic import HOUR_NS, SETTINGS, START_NS, pages, traffic

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]

Draw = Callable[[random.Random], float]


def bernoulli(rate: float) -> Draw:
    """Draw failures."""
    return lambda rng: float(rng.random() < rate)


def spread(mean: float) -> Draw:
    """Draw shortfalls anywhere between 0 and 1, of a Beta distribution."""
    return lambda rng: rng.betavariate(4 * mean, 4 * (1 - mean))


def crossing(rng: random.Random, null: float, draw: Draw, *, threshold: float) -> int:
    """Return how many observations the evidence takes to cross a threshold."""
    bets, masses, count = Bets(null, 1.0), [0.0] * BETS, 0
    while True:
        count += 1
        if weighed(masses, bets.factors(draw(rng))[0], threshold=threshold) >= threshold:
            return count


@pytest.mark.parametrize(
    ("null", "draw"),
    [
        (0.02, bernoulli(0.02)),
        (0.1, bernoulli(0.1)),
        (0.3, bernoulli(0.3)),
        (0.1, spread(0.1)),
    ],
    ids=["2%", "10%", "30%", "scores"],
)
def test_false_alarms_keep_to_the_budget(null: float, draw: Draw) -> None:
    """Traffic exactly at the null crosses the threshold less often than once per threshold."""
    rng = random.Random(17)  # noqa: S311 - repeatable, not secret
    times = [crossing(rng, null, draw, threshold=1_000.0) for _ in range(200)]
    mean = sum(times) / len(times)
    error = (sum((t - mean) ** 2 for t in times) / (len(times) - 1) / len(times)) ** 0.5
    assert mean >= 1_000 - 3 * error


@pytest.mark.parametrize(
    ("worse", "expected"), [(0.15, 625), (0.20, 205), (0.30, 70)], ids=["15%", "20%", "30%"]
)
def test_delays_are_those_foreseen(worse: float, expected: float) -> None:
    """From a known 10 %, at 200 an hour and 90 days: within a quarter of an independent simulation."""
    rng = random.Random(23)  # noqa: S311 - repeatable, not secret
    threshold = 200.0 * 24 * 90
    times = [crossing(rng, 0.1, bernoulli(worse), threshold=threshold) for _ in range(200)]
    assert sum(times) / len(times) == pytest.approx(expected, rel=0.25)


def test_whole_lives_alarm_late_enough_and_soon_enough() -> None:
    """Over learned references: no page before the change, one after it, the change in its interval."""
    lives, inside, named = 40, 0, 0
    for seed in range(lives):
        changed = 30.0 + seed / lives
        detector = Detector(SETTINGS)
        fired = []
        for seen in traffic(seed, healthy=0.03, worse=0.2, change_hours=changed, hours=changed + 4):
            fired += pages(detector.fold(seen))
        assert fired, f"seed {seed} never fired"
        changed_ns = START_NS + int(changed * HOUR_NS)
        assert all(event.detail.traffic_ns >= changed_ns for event in fired)
        assert {event.slice for event in fired} == {"all", "version=2"}
        for event in fired:
            change = event.detail.change
            assert change is not None
            held = change.low_ns <= changed_ns <= change.high_ns
            inside += held and event.slice == "all"
            named += held and event.slice != "all"
    assert inside >= 0.875 * lives
    assert named >= 0.85 * lives


def test_healthy_weeks_stay_quiet() -> None:
    """With an upper bound and a tolerance, learned references alarm less often than the budget."""
    fired = 0
    for seed in range(30):
        detector = Detector(SETTINGS)
        for seen in traffic(seed, healthy=0.05, worse=0.05, change_hours=24.0, hours=24.0 * 5):
            fired += len(pages(detector.fold(seen)))
    assert fired <= 1
