"""Test OpenLLMetry in both generations, and Traceloop's decorators."""

from __future__ import annotations

import json
from typing import Any

import pytest

from collector.model import Document, Facts, JsonValue, Message, ToolDefinition, ToolRequest, Usage
from collector.normalise import Normaliser
from collector.telemetry import SpanEvent
from tests.build import agent, request, span, user

SCHEMA: Any = {"type": "object", "properties": {"number": {"type": "integer"}}}


def read(attributes: dict[str, Any], **more: Any) -> Facts:
    """Normalise one span."""
    return Normaliser().span(span(attributes=attributes, **more))


def test_the_flattened_generation_is_read() -> None:
    """Prompts are one attribute a field, native content blocks are JSON text."""
    use = {"type": "tool_use", "id": "c1", "name": "room", "input": {"number": 12}}
    answer = {"type": "tool_result", "tool_use_id": "c1", "is_error": True, "content": "none"}
    facts = read(
        {
            "gen_ai.system": "Anthropic",
            "llm.request.type": "completion",
            "gen_ai.request.model": "m",
            "gen_ai.prompt.0.role": "system",
            "gen_ai.prompt.0.content": "Be kind.",
            "gen_ai.prompt.1.role": "user",
            "gen_ai.prompt.1.content": "Is room 12 free?",
            "gen_ai.prompt.2.role": "assistant",
            "gen_ai.prompt.2.content": json.dumps([{"type": "text", "text": "Let me see."}, use]),
            "gen_ai.prompt.3.role": "user",
            "gen_ai.prompt.3.content": json.dumps([answer]),
            "llm.request.functions.0.name": "room",
            "llm.request.functions.0.description": "Look",
            "llm.request.functions.0.parameters": json.dumps(SCHEMA),
            "gen_ai.completion.0.role": "assistant",
            "gen_ai.completion.0.content": "",
            "gen_ai.completion.0.finish_reason": "tool_use",
            "gen_ai.completion.0.tool_calls.0.id": "c2",
            "gen_ai.completion.0.tool_calls.0.name": "room",
            "gen_ai.completion.0.tool_calls.0.arguments": '{"number": 13}',
            "gen_ai.usage.prompt_tokens": 2112,
            "gen_ai.usage.completion_tokens": 31,
            "gen_ai.usage.cache_read_input_tokens": 2000,
            "gen_ai.usage.cache_creation_input_tokens": 100,
        }
    )
    assert (facts.role, facts.dialect, facts.provider) == ("llm", "openllmetry", "anthropic")
    assert facts.system_prompt == "Be kind."
    assert facts.input == (
        user("Is room 12 free?"),
        agent("Let me see.", request("room", "c1", number=12)),
        Message(role="tool", text="none", tool_call_id="c1", is_error=True),
    )
    assert facts.output == (agent("", request("room", "c2", number=13)),)
    assert facts.finish_reason == "tool_call"
    assert facts.tools == (ToolDefinition(name="room", description="Look", parameters=SCHEMA),)
    assert facts.usage == Usage(input=2112, output=31, cache_read=2000, cache_write=100)


def test_the_new_generation_speaks_otels_keys() -> None:
    """The new form is known by its scope and read like OTel's, native tools included."""
    facts = read(
        {
            "gen_ai.operation.name": "chat",
            "gen_ai.request.model": "m",
            "gen_ai.input.messages": json.dumps(
                [{"role": "user", "parts": [{"type": "text", "content": "Hi"}]}]
            ),
            "gen_ai.tool.definitions": json.dumps([{"name": "room", "input_schema": SCHEMA}]),
            "gen_ai.usage.input_tokens": 5,
            "gen_ai.usage.output_tokens": 2,
            "gen_ai.usage.reasoning_tokens": 1,
        },
        scope_name="opentelemetry.instrumentation.anthropic",
    )
    assert (facts.role, facts.dialect) == ("llm", "openllmetry")
    assert facts.input == (user("Hi"),)
    assert facts.tools == (ToolDefinition(name="room", parameters=SCHEMA),)
    assert facts.usage == Usage(input=5, output=2, reasoning=1)


def test_otels_own_packages_are_not_taken_for_traceloops() -> None:
    """Both share a scope prefix; OTel's are the convention itself."""
    facts = read(
        {"gen_ai.operation.name": "chat"},
        scope_name="opentelemetry.instrumentation.genai.anthropic",
    )
    assert facts.dialect == "otel_genai"


@pytest.mark.parametrize(
    ("given", "arguments"),
    [
        ({"args": [], "kwargs": {"number": 12}}, {"number": 12}),
        ({"args": ["A-12"], "kwargs": {}}, ["A-12"]),
        ({"args": [1], "kwargs": {"a": 2}}, {"args": [1], "kwargs": {"a": 2}}),
        ({"args": [], "kwargs": {}}, {}),
    ],
)
def test_a_decorated_tool_gives_its_arguments(given: Any, arguments: JsonValue) -> None:
    """Keyword arguments are the tool's; positional ones have lost their names."""
    facts = read(
        {
            "traceloop.span.kind": "tool",
            "traceloop.entity.name": "room",
            "traceloop.entity.input": json.dumps(given),
            "traceloop.entity.output": '{"free": true}',
            "traceloop.association.properties.session_id": "s1",
        }
    )
    assert facts.role == "tool"
    assert facts.tool == ToolRequest(name="room", arguments=arguments)
    assert facts.tool_result == '{"free": true}'
    assert facts.conversation_id == "s1"


@pytest.mark.parametrize(
    ("kind", "role"), [("workflow", "chain"), ("task", "chain"), ("agent", "agent")]
)
def test_decorated_parents_have_their_roles(kind: str, role: str) -> None:
    """Workflows and tasks are chains."""
    assert read({"traceloop.span.kind": kind}).role == role


def test_decorated_parents_say_what_was_asked_and_answered() -> None:
    """The only text a function was called with is the user's."""
    facts = read(
        {
            "traceloop.span.kind": "workflow",
            "traceloop.entity.input": '{"args": ["Is room 1 free?"], "kwargs": {}}',
            "traceloop.entity.output": '"Yes."',
        }
    )
    assert (facts.input, facts.output) == ((user("Is room 1 free?"),), (agent("Yes."),))


def test_a_vector_database_gives_its_passages() -> None:
    """Each is an event of the search, with id, score and text."""
    events = (
        SpanEvent(
            name="db.query.result",
            time_ns=1,
            attributes={
                "db.query.result.id": "d1",
                "db.query.result.score": 0.5,
                "db.query.result.document": "Rooms have baths.",
            },
        ),
        SpanEvent(name="db.query.embeddings", time_ns=1, attributes={"vector": "[1]"}),
    )
    facts = read({"db.system": "chroma", "db.operation": "query"}, events=events)
    assert (facts.role, facts.documents) == (
        "retriever",
        (Document(id="d1", text="Rooms have baths.", score=0.5),),
    )
    assert read({"db.system": "postgresql"}).role == "other"


def test_calls_take_the_ids_of_their_results() -> None:
    """Of OpenAI's responses the request names an item, the result the call."""
    part = {"type": "tool_call", "id": "fc_1", "name": "room", "arguments": {"n": 1}}
    answer = {"type": "tool_call_response", "id": "call_1", "response": "free"}
    facts = read(
        {
            "gen_ai.operation.name": "chat",
            "gen_ai.input.messages": json.dumps(
                [{"role": "assistant", "parts": [part]}, {"role": "tool", "parts": [answer]}]
            ),
        },
        scope_name="opentelemetry.instrumentation.openai_agents",
    )
    assert facts.input[0] == agent("", request("room", "call_1", n=1))
    assert facts.input[1].tool_call_id == "call_1"


def test_llama_indexs_package_calls_a_models_call_a_task() -> None:
    """What was called stands in the raw reply, what was offered in the raw request."""
    function = {"name": "room", "arguments": '{"number": 12}'}
    calls = [{"id": "call_room", "type": "function", "function": function}]
    message = {"role": "assistant", "additional_kwargs": {"tool_calls": calls}, "blocks": []}
    details = {"reasoning_tokens": 4}
    raw = {"usage": {"prompt_tokens": 3, "completion_tokens_details": details}}
    asked = {"role": "user", "blocks": [{"block_type": "text", "text": "Is room 12 free?"}]}
    offered = {"tools": [{"type": "function", "function": {"name": "room"}}]}
    told = {
        "traceloop.span.kind": "task",
        "traceloop.entity.name": "OpenAI.task",
        "traceloop.entity.input": json.dumps({"messages": [asked], "kwargs": offered}),
        "traceloop.entity.output": json.dumps({"message": message, "raw": raw}),
    }
    facts = read(
        told
        | {
            "gen_ai.operation.name": "chat",
            "gen_ai.output.messages": '[{"role": "assistant", "parts": []}]',
            "gen_ai.usage.input_tokens": 3,
            "gen_ai.usage.output_tokens": 5,
        }
    )
    assert (facts.role, facts.input) == ("llm", (user("Is room 12 free?"),))
    assert facts.output == (agent("", request("room", number=12)),)
    assert [tool.name for tool in facts.tools] == ["room"]
    assert facts.usage == Usage(input=3, output=5, reasoning=4)
    assert read(told).role == "chain"
