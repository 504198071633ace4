"""Turn a Kafka message into a request for the journal, or say why it cannot be one."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Literal, Protocol

import msgspec

from collector.errors import MalformedError, OversizedError, PermanentError
from collector.journal_records import Entry
from collector.otlp import Batch, Encoding, Signal, parse

RECEIVER = "kafka"
Setting = Literal["auto", "otlp_proto", "otlp_json"]
Reason = Literal["empty", "malformed", "oversized", "invalid"]


class Message(Protocol):
    """What the client library gives for one message."""

    topic: str
    partition: int
    offset: int
    key: bytes | None
    value: bytes | None
    headers: Sequence[tuple[str, bytes]]


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """A message that is a request."""

    entry: Entry
    batch: Batch


class Poison(msgspec.Struct, frozen=True, kw_only=True):
    """A message that can never be read."""

    message: Message
    reason: Reason
    """``empty`` is a message without a value; ``invalid`` one whose every item was refused."""
    detail: str


def source_of(group: str, topic: str, partition: int) -> str:
    """Name the log that a partition is to a consumer group; topics have no slash."""
    return f"{topic}/{partition}/{group}"


def credential_of(topic: str) -> str:
    """Name the sender of what a topic holds: whoever may write there counts as one."""
    return hashlib.sha256(f"kafka:{topic}".encode()).hexdigest()[:16]


def read(
    message: Message,
    *,
    signal: Signal,
    setting: Setting,
    limit: int,
    source: str,
    received_ns: int,
) -> Request | Poison | None:
    """Read one message; ``None`` for a request that says nothing.

    Args:
        message: As the client library gives it.
        signal: What its topic holds.
        setting: How messages are written.
        limit: Most bytes of a message.
        source: Name of its partition.
        received_ns: When it was read.
    """
    value = message.value
    if value is None:
        return Poison(message=message, reason="empty", detail="the message has no value")
    if len(value) > limit:
        detail = f"the message is larger than {limit} bytes"
        return Poison(message=message, reason="oversized", detail=detail)
    encoding = encoding_of(value, setting)
    try:
        batch = parse(signal, encoding, value)
    except PermanentError as error:
        return Poison(message=message, reason=_reason(error), detail=str(error))
    if not batch.accepted:
        if batch.rejected:
            return Poison(message=message, reason="invalid", detail=batch.reject_reason)
        return None
    entry = Entry(
        received_ns=received_ns,
        receiver=RECEIVER,
        signal=signal,
        encoding=encoding,
        credential=credential_of(message.topic),
        items=batch.accepted,
        body=value,
        source=source,
        source_offset=message.offset,
    )
    return Request(entry=entry, batch=batch)


def encoding_of(value: bytes, setting: Setting) -> Encoding:
    """Say how a message is written; JSON begins with a brace, which no protobuf request does."""
    if setting == "auto":
        return "json" if value.startswith(b"{") else "proto"
    return "json" if setting == "otlp_json" else "proto"


def _reason(error: PermanentError) -> Reason:
    if isinstance(error, OversizedError):
        return "oversized"
    return "malformed" if isinstance(error, MalformedError) else "invalid"
