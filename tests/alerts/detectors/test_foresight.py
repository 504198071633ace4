"""Test what is foreseen of somebody's traffic."""

from __future__ import annotations

import random

import msgspec
import pytest

from alerts.detectors.detector import Detector
from alerts.detectors.foresight import foresee
from tests.alerts.detectors.traffic import SETTINGS, observed


def test_it_is_what_a_detector_would_be_armed_with() -> None:
    """Null and threshold of the forecast are those of a detector that met such traffic."""
    foreseen = foresee(0.02, 200.0, SETTINGS)
    detector = Detector(SETTINGS)
    for i in range(24 * 200 + 1):
        detector.fold(observed(i + 1, float(i % 50 == 0), started_ns=observed(i, 0.0).started_ns))
    (whole, _) = detector.views()
    assert whole.phase == "armed"
    assert foreseen.learning_hours == whole.learned_hours == 24
    assert foreseen.null_rate == pytest.approx(whole.null_rate, rel=1e-3)
    assert foreseen.page_threshold == pytest.approx(whole.threshold)
    assert foreseen.ticket_threshold == pytest.approx(whole.ticket_threshold)


def test_little_traffic_learns_for_longer() -> None:
    """The reference waits for enough conversations, not only for enough hours."""
    assert foresee(0.1, 10.0, SETTINGS).learning_hours == 100
    assert foresee(0.1, 0.5, SETTINGS).learning_hours == 2_000


def test_it_says_when_only_big_drops_are_found_the_same_day() -> None:
    """From five points on a rise is big; with next to no traffic not even a total failure pages."""
    busy, slow, idle = (foresee(0.1, n, SETTINGS) for n in (200.0, 10.0, 0.1))
    assert not busy.only_big
    assert busy.same_day is not None
    assert busy.same_day < 0.15
    assert slow.only_big
    assert slow.same_day is not None
    assert slow.same_day > 0.15
    assert idle.only_big
    assert idle.same_day is None


def test_a_rise_within_the_tolerance_has_no_delay() -> None:
    """What is no alarm is not given a time."""
    (found,) = foresee(
        0.1, 200.0, msgspec.structs.replace(SETTINGS, tolerance=0.1), worse=[0.15]
    ).delays
    assert found.page is None
    assert found.ticket is None


def test_rates_above_one_are_left_out() -> None:
    """A scorer that fails nine in ten cannot fail thirteen in ten."""
    assert [d.rate for d in foresee(0.9, 200.0, SETTINGS).delays] == pytest.approx(
        [0.92, 0.95, 1.0]
    )


def test_a_simulation_is_repeatable_and_near_the_formula() -> None:
    """The same seed gives the same figures; what would take too long is not simulated."""
    first, second = (
        foresee(0.1, 200.0, SETTINGS, worse=[0.11, 0.3], rng=random.Random(3))  # noqa: S311 - repeatable
        for _ in range(2)
    )
    assert first == second
    hopeless, quick = first.delays
    assert hopeless.simulated is None
    assert quick.simulated is not None
    assert quick.page is not None
    assert quick.simulated.mean == pytest.approx(quick.page, rel=0.3)
    assert quick.simulated.mean <= quick.simulated.p90
    assert 0 < quick.simulated.standard_error < quick.simulated.mean / 5
