"""Hold spans and log records as they arrive, before any convention is applied.

Times are Unix nanoseconds (``*_ns``).
"""

from __future__ import annotations

from typing import TypeAlias

import msgspec

AttributeValue: TypeAlias = (
    "bool | int | float | str | bytes | list[AttributeValue] | dict[str, AttributeValue] | None"
)
"""An OTLP ``AnyValue``; unlike JSON it may hold bytes."""

Attributes: TypeAlias = dict[str, AttributeValue]


class SpanEvent(msgspec.Struct, frozen=True, kw_only=True):
    """One timed event inside a span."""

    name: str
    time_ns: int
    attributes: Attributes


class SpanLink(msgspec.Struct, frozen=True, kw_only=True):
    """A pointer from one span to another."""

    trace_id: str
    span_id: str
    trace_state: str
    attributes: Attributes


class Span(msgspec.Struct, frozen=True, kw_only=True):
    """One OTLP span as it arrived, before any convention is applied."""

    trace_id: str
    """32 lowercase hex digits."""
    span_id: str
    """16 lowercase hex digits."""
    parent_id: str = ""
    name: str
    kind: int = 1
    """OTLP enum: 0 unspecified, 1 internal, 2 server, 3 client, 4 producer, 5 consumer."""
    start_ns: int
    end_ns: int = 0
    """0 while the span is still open."""
    status_code: int = 0
    """0 unset, 1 ok, 2 error."""
    status_message: str = ""
    trace_state: str = ""
    flags: int = 0
    attributes: Attributes
    dropped_attributes: int = 0
    events: tuple[SpanEvent, ...] = ()
    links: tuple[SpanLink, ...] = ()
    scope_name: str = ""
    scope_version: str = ""
    resource: Attributes
    """Shared between the spans of one resource; never mutated."""


class LogRecord(msgspec.Struct, frozen=True, kw_only=True):
    """One OTLP log record as it arrived."""

    time_ns: int
    trace_id: str = ""
    span_id: str = ""
    severity: int = 0
    event_name: str = ""
    """The record's ``event_name`` field, else its ``event.name`` attribute."""
    body: AttributeValue = None
    attributes: Attributes
    scope_name: str = ""
    scope_version: str = ""
    resource: Attributes
