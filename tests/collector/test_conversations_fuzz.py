"""Fuzz the path from spans to conversations: whatever spans hold, every one of them is placed."""

from __future__ import annotations

from typing import Any

import msgspec
from hypothesis import given, settings
from hypothesis import strategies as st

from collector.normalise import Normaliser
from collector.otlp_transcripts import Recording
from collector.telemetry import LogRecord, Span, SpanEvent
from tests.collector.test_normalise import SCOPES, some_attributes, values
from tests.examples import EXAMPLES

EVENTS = ["gen_ai.choice", "gen_ai.tool.message", "gen_ai.client.inference.operation.details"]
ids = st.integers(1, 5)
drawn_spans = st.tuples(
    ids,
    ids,
    st.integers(0, 5),
    st.integers(0, 2**64 - 1) | st.just(0),
    st.integers(0, 2**64 - 1) | st.just(0),
    st.sampled_from(SCOPES),
    some_attributes,
    some_attributes,
)
drawn_records = st.tuples(ids, st.integers(0, 5), st.sampled_from(EVENTS), some_attributes, values)


def span(drawn: Any) -> Span:
    """Build a span of one of few traces, so that some are kin, their own parents or the same."""
    trace, own, parent, start, end, scope, attributes, of_an_event = drawn
    return Span(
        trace_id=f"{trace:032x}",
        span_id=f"{own:016x}",
        parent_id=f"{parent:016x}" if parent else "",
        name="chat",
        start_ns=start,
        end_ns=end,
        attributes=attributes,
        events=(SpanEvent(name=EVENTS[own % 3], time_ns=start, attributes=of_an_event),),
        scope_name=scope,
        resource={},
    )


def record(drawn: Any) -> LogRecord:
    """Build a log record about such a span, or about none."""
    trace, own, name, attributes, body = drawn
    return LogRecord(
        time_ns=1,
        trace_id=f"{trace:032x}",
        span_id=f"{own:016x}" if own else "",
        event_name=name,
        body=body,
        attributes=attributes,
        resource={},
    )


@EXAMPLES
def test_any_spans_become_conversations(examples: int) -> None:
    """Spans and log records of anything, kin in any way, are put together without an error."""

    @settings(max_examples=examples, deadline=None)
    @given(st.lists(drawn_spans, max_size=6), st.lists(drawn_records, max_size=3))
    def holds(spans: list[Any], records: list[Any]) -> None:
        recording, normaliser = Recording(), Normaliser(intern_bytes=10_000)
        for item in map(span, spans):
            # Beside it, because the path takes a span that cannot be read for a plain one.
            msgspec.json.encode(normaliser.span(item))
            recording.add([item], size=9)
        for said in map(record, records):
            msgspec.json.encode(normaliser.log(said))
            recording.add([said], size=9)
        found = list(recording.conversations())
        msgspec.json.encode(found)
        kinds = {(drawn[0], drawn[1]) for drawn in spans}
        assert sum(c.span_count for c in found) <= len(kinds) + len(records)

    holds()
