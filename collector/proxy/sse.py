"""Split a server-sent event stream into its events (HTML Living Standard, 9.2.6)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

import msgspec

from collector import loose_json
from collector.proxy.exchange import Json, fields, text

_BREAK = re.compile(rb"\r\n|\n|\r")
_BOM = b"\xef\xbb\xbf"


class Event(msgspec.Struct, frozen=True):
    """One event."""

    name: str
    """Its ``event`` field; empty when it has none."""
    data: bytes
    whole: bool = True
    """Whether the empty line came that ends it."""


class Told(msgspec.Struct, frozen=True):
    """What the events of a stream say."""

    events: list[tuple[str, dict[str, Json]]]
    """Kind and fields of each; ``DONE`` has none."""
    unread: int
    """How many were no JSON."""


DONE = "[DONE]"
"""The last event of some streams, which is no JSON."""


def events(stream: bytes) -> Iterator[Event]:
    """Yield the events of a stream.

    One at the end without its empty line counts too: some servers leave that out, and one that
    was cut off is no JSON.
    """
    name, data = "", list[bytes]()
    for line in _BREAK.split(stream.removeprefix(_BOM)):
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
    if data:
        yield Event(name, b"\n".join(data), whole=False)


def told(events: Iterable[Event]) -> Told:
    """Read the events; one that is not JSON tells nothing and is counted."""
    said: list[tuple[str, dict[str, Json]]] = []
    unread = 0
    for event in events:
        try:
            data = fields(loose_json.whole(event.data))
        except (msgspec.DecodeError, RecursionError):
            word = event.data.strip()
            if word == DONE.encode():
                said.append((DONE, {}))
            elif word:
                unread += event.whole
            continue
        said.append((text(data.get("type")) or event.name, data))
    return Told(said, unread)
