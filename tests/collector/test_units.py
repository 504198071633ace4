"""Durations and sizes are read with their units."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from collector.units import format_duration, format_size, parse_duration, parse_size


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("250ms", 0.25), ("3s", 3), ("15m", 900), ("24h", 86400), ("30d", 2592000), ("1.5 h", 5400)],
)
def test_reads_every_unit_of_time(text: str, seconds: float) -> None:
    """A duration is a number and a unit."""
    assert parse_duration(text) == seconds


def test_reads_bare_numbers() -> None:
    """Without a unit a duration is seconds and a size is bytes."""
    assert parse_duration("7") == 7
    assert parse_size("512") == 512


@pytest.mark.parametrize(
    ("text", "size"),
    [("512KiB", 2**19), ("64MiB", 2**26), ("10MB", 10**7), ("4 gib", 2**32), ("1.5KiB", 1536)],
)
def test_reads_every_unit_of_size(text: str, size: int) -> None:
    """A size takes binary and decimal units, in any case."""
    assert parse_size(text) == size


@pytest.mark.parametrize("text", ["", "s", "-3s", "3 parsecs", "1e3s", "٣s", "3s 4s"])
def test_refuses_what_is_not_a_quantity(text: str) -> None:
    """What is neither a number nor a known unit is an error that shows the form."""
    with pytest.raises(ValueError, match="such as 250ms"):
        parse_duration(text)
    with pytest.raises(ValueError, match="such as 512KiB"):
        parse_size(text)


@given(st.integers(min_value=0, max_value=10**9))
def test_writes_what_it_reads(amount: int) -> None:
    """A written quantity reads back as the same quantity."""
    assert parse_duration(format_duration(amount / 1000)) == pytest.approx(amount / 1000)
    assert parse_size(format_size(amount)) == amount


def test_writes_the_largest_whole_unit() -> None:
    """A person reads 15m rather than 900s."""
    assert format_duration(900) == "15m"
    assert format_duration(0.25) == "250ms"
    assert format_duration(0) == "0s"
    assert format_size(64 * 2**20) == "64MiB"
