"""Read what a request asks for from its query string."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime

import msgspec

from collector.errors import MalformedError

RANGES = {
    "1h": 3_600,
    "6h": 6 * 3_600,
    "24h": 86_400,
    "7d": 7 * 86_400,
    "30d": 30 * 86_400,
    "all": 0,
}
"""Time ranges by name, in seconds; 0 is without a beginning."""
LONGEST = 1024
"""Characters of a parameter; longer ones fit nothing that is stored."""
END_NS = 4_102_444_799_000_000_000
"""End of 2099: nothing is later."""


class Period(msgspec.Struct, frozen=True, kw_only=True):
    """A stretch of the conversations' own time."""

    name: str = ""
    """One of ``RANGES``; empty when not chosen by name."""
    since_ns: int = 0
    until_ns: int = END_NS
    """The moment after the last one."""

    def parameters(self) -> dict[str, int]:
        """Return what a query that is bounded by ``within`` takes."""
        return {"since": self.since_ns, "until": self.until_ns}


def text_of(query: Mapping[str, str], name: str, default: str = "") -> str:
    """Return a text.

    Raises:
        MalformedError: it is longer than anything that is stored.
    """
    text = query.get(name, default)
    if len(text) > LONGEST:
        raise MalformedError(f"{name}: at most {LONGEST} characters")
    return text


def choice_of(query: Mapping[str, str], name: str, choices: tuple[str, ...], default: str) -> str:
    """Return one of some words.

    Raises:
        MalformedError: it is another word.
    """
    text = query.get(name, default)
    if text not in choices:
        raise MalformedError(f"{name}: one of {', '.join(c or 'nothing' for c in choices)}")
    return text


def number_of(query: Mapping[str, str], name: str, *, default: int, most: int) -> int:
    """Return a whole number from 0 to ``most``.

    Raises:
        MalformedError: it is none.
    """
    text = query.get(name, "")
    if not text:
        return default
    if not (text.isascii() and text.isdigit() and len(text) <= 12 and int(text) <= most):
        raise MalformedError(f"{name}: a whole number from 0 to {most}")
    return int(text)


def time_of(query: Mapping[str, str], name: str) -> int | None:
    """Return a time in Unix nanoseconds; ``None`` when it is not given.

    ISO 8601 (UTC where no offset is given), Unix seconds and Unix nanoseconds are understood.

    Raises:
        MalformedError: it is none of them, or outside 1970..2099.
    """
    text = query.get(name, "").strip()
    if not text:
        return None
    try:
        if text.isascii() and text.isdigit() and len(text) <= 19:
            found = int(text) if len(text) > 12 else int(text) * 1_000_000_000
        else:
            moment = datetime.fromisoformat(text.replace(" ", "+", 1) if "T" in text else text)
            if moment.tzinfo is None:
                moment = moment.replace(tzinfo=UTC)
            found = int(moment.timestamp()) * 1_000_000_000 + moment.microsecond * 1_000
    except (ValueError, OverflowError):
        found = -1
    if not 0 <= found <= END_NS:
        raise MalformedError(f"{name}: a time such as 2026-11-30T10:15 (UTC) or Unix seconds")
    return found


def period_of(query: Mapping[str, str]) -> Period:
    """Return the stretch of time: ``range``, or ``since`` and ``until``; empty when none is given.

    Raises:
        MalformedError: a time or a range is none.
    """
    since, until = time_of(query, "since"), time_of(query, "until")
    name = choice_of(query, "range", ("", *RANGES), "")
    if since is not None or until is not None:
        name = ""
    period = Period(
        name=name,
        since_ns=0 if since is None else since,
        until_ns=END_NS if until is None else until,
    )
    if period.since_ns >= period.until_ns:
        raise MalformedError("since: must be before until")
    return period
