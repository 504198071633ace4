"""Test how requests are read."""

from __future__ import annotations

import pytest

from alerts.console.parameters import END_NS, Period, number_of, period_of, text_of, time_of
from collector.errors import MalformedError

NS = 1_000_000_000


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", None),
        ("1790000000", 1_790_000_000 * NS),
        ("1790000000123456789", 1_790_000_000_123_456_789),
        ("2026-09-21T13:46:40", 1_789_998_400 * NS),
        ("2026-09-21T13:46:40Z", 1_789_998_400 * NS),
        ("2026-09-21T15:46:40+02:00", 1_789_998_400 * NS),
        ("2026-09-21T15:46:40 02:00", 1_789_998_400 * NS),
        ("2026-09-21", 1_789_948_800 * NS),
        ("1970-01-01", 0),
    ],
)
def test_times(text: str, expected: int | None) -> None:
    """ISO times, seconds and nanoseconds are understood, also where a plus sign became a space."""
    assert time_of({"since": text}, "since") == expected


@pytest.mark.parametrize("text", ["soon", "-5", "1e9", "9" * 19, "9" * 30, "0001-01-01", "12:30"])
def test_what_is_no_time(text: str) -> None:
    """Anything else, and what lies outside 1970 to 2099, is refused with an example."""
    with pytest.raises(MalformedError, match="since: a time such as"):
        time_of({"since": text}, "since")


def test_periods() -> None:
    """A period is named or given by its ends, which win over the name."""
    assert period_of({}) == Period()
    assert period_of({"range": "7d"}).name == "7d"
    given = period_of({"range": "7d", "since": "5", "until": "9"})
    assert (given.name, given.since_ns, given.until_ns) == ("", 5 * NS, 9 * NS)
    assert period_of({"until": "9"}).parameters() == {"since": 0, "until": 9 * NS}
    assert period_of({"since": "9"}).until_ns == END_NS


@pytest.mark.parametrize("query", [{"range": "2h"}, {"since": "9", "until": "9"}])
def test_what_is_no_period(query: dict[str, str]) -> None:
    """An unknown name and an empty stretch of time are refused."""
    with pytest.raises(MalformedError):
        period_of(query)


@pytest.mark.parametrize("text", ["-1", "201", "x", "1.5", "\u0663", "9" * 40])
def test_what_is_no_number(text: str) -> None:
    """Only whole numbers in their bounds are numbers."""
    assert number_of({}, "limit", default=50, most=200) == 50
    with pytest.raises(MalformedError, match="limit"):
        number_of({"limit": text}, "limit", default=50, most=200)


def test_endless_texts() -> None:
    """A text longer than anything stored is refused."""
    assert text_of({"agent": "a" * 1024}, "agent") == "a" * 1024
    with pytest.raises(MalformedError, match="agent"):
        text_of({"agent": "a" * 1025}, "agent")
