"""Bound how many entries one export request may hold, before anything is made of them.

Two bytes can describe a resource, a span or an attribute, so a body within the limits of size
could still ask for millions of objects. A request is let through when the bytes that could begin an
entry are few, which takes about a nanosecond a byte; else its structure is walked, up to the limits.
"""

from __future__ import annotations

import re
from itertools import islice

import msgspec

from collector.errors import MalformedError, OversizedError


class Bounds(msgspec.Struct, frozen=True, kw_only=True):
    """Limits on one request."""

    groups: int = 200_000
    """Resources, scopes, spans and log records together; senders send thousands."""
    entries: int = 1_000_000
    """All entries: groups, events, links, attributes and their values."""
    fields: int = 2_000_000
    """Fields looked at before a request is given up."""


BOUNDS = Bounds()

Level = dict[int, str]
LEVELS: dict[str, Level] = {
    "traces": {1: "resource spans"},
    "logs": {1: "resource logs"},
    "resource spans": {1: "resource", 2: "scope spans"},
    "resource logs": {1: "resource", 2: "scope logs"},
    "resource": {1: "pair", 3: "entity"},
    "scope spans": {1: "scope", 2: "span"},
    "scope logs": {1: "scope", 2: "record"},
    "scope": {3: "pair"},
    "span": {9: "pair", 11: "event", 13: "link"},
    "event": {3: "pair"},
    "link": {4: "pair"},
    "record": {5: "value", 6: "pair"},
    "pair": {2: "value"},
    "value": {5: "list", 6: "map"},
    "list": {1: "value"},
    "map": {1: "pair"},
    "entity": {},
}
"""Messages of OTLP by field number; what is not listed holds no entries."""
_GROUPS = frozenset(
    {"resource spans", "resource logs", "scope spans", "scope logs", "span", "record"}
)

# The tag of a link's attributes is the quotation mark, of which texts are full; it is counted apart.
_TAGS = {number << 3 | 2 for level in LEVELS.values() for number in level} - {ord('"')}
# A tag may be written longer than it must be; then its first byte has the high bit set.
_NO_TAGS = bytes(set(range(256)) - _TAGS - {tag | 0x80 for tag in _TAGS} - {0xA2})
_LINK_PAIR = re.compile(rb'"[^\x20-\x7f]')
"""A link's attribute, but for those of 32 bytes and more, of which few have room."""
_TEXT = re.compile(rb'"(?:[^"\\]++|\\.)*+"?', re.DOTALL)
LENGTH_DELIMITED = 2
_SIZES = {1: 8, 5: 4}
"""Bytes of a field by its wire type."""
SCALARS = frozenset({0, *_SIZES})
"""Wire types of numbers."""
_VARINT_BYTES = 10


def check_proto(signal: str, body: bytes, bounds: Bounds = BOUNDS) -> None:
    """Refuse a protobuf request of too many entries.

    Bytes that are no protobuf are left for the decoder to refuse.

    Raises:
        OversizedError: It has too many.
        MalformedError: It uses groups, which OTLP has none of.
    """
    if len(body) > 2 * bounds.groups and _possible(body, bounds.groups) > bounds.groups:
        _walk(body, LEVELS[signal], bounds)


def check_json(body: bytes, bounds: Bounds = BOUNDS) -> None:
    """Refuse a JSON request of too many entries, each of which is an object.

    Raises:
        OversizedError: It has too many.
    """
    if body.count(b"{") > bounds.entries:
        _check_entries(_TEXT.sub(b"", body).count(b"{"), bounds)


def check_groups(count: int, bounds: Bounds = BOUNDS) -> None:
    """Refuse too many resources, scopes, spans and log records.

    Raises:
        OversizedError: There are too many.
    """
    if count > bounds.groups:
        raise OversizedError(
            f"the request has more than {bounds.groups} resources, scopes, spans and log records;"
            " send smaller batches"
        )


def _check_entries(count: int, bounds: Bounds) -> None:
    if count > bounds.entries:
        raise OversizedError(
            f"the request has more than {bounds.entries} attributes and other entries;"
            " send smaller batches"
        )


def _possible(body: bytes, enough: int) -> int:
    """Return at least how many short entries there can be, or some number over ``enough``."""
    found = len(body.translate(None, _NO_TAGS))
    pairs = islice(_LINK_PAIR.finditer(body), max(0, enough + 1 - found))
    return found + sum(1 for _ in pairs)


def _walk(body: bytes, level: Level, bounds: Bounds) -> None:
    """Count what stands in a request; end where the bytes stop making sense.

    Raises:
        OversizedError: There are too many entries or fields.
        MalformedError: There are groups.
    """
    at, end = 0, len(body)
    groups = entries = 0
    above: list[tuple[Level, int]] = []
    for _ in range(bounds.fields):
        while at >= end:
            if at > end or not above:
                return
            level, end = above.pop()
        tag = body[at]
        at += 1
        if tag > 0x7F:
            tag, at = varint(body, at - 1)
        if tag & 7 != LENGTH_DELIMITED:
            at = beyond(body, at, tag & 7)
            continue
        length, at = varint(body, at)
        name = level.get(tag >> 3)
        if name is None:
            at += length
            continue
        entries += 1
        groups += name in _GROUPS
        if groups > bounds.groups or entries > bounds.entries:
            check_groups(groups, bounds)
            _check_entries(entries, bounds)
        above.append((level, end))
        level, end = LEVELS[name], at + length
        if end > above[-1][1]:
            return
    raise OversizedError(f"the request has more than {bounds.fields} fields; send smaller batches")


def beyond(body: bytes, at: int, kind: int) -> int:
    """Return where a field of a fixed size, or a number, ends."""
    if kind == 0:
        return varint(body, at)[1]
    if kind in _SIZES:
        return at + _SIZES[kind]
    raise MalformedError("the body is not a protobuf export request: it holds groups")


def varint(body: bytes, at: int) -> tuple[int, int]:
    """Read a number; beyond the end when it is cut or too long, as the decoder will find too."""
    if at < len(body) and body[at] < 0x80:
        return body[at], at + 1
    number = shift = 0
    for place in range(at, min(at + _VARINT_BYTES, len(body))):
        digit = body[place]
        number |= (digit & 0x7F) << shift
        if digit < 0x80:
            return number, place + 1
        shift += 7
    return 0, len(body) + 1
