"""Write spans and log records as OTLP protobuf again, so that reading gives the same records."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby
from typing import TypeVar

from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import (
    AnyValue,
    ArrayValue,
    InstrumentationScope,
    KeyValue,
    KeyValueList,
)
from opentelemetry.proto.logs.v1 import logs_pb2 as logs_proto
from opentelemetry.proto.resource.v1.resource_pb2 import Resource
from opentelemetry.proto.trace.v1 import trace_pb2 as trace_proto

from collector.telemetry import Attributes, AttributeValue, LogRecord, Span

_Item = TypeVar("_Item", Span, LogRecord)
_INT32, _UINT32 = range(-(2**31), 2**31), range(2**32)
_INT64 = range(-(2**63), 2**63)


def spans_request(spans: Iterable[Span]) -> bytes:
    """Write one request; the order of the spans stays."""
    request = ExportTraceServiceRequest()
    for shared, scope, items in _grouped(spans):
        target = request.resource_spans.add(resource=shared).scope_spans.add(scope=scope)
        target.spans.extend(map(_span, items))
    return request.SerializeToString()


def logs_request(records: Iterable[LogRecord]) -> bytes:
    """Write one request; the order of the records stays."""
    request = ExportLogsServiceRequest()
    for shared, scope, items in _grouped(records):
        target = request.resource_logs.add(resource=shared).scope_logs.add(scope=scope)
        target.log_records.extend(map(_record, items))
    return request.SerializeToString()


def _grouped(
    items: Iterable[_Item],
) -> Iterable[tuple[Resource, InstrumentationScope, list[_Item]]]:
    def place(item: _Item) -> tuple[int, str, str]:
        return id(item.resource), item.scope_name, item.scope_version

    for (_, name, version), group in groupby(items, key=place):
        found = list(group)
        resource = Resource(attributes=_pairs(found[0].resource))
        yield resource, InstrumentationScope(name=_text(name), version=_text(version)), found


def _span(span: Span) -> trace_proto.Span:
    return trace_proto.Span(
        trace_id=bytes.fromhex(span.trace_id),
        span_id=bytes.fromhex(span.span_id),
        parent_span_id=bytes.fromhex(span.parent_id),
        trace_state=_text(span.trace_state),
        flags=_held(span.flags, _UINT32),
        name=_text(span.name),
        kind=_held(span.kind, _INT32),  # type: ignore[arg-type]  # an open enum
        start_time_unix_nano=span.start_ns,
        end_time_unix_nano=span.end_ns,
        status=trace_proto.Status(
            code=_held(span.status_code, _INT32),  # type: ignore[arg-type]  # an open enum
            message=_text(span.status_message),
        ),
        attributes=_pairs(span.attributes),
        dropped_attributes_count=_held(span.dropped_attributes, _UINT32),
        events=[
            trace_proto.Span.Event(
                name=_text(event.name),
                time_unix_nano=event.time_ns,
                attributes=_pairs(event.attributes),
            )
            for event in span.events
        ],
        links=[
            trace_proto.Span.Link(
                trace_id=bytes.fromhex(link.trace_id),
                span_id=bytes.fromhex(link.span_id),
                trace_state=_text(link.trace_state),
                attributes=_pairs(link.attributes),
            )
            for link in span.links
        ],
    )


def _record(record: LogRecord) -> logs_proto.LogRecord:
    return logs_proto.LogRecord(
        time_unix_nano=record.time_ns,
        trace_id=bytes.fromhex(record.trace_id),
        span_id=bytes.fromhex(record.span_id),
        severity_number=_held(record.severity, _INT32),  # type: ignore[arg-type]  # an open enum
        event_name=_text(record.event_name),
        body=None if record.body is None else _value(record.body),
        attributes=_pairs(record.attributes),
    )


def _pairs(attributes: Attributes) -> list[KeyValue]:
    return [KeyValue(key=_text(key), value=_value(value)) for key, value in attributes.items()]


def _value(value: AttributeValue) -> AnyValue:
    new = AnyValue()
    if isinstance(value, bool):
        new.bool_value = value
    elif isinstance(value, int) and value in _INT64:
        new.int_value = value
    elif isinstance(value, float):
        new.double_value = value
    elif isinstance(value, bytes):
        new.bytes_value = value
    elif isinstance(value, list):
        new.array_value.CopyFrom(ArrayValue(values=map(_value, value)))
    elif isinstance(value, dict):
        new.kvlist_value.CopyFrom(KeyValueList(values=_pairs(value)))
    elif value is not None:
        new.string_value = _text(str(value))
    return new


def _held(number: int, bounds: range) -> int:
    """Return what a field can hold; a number beyond it, as JSON may bring, means nothing and becomes 0."""
    return number if number in bounds else 0


def _text(text: str) -> str:
    """Return what protobuf can hold; a lone surrogate becomes a question mark."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode()
