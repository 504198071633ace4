"""Test what is learned of healthy traffic."""

from __future__ import annotations

import random

import msgspec
import pytest

from alerts.detectors.beta import quantile
from alerts.detectors.evidence import BETS, Bets, weighed
from alerts.detectors.reference import HIGHEST_NULL, HOUR_NS, MAX_HOURS, Block, learn, null_of


def filled(rates: list[float], *, per_hour: int = 100, seed: int = 1) -> list[Block]:
    """Learn hours of traffic with these failure rates."""
    rng = random.Random(seed)  # noqa: S311 - repeatable, not secret
    blocks: list[Block] = []
    for hour, rate in enumerate(rates):
        for _ in range(per_hour):
            learn(blocks, float(rng.random() < rate), hour * HOUR_NS + 5)
    return blocks


def test_the_null_is_the_bound_and_the_tolerance() -> None:
    """Without overdispersion the null is Jeffreys' upper 90 % bound plus the tolerance."""
    blocks = [Block(h, 100, 10.0, 10.0) for h in range(24)]
    null = null_of(blocks, tolerance=0.005)
    assert null.reference_rate == pytest.approx(0.1)
    assert null.overdispersion == 1.0
    assert null.null_rate == pytest.approx(quantile(0.9, 240.5, 2160.5) + 0.005)
    assert null.per_hour == 100


def test_hours_that_differ_widen_the_bound() -> None:
    """A daily rhythm of the failure rate shows as overdispersion and raises the null."""
    steady = null_of(filled([0.1] * 48), tolerance=0.0)
    rhythm = null_of(filled([0.02, 0.18] * 24), tolerance=0.0)
    assert steady.overdispersion < 2 < rhythm.overdispersion
    assert rhythm.null_rate > rhythm.reference_rate + 1.5 * (
        steady.null_rate - steady.reference_rate
    )


def test_hours_with_few_conversations_are_joined() -> None:
    """Hours too thin to have a mean of their own do not count as overdispersion by themselves."""
    assert null_of(filled([0.1] * 400, per_hour=3), tolerance=0.0).overdispersion < 1.6


def test_an_agent_that_never_failed_has_a_null_above_nought() -> None:
    """No failures among a thousand leave room for one that is not an alarm."""
    null = null_of([Block(0, 1_000, 0.0, 0.0)], tolerance=0.005)
    assert 0.005 < null.null_rate < 0.01


def test_an_agent_that_always_fails_cannot_get_worse() -> None:
    """Above the highest null there is nothing to bet on, so that its usual traffic never alarms."""
    null = null_of([Block(h, 100, 100.0, 100.0) for h in range(3)], tolerance=0.005)
    assert null.null_rate == 1.0 > HIGHEST_NULL
    bets, masses = Bets(null.null_rate, null.overdispersion), [0.0] * BETS
    assert {weighed(masses, bets.factors(1.0)[0], threshold=100.0) for _ in range(500)} == {0.0}


def test_late_conversations_go_to_their_own_hour() -> None:
    """Observations out of order make the same reference as in order."""
    starts = [h * HOUR_NS + m for h in range(6) for m in range(50)]
    ordered: list[Block] = []
    mixed: list[Block] = []
    for start in starts:
        learn(ordered, float(start % 7 == 0), start)
    random.Random(3).shuffle(starts)  # noqa: S311 - repeatable, not secret
    for start in starts:
        learn(mixed, float(start % 7 == 0), start)
    assert mixed == ordered


def test_a_sparse_stream_stays_small() -> None:
    """However many hours a reference takes, a bounded number of blocks is kept, and no count lost."""
    blocks: list[Block] = []
    for hour in range(2 * MAX_HOURS):
        learn(blocks, 0.0, hour * HOUR_NS)
    assert len(blocks) == MAX_HOURS
    assert sum(block.count for block in blocks) == 2 * MAX_HOURS


def test_weights_undo_unequal_chances() -> None:
    """What was scored one time in twenty counts twenty times, and the bound knows it tells less."""
    rng = random.Random(8)  # noqa: S311 - repeatable, not secret
    blocks: list[Block] = []
    for index in range(24_000):
        flagged = rng.random() < 0.1
        failed = float(rng.random() < (0.55 if flagged else 0.05))
        if flagged or rng.random() < 0.05:
            learn(blocks, failed, index // 1_000 * HOUR_NS, 1.0 if flagged else 20.0)
    null = null_of(blocks, tolerance=0.0)
    scored = sum(block.count for block in blocks)
    assert null.heaviest == 20.0
    assert null.reference_rate == pytest.approx(0.1, abs=0.015)
    assert null.per_hour == scored / 24
    assert null.null_rate - null.reference_rate > 1.2 * (
        quantile(0.9, 0.1 * scored + 0.5, 0.9 * scored + 0.5) - 0.1
    )


def test_equal_weights_change_nothing() -> None:
    """A reference in which each observation stands for four says what it says for one."""
    plain, heavy = filled([0.1] * 24), filled([0.1] * 24)
    for block in heavy:
        block.total *= 4
        block.squares *= 4
        block.more = 3.0 * block.count
        block.more_squares = 15.0 * block.count
    assert null_of(heavy, tolerance=0.0).null_rate == pytest.approx(
        null_of(plain, tolerance=0.0).null_rate
    )


def test_a_reference_from_before_there_were_weights_is_read_as_it_was() -> None:
    """Blocks of an older state have none, which means that each weighs one."""
    old = msgspec.json.decode(b'{"hour":3,"count":50,"total":5.0,"squares":5.0}', type=Block)
    assert old.weight == old.worth == 50.0
    assert null_of([old], tolerance=0.0) == null_of([Block(3, 50, 5.0, 5.0)], tolerance=0.0)
