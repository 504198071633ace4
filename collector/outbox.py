"""Spell what the store has yet to be given, so that it survives a crash."""

from __future__ import annotations

from typing import Any

import msgspec

from collector.talk import Ref


class Kept(msgspec.Struct, frozen=True, kw_only=True, array_like=True):
    """Spans that are to be stored, by their place in the journal."""

    probability: float
    refs: list[Ref]


class Payload(msgspec.Struct, frozen=True, kw_only=True, array_like=True):
    """The content of one outbox row: everything one commit concluded."""

    rows: dict[str, list[Any]]
    """Rows by table, redacted."""
    kept: list[Kept]
    episodes: list[str]
    """Ids of the episodes whose rows these are."""
    pinned: list[int]
    """Requests that stay in the journal until the spans are stored; one may stand twice."""


_ENCODER = msgspec.msgpack.Encoder()
_DECODER = msgspec.msgpack.Decoder(Payload)


def encode(payload: Payload) -> bytes:
    """Spell a payload."""
    return _ENCODER.encode(payload)


def decode(data: bytes) -> Payload:
    """Read a payload back; row tuples come back as lists."""
    return _DECODER.decode(data)
