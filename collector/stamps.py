"""Spell times as the store's columns take them."""

from __future__ import annotations

_LATEST_S = 4_102_444_799
"""End of 2099: what both DateTime and the partition keys can hold."""


def stamp(time_ns: int) -> str:
    """Write a time for a ``DateTime64(9)`` column: seconds since 1970, a dot, nine digits.

    Times before 1970 and after 2099, which only a broken clock sends, are moved to the
    nearest end of that range.
    """
    seconds, nanos = divmod(time_ns, 1_000_000_000)
    if seconds < 0:
        return "0000000000.000000000"
    if seconds > _LATEST_S:
        seconds, nanos = _LATEST_S, 0
    return f"{seconds:010d}.{nanos:09d}"


def seconds(time_ns: int) -> int:
    """Give a time for a ``DateTime`` column: whole seconds, moved into 1970..2099."""
    return min(max(time_ns // 1_000_000_000, 0), _LATEST_S)
