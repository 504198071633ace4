"""Test that anything can be normalised."""

from __future__ import annotations

from typing import Any

import msgspec
from hypothesis import given, settings
from hypothesis import strategies as st

from collector.model import Message
from collector.normalise import Normaliser, span_key
from collector.telemetry import LogRecord, Span
from tests.build import span

KEYS = [
    "openinference.span.kind",
    "traceloop.span.kind",
    "langsmith.span.kind",
    "langfuse.observation.type",
    "ai.operationId",
    "gen_ai.operation.name",
    "gen_ai.input.messages",
    "gen_ai.output.messages",
    "gen_ai.system_instructions",
    "gen_ai.tool.definitions",
    "gen_ai.tool.name",
    "gen_ai.tool.call.arguments",
    "gen_ai.tool.call.result",
    "gen_ai.usage.input_tokens",
    "gen_ai.usage.output_tokens",
    "gen_ai.response.finish_reasons",
    "gen_ai.prompt",
    "gen_ai.completion",
    "gen_ai.prompt.0.role",
    "gen_ai.prompt.0.content",
    "llm.input_messages.0.message.role",
    "llm.input_messages.0.message.contents.0.message_content.text",
    "llm.output_messages.0.message",
    "llm.tools.0.tool.json_schema",
    "retrieval.documents.0.document.metadata",
    "input.value",
    "output.value",
    "traceloop.entity.input",
    "user.id",
    "session.id",
]
WORDS = ["LLM", "TOOL", "RETRIEVER", "llm", "tool", "agent", "retriever", "generation", "chat"]
FIELDS = ["role", "content", "parts", "type", "text", "tool_calls", "function", "name", "id"]
FIELDS += ["arguments", "message", "data", "input", "toolUse", "output", "result", "documents"]

json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-5, 2**70)
    | st.floats()
    | st.sampled_from([*WORDS, "execute_tool", "user", "assistant", "text", "tool_call", "[{"]),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(FIELDS), inner, max_size=4)
    ),
    max_leaves=10,
)
values = json_values | json_values.map(lambda value: msgspec.json.encode(value).decode())


@given(st.dictionaries(st.sampled_from(KEYS), values, max_size=6))
@settings(max_examples=150, deadline=None)
def test_no_span_raises(attributes: dict[str, Any]) -> None:
    """Whatever the known keys hold, a span becomes facts."""
    Normaliser(intern_bytes=10_000).span(span(attributes=attributes))


def test_a_span_that_nobody_knows_is_other() -> None:
    """A plain span keeps its place in the trace and says nothing about a model."""
    read = Normaliser().span(span("GET /", parent="3" * 16, attributes={"http.route": "/"}))
    assert (read.role, read.dialect, read.name, read.parent_id) == ("other", "", "GET /", "3" * 16)
    assert (read.start_ns, read.end_ns) == (1_000_000_000_000, 1_001_000_000_000)
    assert read.identity.agent == "shop"


def test_logs_that_say_nothing_are_left_out() -> None:
    """An ordinary log line is not about a conversation."""
    record = LogRecord(time_ns=1, event_name="startup", attributes={}, resource={})
    assert Normaliser().log(record) is None


def test_a_log_may_end_a_conversation() -> None:
    """The end event names its conversation and nothing else."""
    record = LogRecord(
        time_ns=1,
        event_name="outrider.conversation.end",
        attributes={"gen_ai.conversation.id": "c"},
        resource={},
    )
    read = Normaliser().log(record)
    assert read is not None
    assert (read.role, read.conversation_id, read.ends_conversation) == ("other", "c", True)


def test_the_first_dialect_that_matches_reads() -> None:
    """A span with keys of several conventions belongs to the most specific."""
    read = Normaliser().span(
        span(attributes={"openinference.span.kind": "LLM", "gen_ai.operation.name": "chat"})
    )
    assert read.dialect == "openinference"
    assert Normaliser(dialects=()).span(span(attributes={"gen_ai.tool.name": "t"})).role == "other"


def test_span_keys_are_trace_and_span_id() -> None:
    """A key has 24 bytes."""
    assert span_key("01" * 16, "02" * 8) == b"\x01" * 16 + b"\x02" * 8


def test_repeated_history_is_shared_between_calls() -> None:
    """A message parsed for one call is the same record in the next."""
    normaliser = Normaliser()

    def call(text: str) -> tuple[Message, ...]:
        attributes = {"gen_ai.operation.name": "chat", "gen_ai.input.messages": text}
        return normaliser.span(span(attributes=attributes)).input

    one = call('[{"role":"user","parts":[{"type":"text","content":"Hi"}]}]')
    other = call(
        '[{"role":"user","parts":[{"type":"text","content":"Hi"}]},{"role":"user","parts":[]}]'
    )
    assert isinstance(span(), Span)
    assert other[0] is one[0]
