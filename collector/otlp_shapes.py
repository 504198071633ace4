"""Mirror the parts of OTLP/JSON that are read, so that decoding checks types by itself.

Every field may be missing or null, as in the protobuf JSON mapping. Fields that are not
listed are ignored, as the specification demands.
"""

from __future__ import annotations

from typing import TypeAlias

import msgspec

Whole: TypeAlias = "int | float | str | None"
"""An integer: 64-bit ones are strings by the protobuf JSON mapping, numbers in the wild."""


class AnyValue(msgspec.Struct, rename="camel", frozen=True, kw_only=True, gc=False):
    """One value; at most one field is set."""

    string_value: str | None = None
    int_value: Whole = None
    double_value: float | str | None = None
    bool_value: bool | None = None
    array_value: ArrayValue | None = None
    kvlist_value: KeyValueList | None = None
    bytes_value: str | None = None


class ArrayValue(msgspec.Struct, rename="camel", frozen=True, kw_only=True, gc=False):
    """A list of values."""

    values: list[AnyValue] | None = None


class KeyValue(msgspec.Struct, rename="camel", frozen=True, kw_only=True, gc=False):
    """One attribute."""

    key: str = ""
    value: AnyValue | None = None


class KeyValueList(msgspec.Struct, rename="camel", frozen=True, kw_only=True, gc=False):
    """A map of values."""

    values: list[KeyValue] | None = None


class Resource(msgspec.Struct, rename="camel", frozen=True, kw_only=True, gc=False):
    """What produced the telemetry."""

    attributes: list[KeyValue] | None = None


class Scope(msgspec.Struct, rename="camel", frozen=True, kw_only=True, gc=False):
    """The instrumentation that made it."""

    name: str | None = None
    version: str | None = None


class Status(msgspec.Struct, rename="camel", frozen=True, kw_only=True, gc=False):
    """How a span ended."""

    code: int | None = None
    message: str | None = None


class Event(msgspec.Struct, rename="camel", frozen=True, kw_only=True, gc=False):
    """One timed event of a span."""

    name: str | None = None
    time_unix_nano: Whole = None
    attributes: list[KeyValue] | None = None


class Link(msgspec.Struct, rename="camel", frozen=True, kw_only=True, gc=False):
    """A pointer to another span."""

    trace_id: str | None = None
    span_id: str | None = None
    trace_state: str | None = None
    attributes: list[KeyValue] | None = None


class Span(msgspec.Struct, rename="camel", frozen=True, kw_only=True, gc=False):
    """One span."""

    trace_id: str | None = None
    span_id: str | None = None
    parent_span_id: str | None = None
    name: str | None = None
    kind: int | None = None
    start_time_unix_nano: Whole = None
    end_time_unix_nano: Whole = None
    status: Status | None = None
    trace_state: str | None = None
    flags: int | None = None
    attributes: list[KeyValue] | None = None
    dropped_attributes_count: int | None = None
    events: list[Event] | None = None
    links: list[Link] | None = None


class LogRecord(msgspec.Struct, rename="camel", frozen=True, kw_only=True, gc=False):
    """One log record."""

    trace_id: str | None = None
    span_id: str | None = None
    time_unix_nano: Whole = None
    observed_time_unix_nano: Whole = None
    severity_number: int | None = None
    event_name: str | None = None
    body: AnyValue | None = None
    attributes: list[KeyValue] | None = None


class ScopeSpans(msgspec.Struct, rename="camel", frozen=True, kw_only=True, gc=False):
    """The spans of one scope."""

    scope: Scope | None = None
    spans: list[Span] | None = None


class ResourceSpans(msgspec.Struct, rename="camel", frozen=True, kw_only=True, gc=False):
    """The spans of one resource."""

    resource: Resource | None = None
    scope_spans: list[ScopeSpans] | None = None


class TraceRequest(msgspec.Struct, rename="camel", frozen=True, kw_only=True, gc=False):
    """``ExportTraceServiceRequest``."""

    resource_spans: list[ResourceSpans] | None = None


class ScopeLogs(msgspec.Struct, rename="camel", frozen=True, kw_only=True, gc=False):
    """The records of one scope."""

    scope: Scope | None = None
    log_records: list[LogRecord] | None = None


class ResourceLogs(msgspec.Struct, rename="camel", frozen=True, kw_only=True, gc=False):
    """The records of one resource."""

    resource: Resource | None = None
    scope_logs: list[ScopeLogs] | None = None


class LogsRequest(msgspec.Struct, rename="camel", frozen=True, kw_only=True, gc=False):
    """``ExportLogsServiceRequest``."""

    resource_logs: list[ResourceLogs] | None = None
