"""Turn OTLP/JSON export requests into records.

Protobuf's own JSON reader would take the hex ids for base64, so the request is decoded into
structs of its shape: wrong types are found with their path, unknown fields are ignored, and
64-bit integers may be numbers or strings.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Callable
from typing import TypeVar

import msgspec

from collector import otlp_json_pieces as pieces
from collector import otlp_shapes as shapes
from collector.errors import MalformedError
from collector.otlp_bounds import check_groups, check_json
from collector.otlp_decoding import MAX_DEPTH, NO_SPAN, NO_TRACE, Decoded
from collector.telemetry import Attributes, AttributeValue, LogRecord, Span, SpanEvent, SpanLink

TRACE_ID = re.compile(r"[0-9a-f]{32}").fullmatch
SPAN_ID = re.compile(r"[0-9a-f]{16}").fullmatch
UINT64 = 1 << 64
INT64 = 1 << 63
INT32 = 1 << 31
Request = TypeVar("Request", shapes.TraceRequest, shapes.LogsRequest)


class _RejectedError(Exception):
    """One span or record cannot be right; the text says why."""


def traces(body: bytes) -> Decoded:
    """Decode every span that is right and count the others.

    Raises:
        MalformedError: the bytes are not JSON of an ``ExportTraceServiceRequest``.
        OversizedError: it has more entries than one request may have.
    """
    request, reasons = _decoded(body, shapes.TraceRequest, pieces.traces)
    groups = request.resource_spans or ()
    check_groups(
        len(groups)
        + sum(
            1 + len(scope_spans.spans or ())
            for resource_spans in groups
            for scope_spans in resource_spans.scope_spans or ()
        )
    )
    spans: list[Span] = []
    for resource_spans in groups:
        scoped = resource_spans.scope_spans or ()
        try:
            resource = _resource(resource_spans.resource)
        except _RejectedError as error:
            reasons += [str(error)] * sum(len(s.spans or ()) for s in scoped)
            continue
        for scope_spans in scoped:
            scope = scope_spans.scope or shapes.Scope()
            for span in scope_spans.spans or ():
                try:
                    spans.append(_span(span, scope, resource))
                except _RejectedError as error:
                    reasons.append(str(error))
    return _outcome(len(spans), reasons, lambda: spans)


def logs(body: bytes) -> Decoded:
    """Decode every log record that is right and count the others.

    Raises:
        MalformedError: the bytes are not JSON of an ``ExportLogsServiceRequest``.
        OversizedError: it has more entries than one request may have.
    """
    request, reasons = _decoded(body, shapes.LogsRequest, pieces.logs)
    groups = request.resource_logs or ()
    check_groups(
        len(groups)
        + sum(
            1 + len(scope_logs.log_records or ())
            for resource_logs in groups
            for scope_logs in resource_logs.scope_logs or ()
        )
    )
    records: list[LogRecord] = []
    for resource_logs in groups:
        scoped = resource_logs.scope_logs or ()
        try:
            resource = _resource(resource_logs.resource)
        except _RejectedError as error:
            reasons += [str(error)] * sum(len(s.log_records or ()) for s in scoped)
            continue
        for scope_logs in scoped:
            scope = scope_logs.scope or shapes.Scope()
            for record in scope_logs.log_records or ():
                try:
                    records.append(_log(record, scope, resource))
                except _RejectedError as error:
                    reasons.append(str(error))
    return _outcome(len(records), reasons, lambda: records)


def _outcome(
    accepted: int, reasons: list[str], items: Callable[[], list[Span] | list[LogRecord]]
) -> Decoded:
    return Decoded(
        accepted=accepted,
        rejected=len(reasons),
        reason=reasons[0] if reasons else "",
        items=items,
    )


def _decoded(
    body: bytes,
    shape: type[Request],
    piece_by_piece: Callable[[bytes], tuple[Request, list[str]]],
) -> tuple[Request, list[str]]:
    """Return the request, and why items were left out that cannot even be decoded."""
    check_json(body)
    try:
        return msgspec.json.decode(body, type=shape), []
    except msgspec.DecodeError:
        return piece_by_piece(body)
    except RecursionError as error:
        raise MalformedError("the body nests too deeply to be OTLP/JSON") from error


def _resource(resource: shapes.Resource | None) -> Attributes:
    try:
        return _attributes(resource.attributes) if resource else {}
    except _RejectedError as error:
        raise _RejectedError(f"a resource cannot be right: {error}") from error


def _span(span: shapes.Span, scope: shapes.Scope, resource: Attributes) -> Span:
    trace_id = (span.trace_id or "").lower()
    if not TRACE_ID(trace_id) or trace_id == NO_TRACE:
        raise _RejectedError(
            f"a trace id must be 32 hex digits and not zero, got {trace_id[:64] or 'nothing'}"
        )
    span_id = (span.span_id or "").lower()
    if not SPAN_ID(span_id) or span_id == NO_SPAN:
        raise _RejectedError(
            f"a span id must be 16 hex digits and not zero, got {span_id[:64] or 'nothing'}"
        )
    status = span.status
    return Span(
        trace_id=trace_id,
        span_id=span_id,
        parent_id=_optional_id(span.parent_span_id, SPAN_ID, NO_SPAN),
        name=span.name or "",
        kind=_small(span.kind),
        start_ns=_time(span.start_time_unix_nano),
        end_ns=_time(span.end_time_unix_nano),
        status_code=_small(status.code) if status else 0,
        status_message=(status.message or "") if status else "",
        trace_state=span.trace_state or "",
        flags=_small(span.flags),
        attributes=_attributes(span.attributes),
        dropped_attributes=_small(span.dropped_attributes_count),
        events=tuple(map(_event, span.events)) if span.events else (),
        links=tuple(map(_link, span.links)) if span.links else (),
        scope_name=scope.name or "",
        scope_version=scope.version or "",
        resource=resource,
    )


def _event(event: shapes.Event) -> SpanEvent:
    return SpanEvent(
        name=event.name or "",
        time_ns=_time(event.time_unix_nano),
        attributes=_attributes(event.attributes),
    )


def _link(link: shapes.Link) -> SpanLink:
    return SpanLink(
        trace_id=(link.trace_id or "").lower(),
        span_id=(link.span_id or "").lower(),
        trace_state=link.trace_state or "",
        attributes=_attributes(link.attributes),
    )


def _log(record: shapes.LogRecord, scope: shapes.Scope, resource: Attributes) -> LogRecord:
    attributes = _attributes(record.attributes)
    return LogRecord(
        time_ns=_time(record.time_unix_nano) or _time(record.observed_time_unix_nano),
        trace_id=_optional_id(record.trace_id, TRACE_ID, NO_TRACE),
        span_id=_optional_id(record.span_id, SPAN_ID, NO_SPAN),
        severity=_small(record.severity_number),
        event_name=record.event_name or str(attributes.get("event.name") or ""),
        body=_value(record.body, 0) if record.body else None,
        attributes=attributes,
        scope_name=scope.name or "",
        scope_version=scope.version or "",
        resource=resource,
    )


def _optional_id(value: str | None, matches: Callable[[str], object], zero: str) -> str:
    if not value:
        return ""
    value = value.lower()
    if not matches(value):
        raise _RejectedError(f"an id must be {len(zero)} hex digits, got {value[:64]}")
    return "" if value == zero else value


def _time(value: shapes.Whole) -> int:
    nanoseconds = _whole(value or 0)
    if not 0 <= nanoseconds < UINT64:
        raise _RejectedError(
            f"a time must be nanoseconds since 1970 in 64 bits, got {str(value)[:64]!r}"
        )
    return nanoseconds


def _small(value: int | None) -> int:
    number = value or 0
    # The fields are signed or unsigned; a few more bits harm nobody.
    if not -INT32 <= number < 2 * INT32:
        raise _RejectedError(f"an integer of 32 bits was expected, got {value!r}")
    return number


def _long(value: float | str) -> int:
    number = _whole(value)
    if not -INT64 <= number < INT64:
        raise _RejectedError(f"an integer of 64 bits was expected, got {str(value)[:64]!r}")
    return number


def _whole(value: float | str) -> int:
    if type(value) is int:
        return value
    try:
        number = int(value)
    except (ValueError, OverflowError) as error:
        raise _RejectedError(f"an integer was expected, got {str(value)[:64]!r}") from error
    if not isinstance(value, str) and number != value:
        raise _RejectedError(f"an integer was expected, got {value!r}")
    return number


def _attributes(pairs: list[shapes.KeyValue] | None, depth: int = 0) -> Attributes:
    attributes: Attributes = {}
    for pair in pairs or ():
        value = pair.value
        if value is None:
            attributes[pair.key] = None
        elif value.string_value is not None:
            attributes[pair.key] = value.string_value
        elif type(value.int_value) is int and -INT64 <= value.int_value < INT64:
            attributes[pair.key] = value.int_value
        else:
            attributes[pair.key] = _value(value, depth)
    return attributes


def _value(value: shapes.AnyValue, depth: int) -> AttributeValue:
    result: AttributeValue = None
    if value.string_value is not None:
        result = value.string_value
    elif value.int_value is not None:
        result = _long(value.int_value)
    elif value.bool_value is not None:
        result = value.bool_value
    elif value.double_value is not None:
        result = _double(value.double_value)
    elif value.bytes_value is not None:
        result = _bytes(value.bytes_value)
    elif value.array_value is not None:
        below = _level(depth)
        result = [_value(item, below) for item in value.array_value.values or ()]
    elif value.kvlist_value is not None:
        result = _attributes(value.kvlist_value.values, _level(depth))
    return result


def _level(depth: int) -> int:
    if depth >= MAX_DEPTH:
        raise _RejectedError(f"an attribute nests more than {MAX_DEPTH} levels deep")
    return depth + 1


def _double(value: float | str) -> float:
    try:
        return float(value)
    except ValueError as error:
        raise _RejectedError(f"a number was expected, got {str(value)[:64]!r}") from error


def _bytes(value: str) -> bytes:
    text = value.replace("-", "+").replace("_", "/")
    try:
        return base64.b64decode(text + "=" * (-len(text) % 4), validate=True)
    except (binascii.Error, ValueError) as error:
        raise _RejectedError("a bytesValue is not base64") from error
