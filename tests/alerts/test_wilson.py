"""Test the interval of a share."""

from __future__ import annotations

import pytest

from alerts.wilson import wilson


@pytest.mark.parametrize(
    ("hits", "total", "low", "high"),
    [
        (0, 10, 0.0, 0.2775),
        (5, 10, 0.2366, 0.7634),
        (10, 10, 0.7225, 1.0),
        (1, 10, 0.0179, 0.4042),
        (0, 1, 0.0, 0.7935),
    ],
)
def test_known_intervals(hits: int, total: int, low: float, high: float) -> None:
    """The interval is the one of the published tables, and never leaves 0..1."""
    assert wilson(hits, total) == pytest.approx((low, high), abs=5e-5)


def test_more_cases_narrow_it() -> None:
    """The same share on more cases is known better."""
    few, many = wilson(3, 10), wilson(300, 1000)
    assert few[0] < many[0] < 0.3 < many[1] < few[1]


@pytest.mark.parametrize(("hits", "total"), [(0, 0), (2, 1), (-1, 5)])
def test_nonsense_is_refused(hits: int, total: int) -> None:
    """A share of nothing is not a number."""
    with pytest.raises(ValueError, match="not a share"):
        wilson(hits, total)
