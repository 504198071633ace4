"""Judge the demonstration itself: did the alarm fire when it should, and only then?"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from collector.demo.console import Event
from collector.demo.screen import lasting, moment


class Outcome(msgspec.Struct, frozen=True, kw_only=True):
    """What became of it."""

    good: bool
    lines: tuple[str, ...]
    """Why, in words."""


def outcome_of(events: Sequence[Event], *, switch_ns: int, regression: bool) -> Outcome:
    """Judge by the pages that fired; tickets come sooner and may be wrong now and then.

    Args:
        events: what the detectors said, in any order.
        switch_ns: when the new version went live.
        regression: whether it is worse than the old one.
    """
    fired = [e for e in events if e.kind == "fired" and e.detail.severity == "page"]
    pages = sorted(fired, key=_order)
    early = [page for page in pages if page.detail.traffic_ns < switch_ns]
    if early:
        when = moment(early[0].detail.traffic_ns)
        return _bad(f"{early[0].detail.scorer} fired at {when}, before anything was wrong.")
    if not regression:
        if pages:
            return _bad(f"{pages[0].detail.scorer} fired, though nothing was wrong.")
        return Outcome(good=True, lines=("No page fired, and nothing was wrong.",))
    if not pages:
        return _bad("No page fired, though the new version was worse.")
    return Outcome(good=True, lines=tuple(_told(pages[0], switch_ns)))


def _order(event: Event) -> tuple[int, bool]:
    """Order by time; of two at once the one that names a version says more."""
    return event.detail.traffic_ns, not event.detail.agent_version


def _told(page: Event, switch_ns: int) -> list[str]:
    detail, change = page.detail, page.detail.change
    later = lasting(detail.traffic_ns - switch_ns)
    lines = [f"The new version went live at {clock(switch_ns)}; the first page came {later} later."]
    if change is not None:
        holds = change.low_ns <= switch_ns <= change.high_ns
        lines.append(
            f"Its change lies between {clock(change.low_ns)} and {clock(change.high_ns)}, most"
            f" likely at {clock(change.at_ns)}: the interval"
            f" {'contains' if holds else 'does NOT contain'} the true time."
        )
    return lines


def clock(at_ns: int) -> str:
    """Write a moment to the second."""
    return f"{moment(at_ns)}:{at_ns // 1_000_000_000 % 60:02d}"


def _bad(text: str) -> Outcome:
    return Outcome(good=False, lines=(text,))
