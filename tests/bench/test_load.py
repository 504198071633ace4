"""The requests are repeatable, mixed and of a realistic size."""

from itertools import count
from pathlib import Path

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import Span

from bench.corpus_spans import INVENTED, corpus_spans, draw
from bench.load import MAX_BYTES, MAX_SPANS, Body, Load, Step, Talk, make_load
from bench.small_spans import small_spans
from collector.otlp import parse

START_NS = 2_000_000_000_000_000_000


def small(conversations: int, seed: int = 1) -> Load:
    """Make a load of small spans on a clock that ticks."""
    ticks = count(START_NS, 1_000_000)
    return small_spans(conversations, seed=seed, clock_ns=lambda: next(ticks))


def spans_of(body: Body) -> list[Span]:
    """Decode one request."""
    request = ExportTraceServiceRequest.FromString(body.data)
    return [
        span
        for resource in request.resource_spans
        for scope in resource.scope_spans
        for span in scope.spans
    ]


def test_the_same_seed_gives_the_same_bytes() -> None:
    """Two systems can be sent the same, on two days."""
    assert small(30) == small(30)
    assert small(30) != small(30, seed=2)


def test_small_spans_are_one_to_two_kilobytes_four_a_conversation() -> None:
    """The load is what it is called."""
    load = small(100)
    sizes = [span.ByteSize() for body in load.bodies for span in spans_of(body)]
    assert load.conversations == 100
    assert load.spans == len(sizes) == 400
    assert 1_000 <= load.span_bytes_mean <= 2_000
    assert min(sizes) > 950
    assert max(sizes) < 2_300


def test_requests_keep_to_their_limits_and_mix_conversations() -> None:
    """A request holds spans of many conversations, as an exporter's batch does."""
    load = small(100)
    assert [body.spans for body in load.bodies] == [MAX_SPANS] * 4
    assert all(len(body.data) < MAX_BYTES + 4_096 for body in load.bodies)
    assert all(len({span.trace_id for span in spans_of(body)}) > 10 for body in load.bodies)


def test_every_span_is_accepted_and_every_conversation_ends() -> None:
    """Outrider's own decoder takes all of it, and each conversation says that it is over."""
    batches = [parse("traces", "proto", body.data) for body in small(50).bodies]
    spans = [span for batch in batches for span in batch.spans()]
    assert sum(batch.rejected for batch in batches) == 0
    assert len({(span.trace_id, span.span_id) for span in spans}) == 200
    assert sum(span.attributes.get("outrider.conversation.end") is True for span in spans) == 50


def test_large_spans_close_a_request_early() -> None:
    """A request is sent once it has grown to its size, however few spans it holds."""

    def talk() -> Talk:
        for number in range(4):
            yield Step(resource=(), spans=(Span(name="x" * (MAX_BYTES // 2 + 1), flags=number),))

    load = make_load("large", [talk()], title="", story="", in_flight=1, seed=1)
    assert [body.spans for body in load.bodies] == [2, 2]


def test_a_load_of_nothing_has_no_requests() -> None:
    """No conversation, no request."""
    load = make_load("none", [], title="", story="", in_flight=1, seed=1)
    assert (load.spans, load.size, load.bodies) == (0, 0, ())


def test_without_corpora_conversations_of_the_same_size_are_invented(tmp_path: Path) -> None:
    """They are as large on the wire as the real ones, within a fifth, and the page says so."""
    drawn, story = draw(tmp_path, 150, seed=3)
    load = corpus_spans(drawn, story=story, seed=3, clock_ns=lambda: START_NS)
    assert story == INVENTED
    assert load.conversations == 150
    assert load.span_bytes_mean == pytest.approx(12_500, rel=0.2)
    assert load.span_bytes_p95 == pytest.approx(32_000, rel=0.2)
