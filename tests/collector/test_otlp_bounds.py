"""Test that requests of too many entries are refused before anything is made of them."""

from __future__ import annotations

import pytest
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from collector import otlp
from collector.errors import MalformedError, OversizedError
from collector.otlp_bounds import BOUNDS, Bounds, check_json, check_proto

FEW = Bounds(groups=200, entries=1_000, fields=2_000)
"""Limits that a test reaches at once."""
MANY = FEW.groups + 1
VERY_MANY = FEW.entries + 1


def within(*tags: int, body: bytes) -> bytes:
    """Put bytes into messages in messages, the outermost first."""
    for tag in reversed(tags):
        size, length = len(body), bytearray()
        while size > 0x7F:
            length.append(size & 0x7F | 0x80)
            size >>= 7
        body = bytes([tag]) + bytes([*length, size]) + body
    return body


PROTO_BOMBS = {
    "resources": b"\x0a\x00" * MANY,
    "resources with long tags": b"\x8a\x80\x00\x00" * MANY,
    "resources with unknown fields": b"\x0a\x02\x38\x00" * MANY,
    "scopes": within(0x0A, body=b"\x12\x00" * MANY),
    "spans": within(0x0A, 0x12, body=b"\x12\x00" * MANY),
    "resource attributes": within(0x0A, 0x0A, body=b"\x0a\x00" * VERY_MANY),
    "attributes": within(0x0A, 0x12, 0x12, body=b"\x4a\x00" * VERY_MANY),
    "events": within(0x0A, 0x12, 0x12, body=b"\x5a\x00" * VERY_MANY),
    "links": within(0x0A, 0x12, 0x12, body=b"\x6a\x00" * VERY_MANY),
    "attributes of a link": within(0x0A, 0x12, 0x12, 0x6A, body=b"\x22\x00" * VERY_MANY),
    "values of an array": within(0x0A, 0x12, 0x12, 0x4A, 0x12, 0x2A, body=b"\x0a\x00" * VERY_MANY),
}


@pytest.mark.parametrize("body", PROTO_BOMBS.values(), ids=PROTO_BOMBS)
def test_entries_of_two_bytes(body: bytes) -> None:
    """Millions of tiny entries are refused wherever they stand."""
    with pytest.raises(OversizedError, match="send smaller batches"):
        check_proto("traces", body, FEW)


def test_entries_of_log_records() -> None:
    """Log records are counted as spans are."""
    body = within(0x0A, 0x12, body=b"\x12\x00" * MANY)
    with pytest.raises(OversizedError, match="log records"):
        check_proto("logs", body, FEW)


def test_fields_without_end() -> None:
    """Fields that nobody knows are not looked at for ever."""
    with pytest.raises(OversizedError, match="fields"):
        check_proto("traces", b"\x08\x00" * FEW.fields + b"\x0a\x00" * MANY, FEW)


@pytest.mark.parametrize("head", [b"\x0b", b"\x0b\x0c", b"\x0f"])
def test_nothing_hides_entries(head: bytes) -> None:
    """What stands behind a group or an invalid field is not let through uncounted."""
    with pytest.raises(MalformedError):
        otlp.parse("traces", "proto", head + b"\x0a\x00" * (BOUNDS.groups + 1))


@pytest.mark.parametrize("tail", [b"\x0a", b"\x0a\x05", b"\x8a" * 20, b"\x09\x00"])
def test_a_cut_request_is_malformed(tail: bytes) -> None:
    """Bytes that end too early are the decoder's to refuse, however many entries they hold."""
    body = within(0x0A, 0x12, 0x12, body=b"\x4a\x00" * MANY) + tail
    check_proto("traces", body, FEW)
    with pytest.raises(MalformedError, match="not a protobuf"):
        otlp.parse("traces", "proto", body)


@pytest.mark.parametrize("text", ['"2Jj\n' * 1_000, "a\x00b" * 1_000], ids=["tags", "zeros"])
def test_texts_are_not_entries(text: str) -> None:
    """A request of few entries passes, whatever bytes its texts are full of."""
    request = ExportTraceServiceRequest()
    spans = request.resource_spans.add().scope_spans.add().spans
    for number in range(3):
        span = spans.add(trace_id=b"t" * 16, span_id=bytes([number]) * 7 + b"s")
        span.attributes.add(key="text").value.string_value = text
        span.events.add(name=text).attributes.add(key="k").value.int_value = 1
        span.links.add(trace_id=b"u" * 16).attributes.add(key="k").value.double_value = 1.0
        span.start_time_unix_nano = 1 << 60
    body = request.SerializeToString()
    check_proto("traces", body, FEW)
    assert otlp.parse("traces", "proto", body).accepted == 3


def test_a_large_batch_of_small_records_passes() -> None:
    """As many small records as a busy collector sends at once are taken."""
    request = ExportLogsServiceRequest()
    records = request.resource_logs.add().scope_logs.add().log_records
    for number in range(20_000):
        record = records.add(severity_number=9)
        record.body.string_value = "said"
        for key in ("a", "b", "c", "d"):
            record.attributes.add(key=key).value.int_value = number
    assert otlp.parse("logs", "proto", request.SerializeToString()).accepted == 20_000


JSON_BOMBS = {
    "resources": b'{"resourceSpans":[%s{}]}' % (b"{}," * VERY_MANY),
    "behind a text": b'{"x":"\\"{","resourceSpans":[%s{}]}' % (b"{}," * VERY_MANY),
}


@pytest.mark.parametrize("body", JSON_BOMBS.values(), ids=JSON_BOMBS)
def test_entries_in_json(body: bytes) -> None:
    """JSON is held to the same limits."""
    with pytest.raises(OversizedError, match="send smaller batches"):
        check_json(body, FEW)


@pytest.mark.parametrize(
    ("signal", "body"),
    [
        ("traces", b'{"resourceSpans":[%s]}'),
        ("traces", b'{"resourceSpans":[{"scopeSpans":[{"spans":[%s]}]}]}'),
        ("logs", b'{"resourceLogs":[{"scopeLogs":[{"logRecords":[%s]}]}]}'),
    ],
)
def test_groups_in_json(signal: otlp.Signal, body: bytes) -> None:
    """Spans and log records are limited more than what they hold."""
    with pytest.raises(OversizedError, match="log records"):
        otlp.parse(signal, "json", body % (b"{}," * BOUNDS.groups + b"{}"))


def test_braces_in_texts_are_not_entries() -> None:
    """A text full of braces is one entry, whether it ends or not."""
    text = b'{\\"' * VERY_MANY
    for body in (b'{"x":"%s"}' % text, b'{"x":"%s' % text, b'{"x":"%s\\' % text):
        check_json(body, FEW)
