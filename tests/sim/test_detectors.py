"""Simulate the detectors: false alarms within the budget, delays, and intervals that hold."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator

import pytest

from alerts.detectors.detector import Detector
from alerts.detectors.evidence import BETS, Bets, weighed
from tests.alerts.detectors.traffic import HOUR_NS, SETTINGS, START_NS, pages, traffic
from tests.sim.lengths import lengths

Draw = Callable[[random.Random], tuple[float, float]]
"""A shortfall and its share of the largest weight."""

NINETY_DAYS = 200.0 * 24 * 90
"""The budget, at 200 conversations an hour."""
WARM_UP = 2_000
"""Healthy conversations before a change: then the evidence is as in a detector that has run for long."""


def bernoulli(rate: float) -> Draw:
    """Draw failures."""
    return lambda rng: (float(rng.random() < rate), 1.0)


def spread(mean: float) -> Draw:
    """Draw shortfalls anywhere between 0 and 1, of a Beta distribution."""
    return lambda rng: (rng.betavariate(4 * mean, 4 * (1 - mean)), 1.0)


def sampled(*, worse: float = 0.0) -> Draw:
    """Draw from traffic in which one in ten is flagged and scored, and of the rest one in twenty.

    The flagged fail at 55 % and the rest at 5 %, so that 10 % of all do; or more of both.
    """

    def draw(rng: random.Random) -> tuple[float, float]:
        while True:
            flagged = rng.random() < 0.1
            if flagged or rng.random() < 0.05:
                rate = (0.55 if flagged else 0.05) + worse
                return float(rng.random() < rate), 0.05 if flagged else 1.0

    return draw


def crossings(rng: random.Random, null: float, draw: Draw, threshold: float) -> Iterator[int]:
    """Yield how many observations the evidence takes to cross a threshold, from nought each time."""
    bets = Bets(null, 1.0)
    while True:
        masses, count, evidence = [0.0] * BETS, 0, 0.0
        while evidence < threshold:
            count += 1
            evidence = weighed(masses, bets.factors(*draw(rng))[0], threshold=threshold)
        yield count


@lengths("threshold, runs", short=(200.0, 60), long=(2_000.0, 300))
@pytest.mark.parametrize(
    ("null", "draw"),
    [
        (0.02, bernoulli(0.02)),
        (0.1, bernoulli(0.1)),
        (0.3, bernoulli(0.3)),
        (0.1, spread(0.1)),
        (0.1, sampled()),
    ],
    ids=["2%", "10%", "30%", "scores", "weights"],
)
def test_false_alarms_keep_to_the_budget(
    null: float, draw: Draw, threshold: float, runs: int
) -> None:
    """Traffic exactly at the null crosses the threshold less often than once per threshold."""
    rng = random.Random(17)  # noqa: S311 - repeatable, not secret
    lives = crossings(rng, null, draw, threshold)
    times = [next(lives) for _ in range(runs)]
    mean = sum(times) / runs
    error = (sum((t - mean) ** 2 for t in times) / (runs - 1) / runs) ** 0.5
    assert mean >= threshold - 3 * error


@lengths("runs, within", short=(12, 0.5), long=(300, 0.15))
@pytest.mark.parametrize(
    ("null", "worse", "expected"),
    [
        (0.02, 0.04, 920),
        (0.02, 0.06, 326),
        (0.02, 0.10, 121),
        (0.05, 0.10, 406),
        (0.10, 0.13, 1_469),
        (0.10, 0.15, 625),
        (0.10, 0.20, 205),
        (0.10, 0.30, 70),
        (0.20, 0.30, 304),
        (0.30, 0.40, 374),
        (0.30, 0.50, 113),
    ],
)
def test_delays_are_those_foreseen(
    null: float, worse: float, expected: float, runs: int, within: float
) -> None:
    """From a known rate, at 200 an hour and 90 days: as an independent simulation found."""
    rng = random.Random(23)  # noqa: S311 - repeatable, not secret
    bets, total = Bets(null, 1.0), 0
    passed, failed = bets.factors(0.0)[0], bets.factors(1.0)[0]
    for _ in range(runs):
        masses, evidence = [0.0] * BETS, 0.0
        for _ in range(WARM_UP):
            weighed(masses, failed if rng.random() < null else passed, threshold=NINETY_DAYS)
        while evidence < NINETY_DAYS:
            total += 1
            factors = failed if rng.random() < worse else passed
            evidence = weighed(masses, factors, threshold=NINETY_DAYS)
    assert total / runs == pytest.approx(expected, rel=within)


@lengths("runs", short=(20,), long=(300,))
def test_weights_find_a_change_too(runs: int) -> None:
    """A rise of 5 points everywhere takes less than twice the verdicts of an unweighted sample.

    Although seven in ten of them are of the flagged, each of which stands for a twentieth.
    """
    means = []
    for draw in (sampled(worse=0.05), bernoulli(0.15)):
        rng = random.Random(29)  # noqa: S311 - repeatable, not secret
        lives = crossings(rng, 0.1, draw, NINETY_DAYS)
        means.append(sum(next(lives) for _ in range(runs)) / runs)
    assert means[0] < 2 * means[1]


@lengths("lives", short=(3,), long=(40,))
def test_whole_lives_alarm_late_enough_and_soon_enough(lives: int) -> None:
    """Over learned references: no page before the change, one after it, the change in its interval."""
    inside = named = 0
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
    assert inside >= 0.875 * lives - 1
    assert named >= 0.85 * lives - 1


@lengths("lives, days", short=(1, 2), long=(30, 5))
def test_healthy_weeks_stay_quiet(lives: int, days: int) -> None:
    """With an upper bound and a tolerance, learned references alarm less often than the budget."""
    fired = 0
    for seed in range(lives):
        detector = Detector(SETTINGS)
        for seen in traffic(seed, healthy=0.05, worse=0.05, change_hours=24.0, hours=24.0 * days):
            fired += len(pages(detector.fold(seen)))
    assert fired <= 1
