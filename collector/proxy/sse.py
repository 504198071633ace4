"""Split a server-sent event stream into its events (HTML Living Standard, 9.2.6)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

import msgspec

from collector.proxy.exchange import Json, fields, text

_BREAK = re.compile(rb"\r\n|\n|\r")
_BOM = b"\xef\xbb\xbf"


class Event(msgspec.Struct, frozen=True):
    """One event."""

    name: str
    """Its ``event`` field; empty when it has none."""
    data: bytes


def events(stream: bytes) -> Iterator[Event]:
    """Yield the events of a stream.

    One at the end without its empty line counts too: some servers leave that out, and one that
    was cut off is no JSON.
    """
    name, data = "", list[bytes]()
    for line in (*_BREAK.split(stream.removeprefix(_BOM)), b""):
        if not line:
            if data:
                yield Event(name, b"\n".join(data))
            name, data = "", []
            continue
        field, _, value = line.partition(b":")
        value = value.removeprefix(b" ")
        if field == b"data":
            data.append(value)
        elif field == b"event":
            name = value.decode(errors="replace")


def told(events: Iterable[Event]) -> Iterator[tuple[str, dict[str, Json]]]:
    """Yield each event's kind and fields; one that is not JSON tells nothing."""
    for event in events:
        try:
            data = fields(msgspec.json.decode(event.data))
        except (msgspec.DecodeError, RecursionError):
            continue
        yield text(data.get("type")) or event.name, data
