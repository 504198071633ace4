"""Write numbers, times and names as a person reads them."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from urllib.parse import quote, urlencode

from alerts.detectors.evidence import CAP

_SECOND = 1_000_000_000
_THIN = "\u202f"
"""Narrow space that does not break, between a number and its unit."""
_CONTROLS = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")


def readable(text: str) -> str:
    """Show control characters, which HTML cannot carry, as a sign of their own."""
    return _CONTROLS.sub(
        lambda match: chr(0x2400 + ord(match[0])) if ord(match[0]) < 0x20 else "\ufffd", text
    )


def percent(share: float) -> str:
    """Write a share, with two digits where it is small."""
    value = share * 100
    if 0 < value < 0.01:
        return f"<0.01{_THIN}%"
    digits = 0 if value >= 10 or value == 0 else 1 if value >= 0.995 else 2
    return f"{value:.{digits}f}{_THIN}%"


def interval(low: float, high: float) -> str:
    """Write the interval of a share."""
    first, last = percent(low), percent(high)
    return f"{first.removesuffix(f'{_THIN}%')}\u2013{last}"


def count(number: float) -> str:
    """Write a whole number."""
    return f"{number:,.0f}"


def evidence(number: float) -> str:
    """Write a detector's evidence or threshold, which may be very large."""
    if number < 10:
        return f"{number:.2g}"
    for unit in ("", "K", "M", "G"):
        if number < 999.5:
            return f"{number:.3g}{_THIN}{unit}".strip(_THIN)
        number /= 1_000
    return f"{number:.3g}{_THIN}T"


def measured(number: float, threshold: float) -> str:
    """Write evidence, and say where it is no measurement because it may not grow any more."""
    most = CAP * threshold
    if threshold <= 0 or number < 0.999 * most:
        return evidence(number)
    return f"over {evidence(most)} (capped)"


def between(low_ns: int, high_ns: int, near_ns: int) -> str:
    """Write an interval of time in brackets; nothing where it is shorter than a minute can show."""
    low, high = clock(low_ns, near_ns), clock(high_ns, near_ns)
    return "" if low == high else f"({low}\u2013{high})"


def moment(time_ns: int) -> str:
    """Write a date and time; an em dash for none."""
    return f"{_at(time_ns):%Y-%m-%d %H:%M:%S}" if time_ns > 0 else "—"


def to_the_second(time_ns: int) -> str:
    """Write the time of day with its seconds."""
    return f"{_at(time_ns):%H:%M:%S}"


def iso(time_ns: int) -> str:
    """Write a time for machines."""
    return f"{_at(time_ns):%Y-%m-%dT%H:%M:%SZ}"


def clock(time_ns: int, near_ns: int = 0) -> str:
    """Write the time of day, with the date unless it is that of another time."""
    at = _at(time_ns)
    same = near_ns and _at(near_ns).date() == at.date()
    return f"{at:%H:%M}" if same else f"{at.day} {at:%b %H:%M}"


def duration(seconds: float | None) -> str:
    """Write how long something took; an em dash when it is not known."""
    if seconds is None or seconds < 0:
        return "—"
    if seconds < 0.0995:
        return (
            f"{seconds * 1e3:.2g}{_THIN}ms" if seconds < 0.01 else f"{seconds * 1e3:.0f}{_THIN}ms"
        )
    if seconds < 10:
        return f"{seconds:.1f}{_THIN}s"
    if seconds < 120:
        return f"{seconds:.0f}{_THIN}s"
    minutes = seconds / 60
    if minutes < 120:
        return f"{minutes:.0f}{_THIN}min"
    hours = minutes / 60
    return f"{hours:.0f}{_THIN}h" if hours < 72 else f"{hours / 24:.0f}{_THIN}days"


def size(number: int) -> str:
    """Write a number of bytes."""
    value = float(number)
    for unit in ("B", "KB", "MB"):
        if value < 1_000:
            return f"{value:.0f}{_THIN}{unit}" if unit == "B" else f"{value:.1f}{_THIN}{unit}"
        value /= 1_000
    return f"{value:.1f}{_THIN}GB"


def href(path: str, **parameters: object) -> str:
    """Write the URL of a page of ours; parameters that are empty are left out."""
    kept = {key: value for key, value in parameters.items() if value not in {"", None}}
    return f"{path}?{urlencode(kept, errors='replace')}" if kept else path


def conversation_href(episode_id: str, **parameters: object) -> str:
    """Write the URL of a conversation's page."""
    return href(f"/conversations/{quote(episode_id, safe='', errors='replace')}", **parameters)


def _at(time_ns: int) -> datetime:
    return datetime.fromtimestamp(time_ns // _SECOND, UTC)
