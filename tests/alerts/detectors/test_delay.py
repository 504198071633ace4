"""Test the forecast of detection delays."""

from __future__ import annotations

import math
import random

import pytest

from alerts.detectors.delay import expected, growth, simulated, smallest

MONTHS = 200.0 * 24 * 90
"""Ninety days of 200 conversations an hour."""


def test_the_best_bet_grows_by_the_divergence() -> None:
    """For a rate that is bet on, the growth is the Kullback-Leibler divergence to it."""
    worse = 1.6 * 0.1 / 0.9 / (1 + 1.6 * 0.1 / 0.9)
    kl = worse * math.log(worse / 0.1) + (1 - worse) * math.log((1 - worse) / 0.9)
    assert growth(0.1, worse) == pytest.approx(kl)
    assert growth(0.1, worse, overdispersion=3.0) == pytest.approx(kl / 3)


@pytest.mark.parametrize(
    ("null", "worse"),
    [(0.02, 0.04), (0.02, 0.1), (0.1, 0.15), (0.1, 0.3), (0.3, 0.4), (0.002, 0.05), (0.002, 0.5)],
)
def test_the_forecast_is_near_what_a_simulation_finds(null: float, worse: float) -> None:
    """The formula is between a tenth below and two fifths above the mean of simulated alarms."""
    rng = random.Random(31)  # noqa: S311 - repeatable, not secret
    times = simulated(rng, null, worse, threshold=MONTHS, runs=60)
    assert times == sorted(times)
    assert 0.9 <= expected(null, worse, threshold=MONTHS) / (sum(times) / len(times)) <= 1.4


def test_what_hardly_rises_is_hardly_ever_found() -> None:
    """A rate at the null, or between it and where the smallest bet gains, has no forecast."""
    for worse in (0.05, 0.1, 0.105):
        assert expected(0.1, worse, threshold=MONTHS) == math.inf
    assert expected(1.0, 1.0, threshold=MONTHS) == math.inf


def test_a_discount_takes_longer() -> None:
    """Overdispersion makes the same change take more conversations."""
    plain = expected(0.1, 0.2, threshold=MONTHS)
    assert expected(0.1, 0.2, threshold=MONTHS, overdispersion=2.0) > 1.5 * plain


def test_the_smallest_rate_found_in_time_is_found_just_in_time() -> None:
    """With fewer conversations only larger rates are found, and with a handful none is."""
    found = [smallest(0.1, observations=n, threshold=MONTHS) for n in (4_800.0, 480.0)]
    assert found[0] is not None
    assert found[1] is not None
    assert 0.1 < found[0] < found[1] < 0.2
    assert expected(0.1, found[1], threshold=MONTHS) == pytest.approx(480.0)
    assert smallest(0.1, observations=5.0, threshold=MONTHS) is None
