"""Read back what the detectors said: the table ``alert_events``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from alerts.console.parameters import text_of
from alerts.console.store import Query, Row
from alerts.stream_view import AlertDetail, AlertEvent, StreamView
from collector.errors import MalformedError

MOST = 500
"""Events on one page at most."""

# Notes about who was told of an event stand in the same table.
_SQL = """
SELECT event_id, toUnixTimestamp64Nano(at) AS at_ns, kind, stream, slice, detail
FROM alert_events
WHERE (toUnixTimestamp64Nano(at), event_id) < ({before:Int64}, {before_id:String})
  AND kind NOT IN ('delivered', 'undeliverable')
ORDER BY at DESC, event_id DESC
LIMIT 1 BY event_id
LIMIT {limit:UInt32}"""

FROM_THE_END = (2**63 - 1, "")
"""The place before which everything lies."""


class Page(msgspec.Struct, frozen=True, kw_only=True):
    """Some events, newest first."""

    events: tuple[AlertEvent, ...] = ()
    unreadable: int = 0
    """Events that another version of Outrider wrote, which this one cannot read."""
    cursor: tuple[int, str] | None = None
    """Where the next page begins; ``None`` on the last one."""


class AlarmsAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """The answer of ``/v1/alarms``."""

    streams: Sequence[StreamView]
    events: Sequence[AlertEvent]
    """Newest first."""
    loaded: bool = True
    """Whether the streams are known; after a start their state is read from the store first."""
    note: str = ""
    """What is missing, and why."""


def read_events(query: Query, *, limit: int, before: tuple[int, str] = FROM_THE_END) -> Page:
    """Read the newest events before a place."""
    rows = query(_SQL, {"before": before[0], "before_id": before[1], "limit": limit + 1})
    shown = rows[:limit]
    events = [_event(row) for row in shown]
    last = shown[-1] if len(rows) > limit else None
    return Page(
        events=tuple(event for event in events if event is not None),
        unreadable=sum(event is None for event in events),
        cursor=None if last is None else (last["at_ns"], last["event_id"]),
    )


def place_of(query: Mapping[str, str]) -> tuple[int, str]:
    """Read the place before which the events of a page lie.

    Raises:
        MalformedError: it is no place.
    """
    cursor = text_of(query, "cursor")
    if not cursor:
        return FROM_THE_END
    stamp, _, event_id = cursor.partition("-")
    if not (stamp.isascii() and stamp.isdigit() and len(stamp) <= 19):
        raise MalformedError("cursor: take it from the page before")
    return int(stamp), event_id


def _event(row: Row) -> AlertEvent | None:
    try:
        detail = msgspec.json.decode(row.pop("detail"), type=AlertDetail)
        return msgspec.convert({**row, "detail": detail}, AlertEvent)
    except msgspec.MsgspecError:
        return None
