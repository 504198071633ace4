"""Runs are summed up by their median and range."""

import pytest

from bench.figures import quantile, ratios, spread


def test_a_spread_is_the_median_with_its_range() -> None:
    """The median stands between the lowest and the highest run."""
    found = spread([3.0, 1.0, 10.0])
    assert found is not None
    assert (found.median, found.low, found.high, found.runs) == (3.0, 1.0, 10.0, 3)


def test_nothing_has_no_spread() -> None:
    """No run, no figure."""
    assert spread([]) is None


@pytest.mark.parametrize(("share", "value"), [(0.5, 50), (0.99, 99), (1.0, 100), (0.0, 1)])
def test_a_quantile_is_a_value_that_was_measured(share: float, value: float) -> None:
    """It is the smallest value that the share does not exceed."""
    assert quantile([float(n) for n in range(100, 0, -1)], share) == value


def test_a_quantile_of_nothing_is_nought() -> None:
    """No values, no quantile."""
    assert quantile([], 0.5) == 0.0


def test_ratios_are_taken_pair_by_pair() -> None:
    """A slow round slows both of a pair, so each is compared with its own; 0 compares with nothing."""
    found = ratios([(10.0, 1.0), (30.0, 10.0), (1.0, 0.0)])
    assert found is not None
    assert (found.low, found.high, found.runs) == (3.0, 10.0, 2)
