"""Test that both OTLP encodings become the same records, and that bad input is named."""

from __future__ import annotations

import base64
import json
import math
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
)
from opentelemetry.proto.common.v1.common_pb2 import AnyValue

from collector import otlp
from collector.errors import MalformedError
from collector.telemetry import AttributeValue, Span

TRACE = "0A" * 16
SPAN = "0b" * 8


def json_value(value: AttributeValue) -> dict[str, Any]:  # noqa: PLR0911  # one case a type
    """Write a value as OTLP/JSON does."""
    match value:
        case None:
            return {}
        case bool():
            return {"boolValue": value}
        case int():
            return {"intValue": str(value)}
        case float():
            special = "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
            return {"doubleValue": value if math.isfinite(value) else special}
        case str():
            return {"stringValue": value}
        case bytes():
            return {"bytesValue": base64.b64encode(value).decode()}
        case list():
            return {"arrayValue": {"values": [json_value(item) for item in value]}}
        case dict():
            return {"kvlistValue": {"values": json_pairs(value)}}


def json_pairs(attributes: dict[str, AttributeValue]) -> list[dict[str, Any]]:
    """Write attributes as OTLP/JSON does."""
    return [{"key": key, "value": json_value(value)} for key, value in attributes.items()]


def proto_value(value: AttributeValue, into: AnyValue) -> None:  # noqa: C901  # one case a type
    """Write a value into a protobuf message."""
    match value:
        case None:
            pass
        case bool():
            into.bool_value = value
        case int():
            into.int_value = value
        case float():
            into.double_value = value
        case str():
            into.string_value = value
        case bytes():
            into.bytes_value = value
        case list():
            into.array_value.SetInParent()
            for item in value:
                proto_value(item, into.array_value.values.add())
        case dict():
            into.kvlist_value.SetInParent()
            for key, item in value.items():
                proto_value(item, into.kvlist_value.values.add(key=key).value)


def json_span(**more: Any) -> dict[str, Any]:
    """Build one span in OTLP/JSON."""
    return {"traceId": TRACE, "spanId": SPAN, "name": "chat", "startTimeUnixNano": "5"} | more


def json_traces(*spans: Any) -> bytes:
    """Build an export request in OTLP/JSON."""
    return json.dumps({"resourceSpans": [{"scopeSpans": [{"spans": spans}]}]}).encode()


def spans_of(body: bytes) -> list[Span]:
    """Decode a JSON export request."""
    return otlp.parse("traces", "json", body).spans()


def nested(depth: int) -> AttributeValue:
    """Build lists inside lists."""
    value: AttributeValue = "leaf"
    for _ in range(depth):
        value = [value]
    return value


text = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
values: st.SearchStrategy[AttributeValue] = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | st.floats(allow_nan=False)
    | text
    | st.binary(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(text, inner, max_size=3),
    max_leaves=6,
)
attributes = st.dictionaries(text, values, max_size=4)
times = st.integers(0, 2**64 - 1)
spans = st.fixed_dictionaries(
    {
        "trace": st.binary(min_size=16, max_size=16),
        "span": st.binary(min_size=8, max_size=8),
        "parent": st.sampled_from([b"", bytes(8), b"\x01" * 8]),
        "name": text,
        "kind": st.integers(0, 5),
        "start": times,
        "end": times,
        "code": st.integers(0, 2),
        "message": text,
        "state": text,
        "flags": st.integers(0, 2**32 - 1),
        "dropped": st.integers(0, 9),
        "attributes": attributes,
        "events": st.lists(st.tuples(text, times, attributes), max_size=2),
        "links": st.lists(st.tuples(st.binary(min_size=16, max_size=16), attributes), max_size=1),
    }
)


def as_json(drawn: list[dict[str, Any]], resource: dict[str, AttributeValue]) -> bytes:
    """Write drawn spans in OTLP/JSON."""
    return json.dumps(
        {
            "resourceSpans": [
                {
                    "resource": {"attributes": json_pairs(resource)},
                    "scopeSpans": [
                        {
                            "scope": {"name": "s", "version": "1"},
                            "spans": [
                                {
                                    "traceId": span["trace"].hex().upper(),
                                    "spanId": span["span"].hex(),
                                    "parentSpanId": span["parent"].hex(),
                                    "name": span["name"],
                                    "kind": span["kind"],
                                    "startTimeUnixNano": str(span["start"]),
                                    "endTimeUnixNano": span["end"],
                                    "status": {"code": span["code"], "message": span["message"]},
                                    "traceState": span["state"],
                                    "flags": span["flags"],
                                    "droppedAttributesCount": span["dropped"],
                                    "attributes": json_pairs(span["attributes"]),
                                    "events": [
                                        {
                                            "name": name,
                                            "timeUnixNano": str(time),
                                            "attributes": json_pairs(inner),
                                        }
                                        for name, time, inner in span["events"]
                                    ],
                                    "links": [
                                        {
                                            "traceId": trace.hex(),
                                            "spanId": SPAN,
                                            "attributes": json_pairs(inner),
                                        }
                                        for trace, inner in span["links"]
                                    ],
                                }
                                for span in drawn
                            ],
                        }
                    ],
                }
            ]
        }
    ).encode()


def as_proto(drawn: list[dict[str, Any]], resource: dict[str, AttributeValue]) -> bytes:
    """Write drawn spans in protobuf."""

    def fill(pairs: Any, attributes: dict[str, AttributeValue]) -> None:
        for key, value in attributes.items():
            proto_value(value, pairs.add(key=key).value)

    request = ExportTraceServiceRequest()
    group = request.resource_spans.add()
    fill(group.resource.attributes, resource)
    scoped = group.scope_spans.add()
    scoped.scope.name, scoped.scope.version = "s", "1"
    for drawn_span in drawn:
        span = scoped.spans.add(
            trace_id=drawn_span["trace"],
            span_id=drawn_span["span"],
            parent_span_id=drawn_span["parent"],
            name=drawn_span["name"],
            kind=drawn_span["kind"],
            start_time_unix_nano=drawn_span["start"],
            end_time_unix_nano=drawn_span["end"],
            trace_state=drawn_span["state"],
            flags=drawn_span["flags"],
            dropped_attributes_count=drawn_span["dropped"],
        )
        span.status.code = drawn_span["code"]
        span.status.message = drawn_span["message"]
        fill(span.attributes, drawn_span["attributes"])
        for name, time, inner in drawn_span["events"]:
            fill(span.events.add(name=name, time_unix_nano=time).attributes, inner)
        for trace, inner in drawn_span["links"]:
            link = span.links.add(trace_id=trace, span_id=bytes.fromhex(SPAN))
            fill(link.attributes, inner)
    return request.SerializeToString()


@given(st.lists(spans, max_size=3), attributes)
@settings(max_examples=25, deadline=None)
def test_both_encodings_decode_to_equal_spans(
    drawn: list[dict[str, Any]], resource: dict[str, AttributeValue]
) -> None:
    """The same spans give equal records whether they came as protobuf or as JSON."""
    proto = otlp.parse("traces", "proto", as_proto(drawn, resource))
    in_json = otlp.parse("traces", "json", as_json(drawn, resource))
    assert proto.items() == in_json.items()
    assert (proto.accepted, proto.rejected) == (in_json.accepted, in_json.rejected)


def test_ids_are_hex_in_any_case() -> None:
    """Hex ids are read case-insensitively and kept in lower case."""
    (span,) = spans_of(json_traces(json_span()))
    assert (span.trace_id, span.span_id) == (TRACE.lower(), SPAN)


def test_unknown_fields_are_ignored_and_null_is_unset() -> None:
    """Fields from a later version are ignored, and null means the default."""
    (span,) = spans_of(json_traces(json_span(newField={"a": [1]}, attributes=None, status=None)))
    assert span.attributes == {}


def test_numbers_may_be_strings_and_infinite() -> None:
    """Integers come as strings or numbers, doubles may be NaN or infinite."""
    (span,) = spans_of(
        json_traces(
            json_span(
                attributes=[
                    {"key": "a", "value": {"intValue": "-7"}},
                    {"key": "b", "value": {"intValue": 7}},
                    {"key": "c", "value": {"doubleValue": "NaN"}},
                    {"key": "d", "value": {"doubleValue": "-Infinity"}},
                    {"key": "e", "value": {"bytesValue": "_-8"}},
                ]
            )
        )
    )
    nan = span.attributes.pop("c")
    assert isinstance(nan, float)
    assert math.isnan(nan)
    assert span.attributes == {"a": -7, "b": 7, "d": -math.inf, "e": b"\xff\xef"}


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"traceId": "0" * 32}, "trace id must be 32 hex digits and not zero"),
        ({"traceId": "xyz"}, "got xyz"),
        ({"spanId": ""}, "span id must be 16 hex digits and not zero, got nothing"),
        ({"parentSpanId": "12"}, "an id must be 16 hex digits, got 12"),
        ({"startTimeUnixNano": "-1"}, "a time must be nanoseconds"),
        ({"startTimeUnixNano": "soon"}, "an integer was expected"),
        ({"startTimeUnixNano": 1.5}, "an integer was expected"),
        ({"attributes": [{"key": "k", "value": {"intValue": "x"}}]}, "an integer was expected"),
        ({"attributes": [{"key": "k", "value": {"intValue": 1 << 63}}]}, "an integer of 64 bits"),
        ({"attributes": [{"key": "k", "value": {"intValue": str(-2 << 63)}}]}, "of 64 bits"),
        ({"attributes": [{"key": "k", "value": {"intValue": "9" * 5000}}]}, "an integer was"),
        ({"attributes": [{"key": "k", "value": json_value([1 << 70])}]}, "of 64 bits"),
        ({"startTimeUnixNano": 1 << 64}, "a time must be nanoseconds"),
        ({"kind": 1 << 70}, "an integer of 32 bits"),
        ({"status": {"code": 1 << 40}}, "an integer of 32 bits"),
        ({"flags": -1 << 40}, "an integer of 32 bits"),
        ({"droppedAttributesCount": 1 << 64}, "an integer of 32 bits"),
        ({"attributes": [{"key": "k", "value": {"doubleValue": "x"}}]}, "a number was expected"),
        ({"attributes": [{"key": "k", "value": {"bytesValue": "?"}}]}, "not base64"),
        ({"attributes": [{"key": "k", "value": json_value(nested(60))}]}, "nests more than"),
    ],
)
def test_one_wrong_span_is_rejected_and_the_rest_kept(fields: dict[str, Any], reason: str) -> None:
    """A span that cannot be right is rejected with its reason; its neighbours stay."""
    batch = otlp.parse("traces", "json", json_traces(json_span(**fields), json_span(name="kept")))
    assert (batch.accepted, batch.rejected) == (1, 1)
    assert reason in batch.reject_reason
    assert [span.name for span in batch.spans()] == ["kept"]


@pytest.mark.parametrize(
    "fields",
    [
        {"body": {"intValue": 1 << 64}},
        {"attributes": [{"key": "k", "value": {"intValue": str(1 << 63)}}]},
        {"severityNumber": 1 << 40},
        {"timeUnixNano": str(1 << 64)},
    ],
)
def test_one_wrong_log_record_is_rejected_and_the_rest_kept(fields: dict[str, Any]) -> None:
    """A log record of numbers that no field can hold is rejected; its neighbours stay."""
    records = [fields, {"body": {"intValue": (1 << 63) - 1}}]
    body = json.dumps({"resourceLogs": [{"scopeLogs": [{"logRecords": records}]}]}).encode()
    batch = otlp.parse("logs", "json", body)
    assert (batch.accepted, batch.rejected) == (1, 1)
    assert "bits" in batch.reject_reason
    assert [record.body for record in batch.logs()] == [(1 << 63) - 1]


def test_wrong_ids_are_rejected_in_protobuf_too() -> None:
    """Spans without usable ids are left out and counted."""
    request = ExportTraceServiceRequest()
    scoped = request.resource_spans.add().scope_spans.add()
    scoped.spans.add(trace_id=b"short", span_id=b"12345678", name="a")
    scoped.spans.add(trace_id=b"1" * 16, span_id=bytes(8), name="b")
    scoped.spans.add(trace_id=b"1" * 16, span_id=b"12345678", parent_span_id=b"1", name="c")
    scoped.spans.add(trace_id=b"1" * 16, span_id=b"12345678", name="kept")
    batch = otlp.parse("traces", "proto", request.SerializeToString())
    assert (batch.accepted, batch.rejected) == (1, 3)
    assert "trace id must be 16 bytes" in batch.reject_reason
    assert [span.name for span in batch.spans()] == ["kept"]


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (b"{", "the body is not OTLP/JSON"),
        (b"[]", "an object was expected, got '[]'"),
        (b'{"resourceSpans": 3}', "`resourceSpans` must be a list, got '3'"),
        (b'{"a":' + b"[" * 200_000, "deeply"),
    ],
)
def test_malformed_json_names_the_place(body: bytes, reason: str) -> None:
    """JSON that is not an export request is refused with a reason one can act on."""
    with pytest.raises(MalformedError) as caught:
        otlp.parse("traces", "json", body)
    assert reason in str(caught.value)


def test_malformed_protobuf_says_what_was_expected() -> None:
    """Bytes that are not protobuf are refused, and so is nesting beyond protobuf's limit."""
    deep = ExportTraceServiceRequest()
    span = deep.resource_spans.add().scope_spans.add().spans.add()
    proto_value(nested(120), span.attributes.add(key="k").value)
    for body in (b"not protobuf", deep.SerializeToString()):
        with pytest.raises(MalformedError, match="ExportTraceServiceRequest"):
            otlp.parse("traces", "proto", body)
