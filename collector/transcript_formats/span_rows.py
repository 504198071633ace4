"""Read spans and log records that were exported one object each, by whatever exporter.

The OpenTelemetry SDKs' own JSON (Python's and JavaScript's), Phoenix's data frames, REST and
GraphQL answers, single OTLP spans, and plain rows of ids, times and attributes. What they
call the same thing is one table here; what the attributes mean is for the dialects.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from collector.telemetry import Attributes, LogRecord, Span, SpanEvent
from collector.transcript_formats.content import FormatError
from collector.transcript_formats.span_attributes import attributes_of, prefixed
from collector.transcript_formats.span_fields import (
    LATEST_NS,
    SPAN_DIGITS,
    TRACE_DIGITS,
    amount,
    as_text,
    digest,
    first,
    kind,
    listing,
    mapping,
    nanoseconds,
    span_id,
    status,
    trace_id,
    word,
)

CONTEXTS = ("context", "spanContext", "span_context", "trace")
"""Objects that hold a span's ids."""
TRACE = ("trace_id", "traceId", "context.trace_id", "traceID", "trace")
SPAN = ("span_id", "spanId", "context.span_id", "spanID", "span", "trace.span_id")
PARENT = (
    "parent_id",
    "parentId",
    "parent_span_id",
    "parentSpanId",
    "parentSpanID",
    "parent",
)
START = ("start_time", "startTime", "startTimeUnixNano", "start_time_unix_nano", "start")
END = ("end_time", "endTime", "endTimeUnixNano", "end_time_unix_nano", "end")
NAME = ("name", "span_name", "spanName", "operationName")
SCOPE = ("instrumentationScope", "instrumentation_scope", "instrumentationLibrary", "scope")
RESOURCE = ("resource", "resource_attributes", "resourceAttributes")
OPENINFERENCE_KINDS = frozenset(
    (
        "AGENT",
        "CHAIN",
        "DECISION",
        "EMBEDDING",
        "EVALUATOR",
        "GUARDRAIL",
        "LLM",
        "RERANKER",
        "RETRIEVER",
        "TOOL",
    )
)
KIND_ATTRIBUTE = "openinference.span.kind"
BARE = (KIND_ATTRIBUTE, "gen_ai.operation.name", "traceloop.span.kind", "ai.operationId")
"""Attributes that make a row of nothing but attributes a span."""
PREFIX = "attributes."
RESOURCE_PREFIX = "resource.attributes."
CHILD = "CHILD_OF"
"""How Jaeger refers to a span's parent."""
LOG_MARKS = ("severity", "severity_number", "severityNumber", "event_name", "observed_timestamp")


def is_span(row: Mapping[str, Any]) -> bool:
    """Tell whether a row is a span."""
    if any(key in row for key in BARE):
        return True
    if _is_log(row) or not _trace(row) or isinstance(row.get("spans"), list):
        return False
    return (
        first(row, *START) is not None
        or "attributes" in row
        or any(key.startswith(PREFIX) for key in row)
    )


def is_span_of(trace: Mapping[str, Any], row: Mapping[str, Any]) -> bool:
    """Tell whether a row is a span once it has what the object around it says."""
    return bool(_span(row)) and is_span({**trace, **row})


def is_record(row: Mapping[str, Any]) -> bool:
    """Tell whether a row is a span or a log record."""
    return is_span(row) or _is_log(row)


def _is_log(row: Mapping[str, Any]) -> bool:
    has_marks = "body" in row and any(key in row for key in LOG_MARKS)
    return has_marks and "attributes" in row and first(row, *START[:-1]) is None


def read_row(row: Mapping[str, Any]) -> Iterator[Span | LogRecord]:
    """Read one span or log record.

    Raises:
        FormatError: it has no trace.
    """
    if _is_log(row):
        yield _log(row)
        return
    attributes = _attributes(row)
    named = str(first(row, "span_kind", "spanKind") or "").upper()
    if named in OPENINFERENCE_KINDS:
        attributes.setdefault(KIND_ATTRIBUTE, named)
    if not _trace(row) and not any(key in row for key in BARE):
        raise FormatError("a span without a trace id")
    # Data frames lose their index, and attributes alone have no ids: the content stands for it.
    trace = _trace(row) or digest(as_text(row), TRACE_DIGITS)
    code, message = _status(row)
    yield Span(
        trace_id=trace,
        span_id=_span(row) or digest(as_text(row), SPAN_DIGITS),
        parent_id=_parent(row),
        name=word(row, *NAME),
        kind=kind(row.get("kind")),
        start_ns=nanoseconds(first(row, *START)),
        end_ns=nanoseconds(first(row, *END)) or _end_by_duration(row),
        status_code=code,
        status_message=message,
        attributes=attributes,
        dropped_attributes=_count(first(row, "dropped_attributes", "droppedAttributesCount")),
        events=tuple(_events(row.get("events"))),
        scope_name=_scope(row, "name"),
        scope_version=_scope(row, "version"),
        resource=_resource(row),
    )


def _end_by_duration(row: Mapping[str, Any]) -> int:
    """Return when a span ended of which Jaeger says how many microseconds it took."""
    took = amount(row, "duration") if "traceID" in row else None
    start = nanoseconds(first(row, *START))
    return min(start + int(took * 1000), LATEST_NS - 1) if start and took and took > 0 else 0


def _log(row: Mapping[str, Any]) -> LogRecord:
    attributes = _attributes(row)
    named = word(row, "event_name", "eventName")
    severity = first(row, "severity_number", "severityNumber", "severity")
    return LogRecord(
        time_ns=nanoseconds(
            first(row, "timestamp", "time", "timeUnixNano", "time_unix_nano", "observed_timestamp")
        ),
        trace_id=_trace(row),
        span_id=_span(row),
        severity=_count(severity),
        event_name=named or str(attributes.get("event.name") or ""),
        body=row.get("body"),
        attributes=attributes,
        scope_name=_scope(row, "name"),
        scope_version=_scope(row, "version"),
        resource=_resource(row),
    )


def _contexts(row: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    for key in CONTEXTS:
        inner = row.get(key)
        if isinstance(inner, dict):
            yield inner


def _trace(row: Mapping[str, Any]) -> str:
    for place in (row, *_contexts(row)):
        for key in TRACE:
            found = trace_id(place.get(key))
            if found:
                return found
    return ""


def _span(row: Mapping[str, Any]) -> str:
    for place in (row, *_contexts(row)):
        for key in SPAN:
            found = span_id(place.get(key))
            if found:
                return found
    return ""


def _parent(row: Mapping[str, Any]) -> str:
    for key in PARENT:
        found = span_id(row.get(key))
        if found:
            return found
    above = first(row, "parentSpanContext", "parent")
    if isinstance(above, dict):
        return _span(above)
    references = (r for r in listing(row.get("references")) if isinstance(r, dict))
    return next((span_id(r.get("spanID")) for r in references if r.get("refType") == CHILD), "")


def _attributes(row: Mapping[str, Any]) -> Attributes:
    if "attributes" in row:
        found = attributes_of(row["attributes"])
        return found | prefixed(row, PREFIX) if any(k.startswith(PREFIX) for k in row) else found
    found = prefixed(row, PREFIX) or attributes_of(row.get("tags"))
    if found:
        return found
    is_bare = any(key in row for key in BARE)
    return attributes_of({key: v for key, v in row.items() if is_bare or "." in key})


def _status(row: Mapping[str, Any]) -> tuple[int, str]:
    said = first(row, "status")
    if isinstance(said, dict):
        code = status(first(said, "status_code", "statusCode", "code"))
        return code, word(said, "description", "message", "status_message")
    code = status(first(row, "status_code", "statusCode", "status"))
    return code, word(row, "status_message", "statusMessage", "status_description")


def _scope(row: Mapping[str, Any], part: str) -> str:
    for key in SCOPE:
        said = row.get(key)
        if isinstance(said, dict) and (found := word(said, part)):
            return found
        if isinstance(said, str) and part == "name":
            return said
    return word(row, f"scope.{part}", f"scope_{part}", f"instrumentation_scope_{part}")


def _resource(row: Mapping[str, Any]) -> Attributes:
    for key in RESOURCE:
        said = row.get(key)
        if isinstance(said, (dict, list, str)):
            inner = mapping(said)
            return attributes_of(inner.get("attributes", said))
    return prefixed(row, RESOURCE_PREFIX)


def _events(value: Any) -> Iterator[SpanEvent]:
    for event in listing(value):
        if isinstance(event, dict):
            yield SpanEvent(
                name=word(event, "name"),
                time_ns=nanoseconds(
                    first(event, "timestamp", "time", "timeUnixNano", "time_unix_nano")
                ),
                attributes=attributes_of(event.get("attributes")),
            )


def _count(value: Any) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else 0
