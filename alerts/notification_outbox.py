"""Find the alarms that nobody was told of yet, and note those that somebody was.

The store is the outbox: what was delivered, or given up, is an event of its own about the
alarm, so that a restart knows it and a console can show it.
"""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

import msgspec

from alerts.incident import Query
from alerts.stream_view import AlertDetail, AlertEvent, Severity
from collector.stamps import stamp

_LOG = logging.getLogger(__name__)

LIMIT = 200
"""Alarms looked at in one round; the oldest come first."""

# An alarm's end needs the beginning it belongs to, which may be much older.
_SQL = """
WITH settled AS (
  SELECT JSONExtractString(detail, 'of') AS of, kind FROM alert_events
  WHERE kind IN ('delivered', 'undeliverable')
    AND JSONExtractString(detail, 'channel') = {channel:String}
),
fired AS (
  SELECT event_id, stream, slice, JSONExtractString(detail, 'severity') AS severity, at
  FROM alert_events WHERE kind = 'fired'
)
SELECT event_id, kind, stream, slice, detail, toUnixTimestamp64Nano(at) AS at_ns,
       fired_id, fired_id IN (SELECT of FROM settled WHERE kind = 'delivered') AS told,
       fired_id IN (SELECT of FROM settled WHERE kind = 'undeliverable') AS given_up
FROM (
  SELECT e.event_id AS event_id, any(e.kind) AS kind, any(e.stream) AS stream,
         any(e.slice) AS slice, any(e.detail) AS detail, any(e.at) AS at,
         if(any(e.kind) = 'fired', '', argMaxIf(f.event_id, (f.at, f.event_id), f.at <= e.at))
           AS fired_id
  FROM (
    SELECT *, JSONExtractString(detail, 'severity') AS severity FROM alert_events
    WHERE kind IN ('fired', 'cleared')
      AND at >= fromUnixTimestamp64Nano({since:Int64}, 'UTC')
      AND JSONExtractString(detail, 'severity') IN {severities:Array(String)}
      AND event_id NOT IN (SELECT of FROM settled)
  ) AS e
  LEFT JOIN fired AS f ON f.stream = e.stream AND f.slice = e.slice AND f.severity = e.severity
  GROUP BY e.event_id
)
WHERE kind = 'fired' OR (fired_id != '' AND NOT given_up)
ORDER BY at, kind = 'cleared', event_id
LIMIT {limit:UInt32}
"""

Write = Callable[[Mapping[str, Sequence[Sequence[Any]]]], None]
"""Insert rows by table, durably; raises ``OutriderError``."""

Settled = Literal["delivered", "undeliverable"]


class Untold(msgspec.Struct, frozen=True, kw_only=True):
    """An alarm, or its end, that is yet to be told."""

    event: AlertEvent
    beginning: str = ""
    """Of an end: the event that it ends."""
    told: bool = True
    """Of an end: whether its beginning was delivered; until then it waits."""


class Settlement(msgspec.Struct, frozen=True, kw_only=True):
    """The detail of an event that says an alarm was delivered or given up."""

    of: str
    """The alarm's event id."""
    channel: str
    why: str = ""
    """The last answer, where it was given up."""


class NotificationOutbox:
    """Read and settle the alarms of one channel.

    Args:
        query: reads the store.
        write: inserts rows durably.
        channel: name of the channel.
        severity: the least that is told.
    """

    def __init__(
        self, query: Query, write: Write, *, channel: str, severity: Severity = "page"
    ) -> None:
        self._query = query
        self._write = write
        self._channel = channel
        self._severities = ["page"] if severity == "page" else ["page", "ticket"]
        self._unwritten: list[Sequence[Any]] = []
        self._settled: set[str] = set()
        self._delivered: set[str] = set()

    def untold(self, since_ns: int) -> list[Untold]:
        """Return what is to be told and happened since then, the oldest first.

        The end of an alarm that was given up, or that began before anybody was to be told, is
        not among them.

        Raises:
            OutriderError: the store did not answer.
        """
        self.flush()
        rows = self._query(
            _SQL,
            {
                "channel": self._channel,
                "severities": self._severities,
                "since": max(0, since_ns),
                "limit": LIMIT,
            },
        )
        fresh = [row for row in rows if row["event_id"] not in self._settled]
        found = [item for row in fresh if (item := self._untold(row)) is not None]
        waiting = {item.event.event_id for item in found}
        return [item for item in found if item.told or item.beginning in waiting]

    def settle(self, item: Untold, result: Settled, *, at_ns: int, why: str = "") -> None:
        """Note, durably, that an alarm needs no telling any more.

        While the store refuses, this process remembers it and tries again by and by; should
        it end before, the alarm is told once more, under the same id.
        """
        event = item.event
        self._settled.add(event.event_id)
        if result == "delivered":
            self._delivered.add(event.event_id)
        name = hashlib.sha256(f"{event.event_id}\x1f{self._channel}\x1f{result}".encode())
        detail = Settlement(of=event.event_id, channel=self._channel, why=why)
        text = msgspec.json.encode(detail).decode()
        row = (name.hexdigest()[:32], stamp(at_ns), result, event.stream, event.slice, text)
        self._unwritten.append(row)

    def flush(self) -> None:
        """Write what was settled.

        Raises:
            OutriderError: the store did not take it; it is kept for the next time.
        """
        if self._unwritten:
            self._write({"alert_events": self._unwritten})
            self._unwritten = []

    def _untold(self, row: Mapping[str, Any]) -> Untold | None:
        try:
            detail = msgspec.json.decode(row["detail"], type=AlertDetail)
        except msgspec.DecodeError:
            # Written by another release; the others must not wait for it.
            _LOG.warning("alert event %s cannot be read and is not told", row["event_id"])
            return None
        return Untold(
            event=AlertEvent(
                event_id=row["event_id"],
                at_ns=row["at_ns"],
                kind=row["kind"],
                stream=row["stream"],
                slice=row["slice"],
                detail=detail,
            ),
            beginning=row["fired_id"],
            told=row["kind"] == "fired" or bool(row["told"]) or row["fired_id"] in self._delivered,
        )
