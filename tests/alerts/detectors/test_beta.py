"""Test the quantiles of the Beta distribution against closed forms."""

from __future__ import annotations

import math

import pytest

from alerts.detectors.beta import incomplete, quantile


@pytest.mark.parametrize("probability", [0.01, 0.5, 0.9, 0.999])
@pytest.mark.parametrize("a", [0.5, 1.0, 7.0, 900.0])
def test_a_power_has_a_closed_form(probability: float, a: float) -> None:
    """The quantile of Beta(a, 1) is the probability's a-th root, that of Beta(1, a) its mirror."""
    assert quantile(probability, a, 1.0) == pytest.approx(probability ** (1 / a), abs=1e-12)
    assert quantile(probability, 1.0, a) == pytest.approx(
        1 - (1 - probability) ** (1 / a), abs=1e-12
    )


@pytest.mark.parametrize(("k", "n"), [(1, 5), (3, 10), (20, 1_000), (99, 100)])
@pytest.mark.parametrize("x", [0.001, 0.02, 0.3, 0.9])
def test_whole_parameters_are_a_binomial_tail(k: int, n: int, x: float) -> None:
    """I_x(k, n - k + 1) is the chance of k or more successes in n tries."""
    tail = sum(math.comb(n, i) * x**i * (1 - x) ** (n - i) for i in range(k, n + 1))
    assert incomplete(x, k, n - k + 1) == pytest.approx(tail, rel=1e-9, abs=1e-300)


def test_the_quantile_inverts_the_distribution() -> None:
    """What lies below a quantile is its probability, from rare failures to frequent ones."""
    for a, b in ((0.5, 1_000.5), (20.5, 980.5), (500.5, 500.5), (33_000.5, 600.5)):
        for probability in (0.05, 0.5, 0.9, 0.99):
            assert incomplete(quantile(probability, a, b), a, b) == pytest.approx(probability)


def test_the_ends_are_certain() -> None:
    """Nothing lies below 0 or above 1."""
    assert incomplete(0.0, 2.0, 3.0) == 0.0
    assert incomplete(1.0, 2.0, 3.0) == 1.0
