"""Write OTLP requests by hand: a few spans or log records with the attributes a test needs."""

from __future__ import annotations

import hashlib
from typing import Any

import msgspec
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, InstrumentationScope, KeyValue
from opentelemetry.proto.logs.v1.logs_pb2 import LogRecord, ResourceLogs, ScopeLogs
from opentelemetry.proto.resource.v1.resource_pb2 import Resource
from opentelemetry.proto.trace.v1.trace_pb2 import ResourceSpans, ScopeSpans, Span, Status

from tests.e2e.instance import START_NS


def trace_id(name: str) -> bytes:
    """Return a trace id from a name."""
    return hashlib.sha256(name.encode()).digest()[:16]


def span_id(name: str) -> bytes:
    """Return a span id from a name."""
    return hashlib.sha256(name.encode()).digest()[:8]


def pairs(attributes: dict[str, Any]) -> list[KeyValue]:
    """Spell attributes; what is no scalar becomes JSON text, as SDKs write it."""
    return [KeyValue(key=key, value=_value(value)) for key, value in attributes.items()]


def _value(value: Any) -> AnyValue:
    if isinstance(value, bool):
        return AnyValue(bool_value=value)
    if isinstance(value, int):
        return AnyValue(int_value=value)
    if isinstance(value, str):
        return AnyValue(string_value=value)
    return AnyValue(string_value=msgspec.json.encode(value).decode())


def span(
    name: str,
    *,
    trace: str = "t",
    parent: str = "",
    at: float = 0.0,
    seconds: float = 1.0,
    failed: bool = False,
    **attributes: Any,
) -> Span:
    """Write one span; its id comes from its name, dots in attribute names are double underscores."""
    start = START_NS + int(at * 1e9)
    built = Span(
        trace_id=trace_id(trace),
        span_id=span_id(trace + name),
        parent_span_id=span_id(trace + parent) if parent else b"",
        name=name,
        kind=Span.SPAN_KIND_CLIENT,
        start_time_unix_nano=start,
        end_time_unix_nano=start + int(seconds * 1e9) if seconds else 0,
        attributes=pairs(_dotted(attributes)),
    )
    if failed:
        built.status.code = Status.STATUS_CODE_ERROR
    return built


def record(
    event: str, *, trace: str = "t", under: str = "", at: float = 0.0, **attributes: Any
) -> LogRecord:
    """Write one log record about a span."""
    return LogRecord(
        time_unix_nano=START_NS + int(at * 1e9),
        trace_id=trace_id(trace),
        span_id=span_id(trace + under) if under else b"",
        event_name=event,
        attributes=pairs(_dotted(attributes)),
    )


def _dotted(attributes: dict[str, Any]) -> dict[str, Any]:
    return {name.replace("__", "."): value for name, value in attributes.items()}


def traces(*spans: Span, service: str = "shop", scope: str = "") -> bytes:
    """Write one request of spans."""
    resource = Resource(attributes=pairs({"service.name": service}))
    scoped = ScopeSpans(scope=InstrumentationScope(name=scope), spans=spans)
    return ExportTraceServiceRequest(
        resource_spans=[ResourceSpans(resource=resource, scope_spans=[scoped])]
    ).SerializeToString()


def logs(*records: LogRecord, service: str = "shop") -> bytes:
    """Write one request of log records."""
    resource = Resource(attributes=pairs({"service.name": service}))
    return ExportLogsServiceRequest(
        resource_logs=[ResourceLogs(resource=resource, scope_logs=[ScopeLogs(log_records=records)])]
    ).SerializeToString()


def said(role: str, text: str) -> dict[str, Any]:
    """Write a text message as the GenAI convention does."""
    return {"role": role, "parts": [{"type": "text", "content": text}]}


def asked(name: str, call_id: str, **arguments: Any) -> dict[str, Any]:
    """Write an assistant message that asks for one tool."""
    part = {"type": "tool_call", "id": call_id, "name": name, "arguments": arguments}
    return {"role": "assistant", "parts": [part]}


def answered(call_id: str, result: str) -> dict[str, Any]:
    """Write the tool message that answers it."""
    part = {"type": "tool_call_response", "id": call_id, "response": result}
    return {"role": "tool", "parts": [part]}
