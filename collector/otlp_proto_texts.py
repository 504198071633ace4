"""Mend protobuf requests in which a text is not UTF-8, because somebody cut it inside a character.

Protobuf refuses the whole request for it, and with it every span beside. SDKs that count a
limit in bytes write such texts, and collectors pass them on as they are.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from collector.otlp_bounds import (
    BOUNDS,
    LENGTH_DELIMITED,
    LEVELS,
    SCALARS,
    Bounds,
    Level,
    beyond,
    varint,
)

_TEXTS: dict[str, frozenset[int]] = {
    "resource spans": frozenset({3}),
    "resource logs": frozenset({3}),
    "scope spans": frozenset({3}),
    "scope logs": frozenset({3}),
    "scope": frozenset({1, 2}),
    "span": frozenset({3, 5}),
    "status": frozenset({2}),
    "event": frozenset({2}),
    "link": frozenset({3}),
    "record": frozenset({3, 12}),
    "pair": frozenset({1}),
    "value": frozenset({1}),
    "entity": frozenset({1, 2, 3, 4}),
}
"""Fields that hold text, by the message they stand in."""
_STATUS = {15: "status"}
"""What spans hold beside entries, which the bounds do not count."""
_BYTES = re.compile("[\udc80-\udcff]")
_UNKNOWN = "?"
"""In place of each byte that is no character, so that no length changes."""


def mended(signal: str, body: bytes, bounds: Bounds = BOUNDS) -> bytes | None:
    """Return the request with every text made UTF-8, whatever else is wrong with it.

    ``None`` when every text is, or when there are more fields than anybody looks at.
    """
    places = [place for place in _texts(signal, body, bounds.fields) if not _is_text(body, place)]
    if not places:
        return None
    found = bytearray(body)
    for place in places:
        found[place] = _BYTES.sub(_UNKNOWN, body[place].decode(errors="surrogateescape")).encode()
    return bytes(found)


def _texts(name: str, body: bytes, fields: int) -> Iterator[slice]:
    """Yield where the texts of a request are, up to where its bytes stop making sense."""
    at, end = 0, len(body)
    above: list[tuple[str, int]] = []
    for _ in range(fields):
        while at >= end:
            if at > end or not above:
                return
            name, end = above.pop()
        tag, at = varint(body, at)
        kind, field = tag & 7, tag >> 3
        if kind in SCALARS:
            at = beyond(body, at, kind)
            continue
        if kind != LENGTH_DELIMITED:
            return
        length, at = varint(body, at)
        if at + length > end:
            return
        below = _below(name, field)
        if below:
            above.append((name, end))
            name, end = below, at + length
            continue
        if field in _TEXTS.get(name, ()):
            yield slice(at, at + length)
        at += length


def _is_text(body: bytes, place: slice) -> bool:
    try:
        body[place].decode()
    except UnicodeDecodeError:
        return False
    return True


def _below(name: str, field: int) -> str:
    if name == "span" and field in _STATUS:
        return _STATUS[field]
    level: Level = LEVELS.get(name, {})
    return level.get(field, "")
