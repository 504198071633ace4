"""Fuzz the OTLP decoders: whatever is wrong, what is right beside it is taken and the rest counted."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from collector import otlp
from collector.errors import PermanentError
from collector.journal_records import Entry
from collector.normalise import Normaliser
from collector.otlp import Batch, Encoding, Signal
from collector.reading import Reader, key_of
from collector.telemetry import LogRecord, Span
from tests import build
from tests.examples import EXAMPLES

MARK = "@@@@"
"""Four characters that become four bytes which are no text."""
MARKED = b'"@@@@"'
NO_TEXT = [b"\xff\xfe\xfd\xfc", b"\xed\xa0\xbd?", b"ab\xc3?", b"abc\xf0", b"\xc0\x80\x80\x80"]
NO_JSON = [b'"\xc3"', b'"\\ud83d"', b"NaN", b"-Infinity", b"1e999", b"9" * 5_000]
"""What JSON writers write that JSON readers do not read."""
ONE_IN_FOUR = st.integers(0, 3).map(lambda number: number == 3)
WORDS = ["", "chat", "SPAN_KIND_CLIENT", "9" * 30, "0" * 32, "\ud83d", "\x00", MARK]
scalars = (
    st.none() | st.booleans() | st.integers() | st.floats() | st.sampled_from(WORDS) | st.text()
)
FIELDS = ["key", "value", "values", "stringValue", "a"]


def deeper(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """Put values into lists and objects."""
    fields = st.dictionaries(st.sampled_from(FIELDS), inner, max_size=3)
    return scalars | st.lists(inner, max_size=3) | fields


junk = deeper(deeper(scalars))


def json_span(number: int) -> dict[str, Any]:
    """Write a span that uses every field."""
    pair = {"key": "gen_ai.operation.name", "value": {"stringValue": "chat"}}
    several = {"values": [{"intValue": "7"}, {"kvlistValue": {"values": [pair]}}]}
    return {
        "traceId": f"{number + 1:032x}",
        "spanId": f"{number + 1:016x}",
        "parentSpanId": "00000000000000aa",
        "name": f"item {number}",
        "kind": 3,
        "startTimeUnixNano": "1",
        "endTimeUnixNano": 2,
        "status": {"code": 2, "message": "no"},
        "traceState": "a=1",
        "flags": 1,
        "attributes": [pair, {"key": "several", "value": {"arrayValue": several}}],
        "droppedAttributesCount": 1,
        "events": [{"name": "e", "timeUnixNano": "1", "attributes": [pair]}],
        "links": [{"traceId": "a" * 32, "spanId": "b" * 16, "attributes": [pair]}],
    }


def json_record(number: int) -> dict[str, Any]:
    """Write a log record that uses every field."""
    pair = {"key": "number", "value": {"intValue": number}}
    return {
        "timeUnixNano": "1",
        "observedTimeUnixNano": "1",
        "severityNumber": 9,
        "traceId": "a" * 32,
        "spanId": "b" * 16,
        "eventName": f"item {number}",
        "body": {"kvlistValue": {"values": [pair]}},
        "attributes": [pair],
    }


KEYS: dict[Signal, tuple[str, str, str]] = {
    "traces": ("resourceSpans", "scopeSpans", "spans"),
    "logs": ("resourceLogs", "scopeLogs", "logRecords"),
}


def json_request(signal: Signal, items: list[Any]) -> dict[str, Any]:
    """Write a request in which each item has a resource and a scope of its own."""
    outer, middle, inner = KEYS[signal]
    return {
        outer: [
            {
                "resource": {"attributes": [{"key": "k", "value": {"stringValue": "v"}}]},
                middle: [{"scope": {"name": "s"}, inner: [item]}],
            }
            for item in items
        ]
    }


def damage(data: st.DataObject, value: Any) -> None:
    """Put something wrong in the place of some part of a list or an object, however deep."""
    while True:
        keys = sorted(value) if isinstance(value, dict) else range(len(value))
        key = data.draw(st.sampled_from(keys))
        if not isinstance(value[key], (dict, list)) or not value[key] or data.draw(ONE_IN_FOUR):
            value[key] = data.draw(junk)
            return
        value = value[key]


def names(batch: Batch) -> list[str]:
    """Read the items of a batch to the end, as the pipeline does, and return their names."""
    reader = Reader(Normaliser(intern_bytes=10_000), read=lambda _: [], count=failed)
    entry = Entry(
        id=1,
        received_ns=1,
        receiver="test",
        signal=batch.signal,
        encoding="proto",
        items=batch.accepted,
        body=b"",
    )
    items: list[Span | LogRecord] = [*batch.items()]
    assert len(items) == batch.accepted
    assert bool(batch.rejected) == bool(batch.reject_reason)
    for position, item in enumerate(items):
        assert len(key_of(item)) == 24
        reader.held(entry, position, item)
    return [item.name if isinstance(item, Span) else item.event_name for item in items]


def failed(*names: Any, **labels: Any) -> None:
    """Fail: a counter of errors was raised."""
    raise AssertionError((names, labels))


@EXAMPLES
def test_what_is_right_in_json_is_taken(examples: int) -> None:
    """However many items of a JSON request are wrong, the others are taken, and each is counted."""

    @settings(max_examples=examples, deadline=None)
    @given(st.sampled_from(sorted(KEYS)), st.integers(1, 4), st.booleans(), st.data())
    def holds(signal: Signal, count: int, outside: bool, data: st.DataObject) -> None:
        outer, middle, inner = KEYS[signal]
        write = json_span if signal == "traces" else json_record
        request = json_request(signal, [write(number) for number in range(count)])
        right = []
        for number, group in enumerate(request[outer]):
            if data.draw(st.booleans()):
                right.append(f"item {number}")
            else:
                damage(data, group if outside else group[middle][0][inner])
        body = json.dumps(request).encode()
        for _ in range(body.count(MARKED)):
            body = body.replace(MARKED, data.draw(st.sampled_from(NO_JSON)), 1)
        batch = otlp.parse(signal, "json", body)
        assert [name for name in names(batch) if name in right] == right
        if not outside:
            assert batch.accepted + batch.rejected == count

    holds()


def proto_request(signal: Signal, count: int) -> bytes:
    """Write a protobuf request that uses every text of the protocol, each marked and numbered."""
    if signal == "traces":
        traces = ExportTraceServiceRequest()
        for number in range(count):
            group = traces.resource_spans.add(schema_url=f"{MARK}{number}")
            entity = group.resource.entity_refs.add(schema_url=f"{MARK}{number}")
            entity.id_keys.append(f"{MARK}{number}")
            scoped = group.scope_spans.add(schema_url=f"{MARK}{number}")
            scoped.scope.name = scoped.scope.version = f"{MARK}{number}"
            span = scoped.spans.add(name=f"{MARK}{number}", trace_state=f"{MARK}{number}")
            span.trace_id, span.span_id = bytes([number + 1]) * 16, bytes([number + 1]) * 8
            span.status.message = f"{MARK}{number}"
            span.events.add(name=f"{MARK}{number}")
            span.links.add(trace_state=f"{MARK}{number}")
            _fill(group.resource.attributes, number)
            for pairs in (scoped.scope, span, span.events[0], span.links[0]):
                _fill(pairs.attributes, number)
        return traces.SerializeToString()
    logs = ExportLogsServiceRequest()
    for number in range(count):
        records = logs.resource_logs.add(schema_url=f"{MARK}{number}").scope_logs.add()
        record = records.log_records.add(
            event_name=f"{MARK}{number}", severity_text=f"{MARK}{number}"
        )
        record.body.string_value = f"{MARK}{number}"
        _fill(record.attributes, number)
    return logs.SerializeToString()


def _fill(pairs: Any, number: int) -> None:
    pairs.add(key=f"{MARK}{number}").value.string_value = f"{MARK}{number}"
    several = pairs.add(key="several").value.array_value.values.add()
    several.kvlist_value.values.add(key=f"{MARK}{number}").value.string_value = f"{MARK}{number}"


@EXAMPLES
def test_what_is_no_text_in_protobuf_costs_nothing(examples: int) -> None:
    """Wherever bytes are no text, every span and every other text is taken as it is."""

    @settings(max_examples=examples, deadline=None)
    @given(st.sampled_from(sorted(KEYS)), st.integers(1, 3), st.data())
    def holds(signal: Signal, count: int, data: st.DataObject) -> None:
        body = proto_request(signal, count)
        whole = otlp.parse(signal, "proto", body)
        assert whole.accepted == count
        for _ in range(data.draw(st.integers(1, 20))):
            place = body.find(MARK.encode(), data.draw(st.integers(0, len(body))))
            if place >= 0:
                body = body[:place] + data.draw(st.sampled_from(NO_TEXT)) + body[place + 4 :]
        batch = otlp.parse(signal, "proto", body)
        assert (batch.accepted, batch.rejected) == (count, 0)
        assert [name[-1] for name in names(batch)] == [name[-1] for name in names(whole)]
        assert _shape(batch.items()) == _shape(whole.items())

    holds()


def _shape(items: Any) -> str:
    """Write items with everything taken out that was marked."""
    written = msgspec.json.encode(items).decode()
    for wrong in (MARK, *(raw.decode(errors="surrogateescape") for raw in NO_TEXT)):
        written = written.replace("".join("?" if c > "~" else c for c in wrong), "")
    return written


@EXAMPLES
def test_any_bytes_are_a_request_or_refused(examples: int) -> None:
    """Bytes of any kind, and requests cut and changed anywhere, are taken or one of our errors."""
    requests = [
        proto_request("traces", 2),
        proto_request("logs", 2),
        *(json.dumps(json_request("traces", [json_span(n)])).encode() for n in range(2)),
        json.dumps(json_request("logs", [json_record(1)])).encode(),
        b"",
    ]

    @settings(max_examples=examples, deadline=None)
    @given(
        st.sampled_from(sorted(KEYS)),
        st.sampled_from(["proto", "json"]),
        st.sampled_from(requests),
        st.lists(st.tuples(st.integers(0, 900), st.integers(0, 9), st.binary(max_size=6))),
    )
    def holds(
        signal: Signal, encoding: Encoding, body: bytes, edits: list[tuple[int, int, bytes]]
    ) -> None:
        for place, length, new in edits:
            body = body[:place] + new + body[place + length :]
        try:
            batch = otlp.parse(signal, encoding, body)
        except PermanentError:
            return
        names(batch)

    holds()


def test_a_span_of_very_many_attributes_is_read() -> None:
    """A hundred thousand attributes, numbered as in flattened conventions, are one span."""
    many = {f"llm.input_messages.{n}.message.content": "x" for n in range(100_000)}
    span = build.span(attributes={"openinference.span.kind": "LLM", **many})
    assert len(Normaliser().span(span).input) == 100_000


@pytest.mark.parametrize("depth", [60, 5_000])
def test_deep_values_inside_json_text(depth: int) -> None:
    """However deep the JSON in an attribute is, its span is read and stays text."""
    deep = "[" * depth + "]" * depth
    for text in (deep, deep[:depth], '{"a":' * depth, f'[{{"role":"user","content":{deep}}}]'):
        span = build.span(
            attributes={"gen_ai.operation.name": "chat", "gen_ai.input.messages": text}
        )
        msgspec.json.encode(Normaliser().span(span))
