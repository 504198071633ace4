"""Test the rows of spans."""

from __future__ import annotations

from typing import Any

from collector.stores.rows import span_rows
from collector.stores.tables import TABLES
from collector.telemetry import SpanEvent, SpanLink
from tests.build import span


def one(**more: Any) -> dict[str, Any]:
    """Build the row of one span, by column."""
    rows = span_rows([span(**more)], sample_probability=1.0)
    return dict(zip(TABLES["otel_traces"], rows["otel_traces"][0], strict=True))


def test_a_span_becomes_the_exporters_row() -> None:
    """Every column holds what the Collector's exporter would write."""
    row = one(
        kind=3,
        status_code=2,
        status_message="boom",
        parent="3" * 16,
        scope_name="lib",
        events=(SpanEvent(name="e", time_ns=5, attributes={"n": 1}),),
        links=(SpanLink(trace_id="4" * 32, span_id="5" * 16, trace_state="", attributes={}),),
    )
    assert row["Timestamp"] == "0000001000.000000000"
    assert (row["SpanKind"], row["StatusCode"], row["StatusMessage"]) == ("Client", "Error", "boom")
    assert (row["ServiceName"], row["Duration"]) == ("shop", 1_000_000_000)
    assert row["ResourceAttributes"] == {"service.name": "shop"}
    assert row["Events.Timestamp"] == ["0000000000.000000005"]
    assert row["Events.Attributes"] == [{"n": "1"}]
    assert row["Links.TraceId"] == ["4" * 32]


def test_attributes_are_flattened() -> None:
    """Numbers and booleans become JSON, bytes base64, null empty, nested values JSON."""
    row = one(
        attributes={
            "s": 'a"b',
            "i": 5,
            "f": 0.5,
            "t": True,
            "n": None,
            "b": b"\x00\x01",
            "l": [1, "x", b"\x00"],
            "m": {"k": [None, False]},
            "inf": float("inf"),
            "big": [2**70],
        }
    )
    assert row["SpanAttributes"] == {
        "s": 'a"b',
        "i": "5",
        "f": "0.5",
        "t": "true",
        "n": "",
        "b": "AAE=",
        "l": '[1,"x","AA=="]',
        "m": '{"k":[null,false]}',
        "inf": "inf",
        "big": f"[{2**70}]",
    }


def test_strange_enums_and_times_are_unspecified() -> None:
    """A kind or status out of range and an end before the start do not break the row."""
    row = one(kind=99, status_code=-1, seconds=-1.0)
    assert (row["SpanKind"], row["StatusCode"], row["Duration"]) == ("Unspecified", "Unset", 0)


def test_a_sampled_span_says_how_much_it_stands_for() -> None:
    """Below probability 1 both the attribute and the trace state carry it."""
    rows = span_rows([span(trace_state="v=1")], sample_probability=0.1)
    row = dict(zip(TABLES["otel_traces"], rows["otel_traces"][0], strict=True))
    assert row["SpanAttributes"]["SampleRate"] == "10"
    assert row["TraceState"] == "ot=th:e666,v=1"


def test_an_unsampled_span_is_left_as_it_came() -> None:
    """At probability 1 neither attribute nor trace state is touched."""
    row = one(trace_state="ot=th:8")
    assert row["TraceState"] == "ot=th:8"
    assert "SampleRate" not in row["SpanAttributes"]


def test_each_trace_gets_its_time_range() -> None:
    """The index table has one row per trace with its first and last span start."""
    spans = [span(start_s=10), span(start_s=5, id="9" * 16), span(trace="7" * 32, start_s=7)]
    assert span_rows(spans, sample_probability=1.0)["otel_traces_trace_id_ts"] == [
        ("1" * 32, 5, 10),
        ("7" * 32, 7, 7),
    ]


def test_no_spans_make_no_rows() -> None:
    """Nothing in, nothing out."""
    assert span_rows([], sample_probability=1.0) == {}
