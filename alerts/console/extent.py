"""Know which agents there are and when they had traffic, and choose what time to show."""

from __future__ import annotations

from typing import Self

import msgspec

from alerts.console.parameters import RANGES, Period
from alerts.console.store import Query

_SQL = """
SELECT agent, environment, toUnixTimestamp64Nano(min(started)) AS first_ns,
  toUnixTimestamp64Nano(max(started)) AS last_ns
FROM conversations WHERE variant = 'production'
GROUP BY agent, environment ORDER BY last_ns DESC LIMIT 200"""

_SECOND = 1_000_000_000
_DAY_NS = 86_400 * _SECOND


class Who(msgspec.Struct, frozen=True, kw_only=True):
    """An agent in an environment."""

    agent: str
    environment: str
    first_ns: int = 0
    """Start of its first conversation."""
    last_ns: int = 0


class Extent(msgspec.Struct, frozen=True, kw_only=True):
    """When there was traffic, and whose."""

    who: list[Who] = []
    """The most recent first."""

    @classmethod
    def read(cls, query: Query) -> Self:
        """Read it from the store."""
        return cls(who=[Who(**row) for row in query(_SQL, {})])

    def of(self, agent: str, environment: str) -> Self:
        """Return the part of an agent and environment; empty means all."""
        return type(self)(
            who=[
                who
                for who in self.who
                if agent in {"", who.agent} and environment in {"", who.environment}
            ]
        )

    @property
    def first_ns(self) -> int:
        """Start of the first conversation; 0 when there is none."""
        return min((who.first_ns for who in self.who), default=0)

    @property
    def last_ns(self) -> int:
        """Start of the last conversation; 0 when there is none."""
        return max((who.last_ns for who in self.who), default=0)


def resolved(period: Period, extent: Extent, *, now_ns: int) -> Period:
    """Give a named range its beginning, and choose one where nothing is asked for.

    A range ends now, or with the last conversation when that is dated later. Without a choice
    it is the shortest that holds everything of the last day, or else one that holds anything.
    """
    if not period.name and period != Period():
        return period
    end = max(now_ns, extent.last_ns)
    name = period.name or _fitting(extent, end)
    seconds = RANGES[name]
    since = max(0, end - seconds * _SECOND) if seconds else 0
    return Period(name=name, since_ns=since)


def _fitting(extent: Extent, end_ns: int) -> str:
    if not extent.who:
        return "24h"
    if extent.last_ns > end_ns - _DAY_NS:
        names, oldest = ("1h", "6h"), extent.first_ns
        fallback = "24h"
    else:
        names, oldest = ("7d", "30d"), extent.last_ns
        fallback = "all"
    return next((name for name in names if oldest >= end_ns - RANGES[name] * _SECOND), fallback)
