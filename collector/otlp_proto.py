"""Turn protobuf export requests into records, as fast as Python can walk them."""

from __future__ import annotations

from collections.abc import Iterable
from sys import intern

from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, KeyValue
from opentelemetry.proto.logs.v1.logs_pb2 import LogRecord as ProtoLog
from opentelemetry.proto.trace.v1.trace_pb2 import Span as ProtoSpan

from collector.otlp_decoding import Decoded
from collector.telemetry import Attributes, AttributeValue, LogRecord, Span, SpanEvent, SpanLink

NO_TRACE = bytes(16)
NO_SPAN = bytes(8)
SHORT = 40
"""Characters up to which a text is likely to be a name or an id that others repeat."""
SCALARS = {"int_value", "double_value", "bool_value", "bytes_value"}


def traces(request: ExportTraceServiceRequest) -> Decoded:
    """Count the spans whose ids are right, and decode those on demand."""
    accepted = rejected = 0
    reason = ""
    for resource_spans in request.resource_spans:
        for scope_spans in resource_spans.scope_spans:
            for span in scope_spans.spans:
                wrong = _wrong_span(span)
                if wrong:
                    rejected += 1
                    reason = reason or wrong
                else:
                    accepted += 1
    return Decoded(
        accepted=accepted,
        rejected=rejected,
        reason=reason,
        items=lambda: _spans(request, check=bool(rejected)),
    )


def logs(request: ExportLogsServiceRequest) -> Decoded:
    """Count the log records whose ids are right, and decode those on demand."""
    accepted = rejected = 0
    reason = ""
    for resource_logs in request.resource_logs:
        for scope_logs in resource_logs.scope_logs:
            for record in scope_logs.log_records:
                wrong = _wrong_log(record)
                if wrong:
                    rejected += 1
                    reason = reason or wrong
                else:
                    accepted += 1
    return Decoded(
        accepted=accepted,
        rejected=rejected,
        reason=reason,
        items=lambda: _logs(request, check=bool(rejected)),
    )


def attributes_of(pairs: Iterable[KeyValue]) -> Attributes:
    """Make a dict of key-value pairs; of a repeated key the last value stays."""
    attributes: Attributes = {}
    for pair in pairs:
        value = pair.value
        text = value.string_value
        if text:
            # Names and short words come with every span: held once they take no memory.
            attributes[intern(pair.key)] = text if len(text) > SHORT else intern(text)
            continue
        which = value.WhichOneof("value")
        if which in SCALARS:
            attributes[intern(pair.key)] = getattr(value, which)
        elif which == "string_value":
            attributes[intern(pair.key)] = ""
        else:
            attributes[intern(pair.key)] = value_of(value)
    return attributes


def value_of(value: AnyValue) -> AttributeValue:
    """Decode one value; ``None`` when it is not set."""
    which = value.WhichOneof("value")
    if which is None:
        return None
    if which == "array_value":
        return [value_of(item) for item in value.array_value.values]
    if which == "kvlist_value":
        return attributes_of(value.kvlist_value.values)
    scalar: AttributeValue = getattr(value, which, None)
    return scalar if isinstance(scalar, (bool, int, float, str, bytes)) else None


def _wrong_span(span: ProtoSpan) -> str:
    trace_id, span_id = span.trace_id, span.span_id
    if len(trace_id) != 16 or trace_id == NO_TRACE:
        return f"a trace id must be 16 bytes and not zero, got {trace_id.hex() or 'nothing'}"
    if len(span_id) != 8 or span_id == NO_SPAN:
        return f"a span id must be 8 bytes and not zero, got {span_id.hex() or 'nothing'}"
    if len(span.parent_span_id) not in {0, 8}:
        return f"a parent span id must be 8 bytes, got {span.parent_span_id.hex()}"
    return ""


def _wrong_log(record: ProtoLog) -> str:
    if len(record.trace_id) not in {0, 16}:
        return f"a trace id must be 16 bytes, got {record.trace_id.hex()}"
    if len(record.span_id) not in {0, 8}:
        return f"a span id must be 8 bytes, got {record.span_id.hex()}"
    return ""


def _spans(request: ExportTraceServiceRequest, *, check: bool) -> list[Span]:
    spans: list[Span] = []
    for resource_spans in request.resource_spans:
        resource = attributes_of(resource_spans.resource.attributes)
        for scope_spans in resource_spans.scope_spans:
            scope = scope_spans.scope
            scope_name, scope_version = scope.name, scope.version
            for span in scope_spans.spans:
                if check and _wrong_span(span):
                    continue
                parent = span.parent_span_id
                status = span.status
                spans.append(
                    Span(
                        trace_id=intern(span.trace_id.hex()),
                        span_id=intern(span.span_id.hex()),
                        parent_id="" if parent == NO_SPAN else intern(parent.hex()),
                        name=intern(span.name),
                        kind=span.kind,
                        start_ns=span.start_time_unix_nano,
                        end_ns=span.end_time_unix_nano,
                        status_code=status.code,
                        status_message=status.message,
                        trace_state=span.trace_state,
                        flags=span.flags,
                        attributes=attributes_of(span.attributes),
                        dropped_attributes=span.dropped_attributes_count,
                        events=_events(span) if span.events else (),
                        links=_links(span) if span.links else (),
                        scope_name=scope_name,
                        scope_version=scope_version,
                        resource=resource,
                    )
                )
    return spans


def _events(span: ProtoSpan) -> tuple[SpanEvent, ...]:
    return tuple(
        SpanEvent(
            name=event.name,
            time_ns=event.time_unix_nano,
            attributes=attributes_of(event.attributes),
        )
        for event in span.events
    )


def _links(span: ProtoSpan) -> tuple[SpanLink, ...]:
    return tuple(
        SpanLink(
            trace_id=link.trace_id.hex(),
            span_id=link.span_id.hex(),
            trace_state=link.trace_state,
            attributes=attributes_of(link.attributes),
        )
        for link in span.links
    )


def _logs(request: ExportLogsServiceRequest, *, check: bool) -> list[LogRecord]:
    records: list[LogRecord] = []
    for resource_logs in request.resource_logs:
        resource = attributes_of(resource_logs.resource.attributes)
        for scope_logs in resource_logs.scope_logs:
            scope = scope_logs.scope
            for record in scope_logs.log_records:
                if check and _wrong_log(record):
                    continue
                attributes = attributes_of(record.attributes)
                trace_id, span_id = record.trace_id, record.span_id
                records.append(
                    LogRecord(
                        time_ns=record.time_unix_nano or record.observed_time_unix_nano,
                        trace_id="" if trace_id == NO_TRACE else trace_id.hex(),
                        span_id="" if span_id == NO_SPAN else span_id.hex(),
                        severity=record.severity_number,
                        event_name=record.event_name or str(attributes.get("event.name") or ""),
                        body=value_of(record.body),
                        attributes=attributes,
                        scope_name=scope.name,
                        scope_version=scope.version,
                        resource=resource,
                    )
                )
    return records
