"""Test how the demonstration is judged."""

from __future__ import annotations

from typing import Any

import pytest

from collector.demo.console import Change, Detail, Event
from collector.demo.dialogue import SECOND
from collector.demo.outcome import outcome_of

SWITCH = 1_790_000_000 * SECOND
MINUTE = 60 * SECOND


def event(
    minutes: float, kind: str = "fired", severity: str = "page", version: str = "2.4.0", **more: Any
) -> Event:
    """Make an event some minutes after the switch."""
    return Event(
        event_id=f"{minutes} {kind} {version}",
        kind=kind,
        slice="all",
        detail=Detail(
            agent="a",
            agent_version=version,
            scorer="false_success",
            severity=severity,
            evidence=10.0,
            threshold=5.0,
            reference_rate=0.01,
            traffic_ns=SWITCH + int(minutes * MINUTE),
            **more,
        ),
    )


def change(low: float, high: float) -> Change:
    """Make a change between two moments, in minutes after the switch."""
    ends = (SWITCH + int(minutes * MINUTE) for minutes in (low, (low + high) / 2, high))
    return Change(
        **dict(zip(("low_ns", "at_ns", "high_ns"), ends, strict=True)), observations=9, failures=4
    )


def judged(*events: Event, regression: bool = True) -> tuple[bool, str]:
    """Judge, and return the verdict and its words."""
    outcome = outcome_of(events, switch_ns=SWITCH, regression=regression)
    return outcome.good, " ".join(outcome.lines)


@pytest.mark.parametrize(
    ("low", "high", "says"), [(-3, 4, "contains"), (1, 4, "does NOT contain"), (-9, -1, "NOT")]
)
def test_a_page_after_the_switch_is_right(low: float, high: float, says: str) -> None:
    """It is good whether or not its interval contains the true time, which is said."""
    good, words = judged(event(0.1, "armed", ""), event(14, change=change(low, high)))
    assert good
    assert says in words
    assert "14 min" in words


def test_the_first_page_counts() -> None:
    """Of two at the same time the one that names a version is told of."""
    whole, part = event(5, version="", change=change(-9, -1)), event(5, change=change(-1, 1))
    later = event(9, change=change(-9, -1))
    assert "interval contains" in judged(later, whole, part)[1]


def test_a_page_before_the_switch_is_wrong() -> None:
    """Even if others fired after it."""
    assert not judged(event(-1, change=change(-3, -2)), event(5, change=change(-1, 1)))[0]


def test_no_page_is_wrong_where_something_is() -> None:
    """Tickets and what was learned are no pages."""
    assert not judged(event(1, severity="ticket"), event(-1, "armed", ""))[0]


def test_no_page_is_right_where_nothing_is() -> None:
    """Without the regression a page is wrong whenever it fires."""
    assert judged(event(-1, "armed", ""), regression=False)[0]
    assert not judged(event(100, change=change(-1, 1)), regression=False)[0]
