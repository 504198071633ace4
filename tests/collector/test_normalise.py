"""Test that anything can be normalised."""

from __future__ import annotations

import json
from typing import Any

import msgspec
from hypothesis import given, settings
from hypothesis import strategies as st

from collector.conversations import build
from collector.message_keys import MessageKeys
from collector.model import Episode, Message, Usage
from collector.normalise import Normaliser, span_key
from collector.telemetry import LogRecord, Span, SpanEvent
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
    "metadata",
    "request_data",
    "response_data",
    "events",
    "all_messages_events",
    "tool_arguments",
    "gcp.vertex.agent.llm_request",
    "gcp.vertex.agent.llm_response",
    "gcp.vertex.agent.tool_response",
    "langfuse.observation.input",
    "langfuse.observation.output",
    "langfuse.observation.usage_details",
    "ai.prompt",
    "ai.response.toolCalls",
    "mcp.method.name",
    "mcp.response.value",
    "request",
    "tool.parameters",
    "tool_name",
    "tool_use_id",
    "prompt",
    "response",
    "body",
    "db.system",
]
SCOPES = [
    "",
    "openinference.instrumentation.langchain",
    "opentelemetry.instrumentation.openai",
    "opentelemetry.instrumentation.genai.openai",
    "pydantic-ai",
    "logfire.openai",
    "gcp.vertex.agent",
    "com.anthropic.claude_code.events",
    "langfuse-sdk",
    "langsmith",
    "ai",
    "mcp",
]
WORDS = ["LLM", "TOOL", "RETRIEVER", "llm", "tool", "agent", "retriever", "generation", "chat"]
FIELDS = ["role", "content", "parts", "type", "text", "tool_calls", "function", "name", "id"]
FIELDS += ["arguments", "message", "data", "input", "toolUse", "output", "result", "documents"]
FIELDS += ["choices", "candidates", "generations", "messages", "usage", "kwargs", "args", "source"]
FIELDS += ["image_url", "additional_kwargs", "tool_call_id", "event.name", "params", "response"]

scalars = (
    st.none()
    | st.booleans()
    | st.integers(-5, 2**70)
    | st.floats()
    | st.sampled_from([*WORDS, "execute_tool", "user", "assistant", "text", "tool_call", "[{"])
)


def deeper(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """Put values into lists and objects of the keys that matter."""
    fields = st.dictionaries(st.sampled_from(FIELDS), inner, max_size=4)
    return scalars | st.lists(inner, max_size=3) | fields


json_values = deeper(deeper(deeper(scalars)))
texts = json_values.map(lambda value: msgspec.json.encode(value).decode())
cut = st.tuples(texts, st.integers(0, 200)).map(lambda pair: pair[0][: pair[1]])
values = json_values | texts | cut | texts.map(repr) | st.binary(max_size=5) | st.text(max_size=9)
some_attributes = st.dictionaries(st.sampled_from(KEYS), values, max_size=6)


@given(some_attributes, st.sampled_from(SCOPES), some_attributes)
@settings(max_examples=200, deadline=None)
def test_no_span_raises(
    attributes: dict[str, Any], scope: str, of_an_event: dict[str, Any]
) -> None:
    """Whatever the known keys and events hold, in whichever scope, a span becomes facts."""
    names = ("gen_ai.choice", "gen_ai.content.prompt", "db.query.result")
    events = tuple(SpanEvent(name=name, time_ns=1, attributes=of_an_event) for name in names)
    read = Normaliser(intern_bytes=10_000).span(
        span(attributes=attributes, scope_name=scope, events=events)
    )
    msgspec.json.encode(read)


@given(
    st.sampled_from(["gen_ai.choice", "gen_ai.user.message", "tool_result", "api_request"]),
    some_attributes,
    st.sampled_from(SCOPES),
    values,
)
@settings(max_examples=150, deadline=None)
def test_no_log_raises(name: str, attributes: dict[str, Any], scope: str, body: Any) -> None:
    """Whatever a log record holds, it becomes facts or nothing."""
    record = LogRecord(
        time_ns=5,
        event_name=name,
        body=body,
        attributes=attributes,
        scope_name=scope,
        resource={},
    )
    msgspec.json.encode(Normaliser(intern_bytes=10_000).log(record))


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


def test_the_scope_decides_who_is_asked_first() -> None:
    """Its own dialect reads a span that another would take, unless its keys say otherwise."""
    chat = {"gen_ai.operation.name": "chat", "gen_ai.request.model": "m"}
    normaliser = Normaliser()
    dialects = {
        "opentelemetry.instrumentation.genai.openai": "otel_genai",
        "opentelemetry.instrumentation.openai": "openllmetry",
        "gcp.vertex.agent": "google_adk",
        "pydantic-ai": "logfire",
        "langsmith": "otel_genai",
    }
    for scope, dialect in dialects.items():
        assert normaliser.span(span(attributes=chat, scope_name=scope)).dialect == dialect
    for number in range(3_000):
        normaliser.span(span(attributes=chat, scope_name=f"scope-{number}"))


def test_dialects_mix_in_one_trace() -> None:
    """A parent of one convention and children of others make one conversation."""
    asked = json.dumps([{"role": "user", "content": "Is room 1 free?"}])
    call = json.dumps({"tool_calls": [{"id": "c1", "name": "room", "args": {"n": 1}}]})
    read = Normaliser().span
    facts = [
        read(span("run", id="1" * 16, attributes={"langsmith.span.kind": "chain"})),
        read(
            span(
                "model",
                id="2" * 16,
                parent="1" * 16,
                attributes={
                    "openinference.span.kind": "LLM",
                    "input.value": asked,
                    "output.value": call,
                },
            )
        ),
        read(
            span(
                "chat m",
                id="3" * 16,
                parent="2" * 16,
                attributes={"gen_ai.operation.name": "chat", "gen_ai.usage.input_tokens": 9},
            )
        ),
        read(
            span(
                "ai.toolCall",
                id="4" * 16,
                parent="1" * 16,
                attributes={
                    "ai.operationId": "ai.toolCall",
                    "ai.toolCall.id": "c1",
                    "ai.toolCall.name": "room",
                    "ai.toolCall.result": "free",
                },
            )
        ),
    ]
    built = build(facts, id="c", explicit=False, episode=Episode(), keys=MessageKeys())
    conversation = built.conversation
    assert [f.dialect for f in facts] == [
        "langsmith",
        "openinference",
        "otel_genai",
        "vercel_legacy",
    ]
    assert [call.usage for call in conversation.llm_calls] == [Usage(input=9)]
    assert [(c.id, c.arguments, c.result) for c in conversation.tool_calls] == [
        ("c1", {"n": 1}, "free")
    ]
    assert [m.role for m in conversation.messages] == ["user", "assistant", "tool"]


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
