"""Test that what is written as OTLP again reads as it was."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from hypothesis import example, given, settings
from hypothesis import strategies as st

from collector.otlp import parse
from collector.otlp_records import logs_request, spans_request
from collector.telemetry import LogRecord, Span, SpanEvent, SpanLink

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=6)
values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | st.floats(allow_nan=False)
    | st.binary(max_size=4)
    | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=6,
)
attributes = st.dictionaries(texts.filter(bool), values, max_size=3)
RESOURCE: dict[str, Any] = {"service.name": "shop"}


@st.composite
def spans(draw: st.DrawFn) -> Span:
    """Draw a span with something in every field."""
    number = draw(st.integers(1, 2**63))
    return Span(
        trace_id=f"{number:032x}",
        span_id=f"{number:016x}",
        parent_id=draw(st.sampled_from(["", "00f067aa0ba902b7"])),
        name=draw(texts),
        kind=draw(st.integers(0, 5)),
        start_ns=number,
        end_ns=draw(st.sampled_from([0, number])),
        status_code=draw(st.integers(0, 2)),
        status_message=draw(texts),
        trace_state=draw(texts),
        flags=draw(st.integers(0, 2**32 - 1)),
        attributes=draw(attributes),
        dropped_attributes=draw(st.integers(0, 3)),
        events=(SpanEvent(name=draw(texts), time_ns=number, attributes=draw(attributes)),),
        links=(
            SpanLink(
                trace_id="1" * 32, span_id="2" * 16, trace_state="a=b", attributes=draw(attributes)
            ),
        ),
        scope_name=draw(texts),
        scope_version=draw(texts),
        resource=draw(st.sampled_from([RESOURCE, {"service.name": "other"}])),
    )


@settings(max_examples=100, deadline=None)
@given(st.lists(spans(), max_size=4))
def test_spans_read_as_they_were(items: Sequence[Span]) -> None:
    """Every field of every span is there again, in the same order."""
    assert parse("traces", "proto", spans_request(items)).spans() == list(items)


@settings(max_examples=60, deadline=None)
@given(values, attributes, st.integers(0, 24))
@example("", {}, 0)
def test_log_records_read_as_they_were(body: Any, found: Any, severity: int) -> None:
    """Every field of a log record is there again."""
    record = LogRecord(
        time_ns=5,
        trace_id="4bf92f3577b34da6a3ce929d0e0e4736",
        span_id="00f067aa0ba902b7",
        severity=severity,
        event_name="gen_ai.choice",
        body=body,
        attributes=found,
        scope_name="s",
        scope_version="1",
        resource=RESOURCE,
    )
    assert parse("logs", "proto", logs_request([record])).logs() == [record]


def test_what_protobuf_cannot_hold_becomes_what_it_can() -> None:
    """A whole number of more than 64 bits becomes text, half a character a question mark."""
    span = Span(
        trace_id="1" * 32,
        span_id="2" * 16,
        name="\ud800",
        start_ns=1,
        attributes={"n": 2**70, "\udc00": math.inf},
        resource={},
    )
    (read,) = parse("traces", "proto", spans_request([span])).spans()
    assert (read.name, read.attributes) == ("?", {"n": str(2**70), "?": math.inf})


def test_numbers_that_a_field_cannot_hold_mean_nothing() -> None:
    """JSON brings numbers of 33 bits, which stop neither the span nor the record nor those beside them."""
    form = '{{"resource{of}":[{{"scope{of}":[{{"{items}":[{{{one}}}]}}]}}]}}'
    for number in (-(2**31), 2**32 - 1):
        one = (
            f'"traceId":"{"1" * 32}","spanId":"{"2" * 16}","name":"n","startTimeUnixNano":"1",'
            f'"kind":{number},"flags":{number},"droppedAttributesCount":{number},'
            f'"status":{{"code":{number}}}'
        )
        body = form.format(of="Spans", items="spans", one=one).encode()
        (span,) = parse(
            "traces", "proto", spans_request(parse("traces", "json", body).spans())
        ).spans()
        assert span.name == "n"
        assert {span.kind, span.status_code} == {min(number, 0)}
        assert {span.flags, span.dropped_attributes} == {max(number, 0)}
        body = form.format(of="Logs", items="logRecords", one=f'"severityNumber":{number}').encode()
        (record,) = parse("logs", "proto", logs_request(parse("logs", "json", body).logs())).logs()
        assert record.severity == min(number, 0)
