"""Test that texts which are no UTF-8 do not cost a protobuf request."""

from __future__ import annotations

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from collector import otlp
from collector.errors import MalformedError
from collector.otlp_bounds import Bounds
from collector.otlp_proto_texts import mended


def request(*texts: str) -> bytes:
    """Write a request of one span a text."""
    request = ExportTraceServiceRequest()
    spans = request.resource_spans.add().scope_spans.add().spans
    for number, text in enumerate(texts, start=1):
        span = spans.add(trace_id=bytes([number] * 16), span_id=bytes([number] * 8))
        span.attributes.add(key="k").value.string_value = text
    return request.SerializeToString()


def test_a_text_cut_inside_a_character_costs_nothing() -> None:
    """What is left of the character becomes question marks; all else stays as it was."""
    body = request("Grüße", "cut: X", "größer").replace(b"X", b"\xe2")
    batch = otlp.parse("traces", "proto", body)
    assert [span.attributes["k"] for span in batch.spans()] == ["Grüße", "cut: ?", "größer"]
    assert batch.rejected == 0


def test_what_is_wrong_otherwise_stays_wrong() -> None:
    """Bytes that are no request, or that end too early, are refused as before."""
    body = request("X" * 9).replace(b"X", b"\xff")
    found = mended("traces", body)
    assert found is not None
    assert found.count(b"?") == 9
    for wrong in (body[:-3], body + b"\x0a\x7f", b"\xff" * 40):
        with pytest.raises(MalformedError, match="not a protobuf ExportTraceServiceRequest"):
            otlp.parse("traces", "proto", wrong)


def test_mending_is_bounded() -> None:
    """Nobody walks through endless fields; what stands behind the bound is refused as before."""
    body = request("x", "X").replace(b"X", b"\xff")
    assert mended("traces", body) == request("x", "?")
    assert mended("traces", body, Bounds(fields=9)) is None
    assert mended("traces", request("x")) is None
