"""Test times and column lists."""

from __future__ import annotations

import pytest

from collector.stamps import seconds, stamp
from collector.stores.tables import TABLES


@pytest.mark.parametrize(
    ("time_ns", "text"),
    [
        (1_790_000_000_123_456_789, "1790000000.123456789"),
        (0, "0000000000.000000000"),
        (1, "0000000000.000000001"),
        (-5, "0000000000.000000000"),
        (2**64, "4102444799.000000000"),
    ],
)
def test_stamp(time_ns: int, text: str) -> None:
    """A time keeps its nanoseconds and stays inside what the columns hold."""
    assert stamp(time_ns) == text


def test_seconds_stay_inside_a_datetime_column() -> None:
    """Whole seconds are cut off and kept in range."""
    assert [seconds(t) for t in (-1, 1_999_999_999, 2**64)] == [0, 1, 4_102_444_799]


def test_the_head_is_written_after_its_parts() -> None:
    """Whoever sees an episode's head sees its verdicts and content."""
    order = list(TABLES)
    assert order.index("conversations") > max(
        order.index(t) for t in ("turns", "tool_calls", "scores", "decisions")
    )


def test_no_observation_is_written_before_its_head() -> None:
    """An episode without a head is decided again by another instance, and then observed by it."""
    order = list(TABLES)
    assert order.index("observations") > order.index("conversations")
