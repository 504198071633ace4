"""Test that mistakes come up as often as they should."""

from __future__ import annotations

import random
from collections import Counter

import pytest

from collector.demo.intents import INTENTS
from collector.demo.mistakes import (
    BROKEN_VERSION,
    HEALTHY_VERSION,
    RATES,
    Mistake,
    Mistakes,
    Regression,
)

N = 40_000


def drawn(version: str, regression: Regression | None) -> Counter[Mistake]:
    """Draw the mistakes of many conversations; shares of all of them."""
    shares = {one.name: one.share for one in INTENTS}
    mistakes = Mistakes({o.name: o.mistakes for o in INTENTS}, shares, regression=regression)
    rng = random.Random(3)  # noqa: S311 - repeatable, not secret
    intents = rng.choices(list(shares), weights=list(shares.values()), k=N)
    return Counter(mistakes.draw(intent, version, rng) for intent in intents)


def test_intents_are_all_of_the_traffic() -> None:
    """The shares sum to one, and refunds are a third."""
    assert sum(one.share for one in INTENTS) == pytest.approx(1.0)
    assert next(one.share for one in INTENTS if one.name == "refund") == pytest.approx(0.33)


@pytest.mark.parametrize(
    ("version", "regression"), [(HEALTHY_VERSION, Regression()), (BROKEN_VERSION, None)]
)
def test_healthy_rates(version: str, regression: Regression | None) -> None:
    """The healthy version, and the new one without its regression, err at the planned rates."""
    found = drawn(version, regression)
    for mistake, rate in RATES.items():
        assert found[mistake] / N == pytest.approx(rate, abs=0.003)


def test_the_regression() -> None:
    """The broken version claims refunds and repeats calls."""
    found = drawn(BROKEN_VERSION, Regression())
    assert found["false_success"] / N == pytest.approx(0.33 * 0.85, abs=0.02)
    assert 0.10 < found["looping"] / N < 0.16
    others = (m for m in RATES if m not in ("false_success", "looping"))
    assert all(found[mistake] / N < 0.02 for mistake in others)
