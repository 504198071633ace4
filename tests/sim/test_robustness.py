"""Simulate what detectors make of traffic that is not as simple as their mathematics.

The figures are those of an independent simulation of the same detector, 300 runs a cell: a
reference of 7 days, then 30 healthy days at 200 conversations an hour, of which 10 % fail.
"""

from __future__ import annotations

import math
import random

import pytest

from alerts.detectors.evidence import BETS, Bets, weighed
from alerts.detectors.reference import bound, null_of
from bench.detectors.traffic import DAY, PER_HOUR, USUAL, Kind, verdicts
from bench.detectors.watchers import blocks_of
from tests.sim.lengths import LONG

REFERENCE = 7 * DAY
WATCHED = 30 * DAY
LEVEL = PER_HOUR * 24.0 * 90


def naive(reference: bytes) -> Bets:
    """Bet as if all conversations were independent, without a tolerance."""
    total, count = float(sum(reference)), float(len(reference))
    return Bets(bound(total, count, overdispersion=1.0, tolerance=0.0), 1.0)


def default(reference: bytes) -> Bets:
    """Bet as the detectors do."""
    null = null_of(blocks_of(reference), tolerance=0.005)
    return Bets(null.null_rate, null.overdispersion)


def first(bets: Bets, seen: bytes) -> int | None:
    """Return how many conversations pass until the alarm; ``None`` for none."""
    passed, failed = bets.factors(0.0)[0], bets.factors(1.0)[0]
    masses = [0.0] * BETS
    for index, verdict in enumerate(seen, start=1):
        if weighed(masses, failed if verdict else passed, threshold=LEVEL) >= LEVEL:
            return index
    return None


@pytest.mark.parametrize(
    ("kind", "as_naive", "as_default", "runs"),
    [
        pytest.param("daily", 0.95, 0.07, 2, id="daily-short"),
        pytest.param("even", 0.13, 0.03, 60, id="even", marks=LONG),
        pytest.param("daily", 0.95, 0.07, 60, id="daily", marks=LONG),
        pytest.param("users", 0.99, 0.16, 60, id="users", marks=LONG),
    ],
)
def test_the_discount_and_the_tolerance_keep_most_months_quiet(
    kind: Kind, as_naive: float, as_default: float, runs: int
) -> None:
    """Where a day has its rhythm or users come in groups, a naive detector alarms and ours mostly not."""
    alarmed = {naive: 0, default: 0}
    for run in range(runs):
        rng = random.Random(f"{kind} {run}")  # noqa: S311 - repeatable, not secret
        seen = verdicts(rng, REFERENCE + WATCHED, kind=kind)
        for bets_of in alarmed:
            alarmed[bets_of] += first(bets_of(seen[:REFERENCE]), seen[REFERENCE:]) is not None
    for bets_of, stated in ((naive, as_naive), (default, as_default)):
        error = math.sqrt(stated * (1 - stated) * (1 / runs + 1 / 300))
        assert alarmed[bets_of] / runs == pytest.approx(stated, abs=3 * error + 0.02)


@pytest.mark.parametrize(
    ("kind", "hours", "runs", "within"),
    [
        pytest.param("even", 4.5, 8, 0.6, id="even-short"),
        pytest.param("even", 4.5, 150, 0.2, id="even", marks=LONG),
        pytest.param("daily", 7.2, 150, 0.2, id="daily", marks=LONG),
        pytest.param("users", 6.4, 150, 0.2, id="users", marks=LONG),
    ],
)
def test_a_drop_is_found_in_any_of_them(kind: Kind, hours: float, runs: int, within: float) -> None:
    """From 90 % to 85 % takes hours, to 70 % half an hour, whatever the traffic."""
    waits: dict[float, list[float]] = {0.15: [], 0.30: []}
    for run in range(runs):
        for worse, found in waits.items():
            rng = random.Random(f"{kind} {worse} {run}")  # noqa: S311 - repeatable, not secret
            bets = default(verdicts(rng, REFERENCE, kind=kind))
            # The change may come at any hour: in a cycle that decides how soon it shows.
            hour = rng.randrange(24) * PER_HOUR
            healthy = verdicts(rng, DAY + hour, kind=kind)
            worst = verdicts(rng, 6 * DAY, rate=worse, kind=kind)[hour:]
            at = first(bets, healthy + worst)
            assert at is not None
            if at > len(healthy):  # else it was a false alarm, which is not this test's matter
                found.append((at - len(healthy)) / PER_HOUR)
    assert all(len(found) >= 0.9 * runs for found in waits.values())
    means = {worse: sum(found) / len(found) for worse, found in waits.items()}
    assert means[0.15] == pytest.approx(hours, rel=within)
    assert 0.3 <= means[0.30] <= 0.7


def test_the_usual_rate_is_what_it_says() -> None:
    """The invented traffic fails at its rate, whatever its kind."""
    for kind in ("even", "daily", "users"):
        seen = verdicts(random.Random(1), 10 * DAY, kind=kind)  # noqa: S311 - repeatable
        assert len(seen) == 10 * DAY
        assert sum(seen) / len(seen) == pytest.approx(USUAL, abs=0.008)
