"""Spell what the store has yet to be given, so that it survives a crash."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from collector.talk import Ref


class Kept(msgspec.Struct, frozen=True, kw_only=True, array_like=True):
    """Spans that are to be stored, by their place in the journal."""

    probability: float
    refs: list[Ref]


class Payload(msgspec.Struct, frozen=True, kw_only=True, array_like=True):
    """The content of one outbox row: everything one commit concluded."""

    rows: list[msgspec.Raw]
    """Rows by table, redacted; one piece per conclusion."""
    kept: list[Kept]
    episodes: list[str]
    """Ids of the episodes whose rows these are."""
    pinned: list[int]
    """Requests that stay in the journal until the spans are stored; one may stand twice."""


_ENCODER = msgspec.msgpack.Encoder()
_DECODER = msgspec.msgpack.Decoder(Payload)


_ROWS = msgspec.msgpack.Decoder(dict[str, list[Any]])


def encode_rows(rows: Mapping[str, Sequence[Any]]) -> msgspec.Raw:
    """Spell the rows of one conclusion, before anything is made of it.

    Raises:
        OverflowError: an integer has over 64 bits.
        UnicodeEncodeError: a text holds a lone surrogate.
    """
    return msgspec.Raw(_ENCODER.encode(rows))


def rows_in(payload: Payload) -> dict[str, list[Any]]:
    """Return all rows of a payload by table; tuples come back as lists."""
    rows: dict[str, list[Any]] = {}
    for piece in payload.rows:
        for table, lines in _ROWS.decode(piece).items():
            rows.setdefault(table, []).extend(lines)
    return rows


def encode(payload: Payload) -> bytes:
    """Spell a payload."""
    return _ENCODER.encode(payload)


def decode(data: bytes) -> Payload:
    """Read a payload back; its rows stay as they are until they are asked for."""
    return _DECODER.decode(data)
