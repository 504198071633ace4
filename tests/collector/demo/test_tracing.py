"""Test that the spans tell the conversations as they were."""

from __future__ import annotations

import base64
import json
import random
from collections.abc import Iterable, Sequence

from google.protobuf import json_format
from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import SpanKind, StatusCode

from collector.demo.dialogue import SECOND, Played
from collector.demo.mistakes import Regression
from collector.demo.story import Story, events
from collector.demo.tool_list import TOOLS
from collector.demo.tracing import AGENT, END, Telling, Tracers
from collector.model import Conversation
from collector.otlp_transcripts import otlp_conversations


def chance(seed: int) -> random.Random:
    """Return a source of chance."""
    return random.Random(seed)  # noqa: S311 - repeatable, not secret


def conversations(seed: int = 4) -> list[Played]:
    """Play an hour."""
    story = Story(
        chance(seed),
        end_ns=1_790_000_000 * SECOND,
        regression=Regression(),
        hours=1.0,
        switch_hours=(0.3, 0.5),
    )
    return list(story.conversations())


def told(played: Iterable[Played]) -> Sequence[ReadableSpan]:
    """Tell of conversations into memory."""
    exporter = InMemorySpanExporter()
    telling = Telling(Tracers(SimpleSpanProcessor(exporter), chance(1)), chance(2))
    for event in events(played):
        telling.tell(event)
    return exporter.get_finished_spans()


def received(spans: Sequence[ReadableSpan]) -> list[Conversation]:
    """Put conversations together from what an exporter would send."""
    message = json_format.MessageToDict(encode_spans(spans), use_integers_for_enums=True)
    for resource in message["resourceSpans"]:
        for scope in resource["scopeSpans"]:
            for span in scope["spans"]:
                for key in ("traceId", "spanId", "parentSpanId"):
                    if key in span:
                        span[key] = base64.b64decode(span[key]).hex()

    def fail(number: int, reason: str) -> None:
        raise AssertionError(f"{number}: {reason}")

    return list(otlp_conversations([json.dumps(message).encode()], on_error=fail))


def test_the_receiver_sees_what_was_played() -> None:
    """Messages, tools, versions, times and token counts are those of the conversation."""
    played = {one.id: one for one in conversations()}
    found = received(told(played.values()))
    assert {one.id for one in found} == set(played)
    for one in found:
        want = played[one.id]
        assert one.messages == want.messages
        assert one.tools == TOOLS
        assert one.identity.agent == AGENT
        assert one.identity.agent_version == want.agent_version
        assert one.identity.environment == "production"
        assert one.episode.started_ns == want.started_ns
        assert len(one.turns) == len(want.turns)
        used = [call.usage.input for call in one.llm_calls if call.usage]
        assert used == sorted(used)
        assert len(used) == sum(m.role == "assistant" for m in want.messages)


def test_spans_come_in_the_order_of_their_end() -> None:
    """As a live agent sends them, with the end of the conversation on the last one."""
    spans = told(conversations())
    ends = [span.end_time or 0 for span in spans]
    assert ends == sorted(ends)
    last = {str((span.attributes or {})["gen_ai.conversation.id"]): span for span in spans}
    ended = [span for span in spans if (span.attributes or {}).get(END)]
    assert set(map(id, ended)) == set(map(id, last.values()))
    assert all(span.parent is None for span in ended)


def test_the_shape_of_a_turn() -> None:
    """A root of the agent, with the calls of the model and the tools inside it."""
    spans = told(conversations()[:5])
    roots = {span.context.trace_id: span for span in spans if span.context and not span.parent}
    for span in spans:
        assert span.context
        root = roots[span.context.trace_id]
        operation = (span.attributes or {})["gen_ai.operation.name"]
        if span is root:
            assert (span.name, operation) == (f"invoke_agent {AGENT}", "invoke_agent")
            continue
        assert span.parent == root.context
        assert (root.start_time or 0) <= (span.start_time or 0)
        assert (span.end_time or 0) <= (root.end_time or 0)
        assert span.kind is (SpanKind.CLIENT if operation == "chat" else SpanKind.INTERNAL)


def test_failed_tools_are_errors() -> None:
    """A tool span has an error type and status exactly where the tool failed."""
    spans = told(conversations())
    tools = [s for s in spans if s.name.startswith("execute_tool")]
    failed = [s for s in tools if s.status.status_code is StatusCode.ERROR]
    assert failed
    assert failed == [s for s in tools if "error.type" in (s.attributes or {})]
    assert all('"error":' in str((s.attributes or {})["gen_ai.tool.call.result"]) for s in failed)


def test_ids_follow_the_seed() -> None:
    """The same seeds give the same trace and span ids, and none twice."""
    one, other = (told(conversations()) for _ in range(2))
    assert [s.context for s in one] == [s.context for s in other]
    assert len({s.context.span_id for s in one if s.context}) == len(one)


def test_each_version_is_a_deployment() -> None:
    """The resource names the version that its spans come from."""
    for span in told(conversations()):
        version = (span.attributes or {})["gen_ai.agent.version"]
        assert span.resource.attributes["service.version"] == version
