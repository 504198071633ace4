"""Test the OpenTelemetry GenAI convention and the producers that follow its keys."""

from __future__ import annotations

import json
from typing import Any

import pytest

from collector.model import Document, Facts, Message, ToolDefinition, ToolRequest, Usage
from collector.normalise import Normaliser
from collector.telemetry import LogRecord, SpanEvent
from tests.build import agent, request, result, span, user

ASK = {"role": "user", "parts": [{"type": "text", "content": "Is room 12 free?"}]}
CALL = {
    "role": "assistant",
    "parts": [
        {"type": "reasoning", "content": "I must look."},
        {"type": "text", "content": "Let me see."},
        {"type": "tool_call", "id": "c1", "name": "room", "arguments": {"number": 12}},
    ],
}
ANSWER = {"role": "tool", "parts": [{"type": "tool_call_response", "id": "c1", "response": "free"}]}
SCHEMA: Any = {"type": "object", "properties": {"number": {"type": "integer"}}}


def read(attributes: dict[str, Any], **more: Any) -> Facts:
    """Normalise one span."""
    return Normaliser().span(span(attributes=attributes, **more))


def chat(**attributes: Any) -> Facts:
    """Normalise one chat span; ``__`` in a name stands for a dot."""
    named = {f"gen_ai.{key.replace('__', '.')}": value for key, value in attributes.items()}
    return read({"gen_ai.operation.name": "chat", "gen_ai.request.model": "m"} | named)


def event(name: str, **attributes: Any) -> SpanEvent:
    """Build a span event."""
    return SpanEvent(name=name, time_ns=1, attributes=attributes)


def log(name: str, body: Any = None, **attributes: Any) -> Facts:
    """Normalise one log record, which must say something."""
    record = LogRecord(
        time_ns=7,
        trace_id="1" * 32,
        span_id="2" * 16,
        event_name=name,
        body=body,
        attributes=attributes,
        resource={},
    )
    facts = Normaliser().log(record)
    assert facts is not None
    return facts


@pytest.mark.parametrize("structured", [False, True])
def test_a_call_with_history_is_read_from_text_and_from_structure(*, structured: bool) -> None:
    """Messages may be JSON text or structured values, and mean the same."""

    def content(value: Any) -> Any:
        return value if structured else json.dumps(value)

    facts = chat(
        provider__name="openai",
        response__model="m-2",
        response__id="r1",
        response__finish_reasons=["stop"],
        usage__input_tokens=50,
        usage__output_tokens=7,
        system_instructions=content([{"type": "text", "content": "Be kind."}]),
        input__messages=content([ASK, CALL, ANSWER]),
        output__messages=content(
            [{"role": "assistant", "parts": [{"type": "text", "content": "Yes."}]}]
        ),
        tool__definitions=content(
            [{"type": "function", "name": "room", "description": "Look", "parameters": SCHEMA}]
        ),
    )
    assert (facts.role, facts.dialect) == ("llm", "otel_genai")
    assert (facts.provider, facts.model, facts.response_id) == ("openai", "m-2", "r1")
    assert facts.system_prompt == "Be kind."
    assert facts.input == (
        user("Is room 12 free?"),
        agent("Let me see.", request("room", "c1", number=12)),
        Message(role="tool", text="free", tool_call_id="c1"),
    )
    assert facts.output == (agent("Yes."),)
    assert facts.tools == (ToolDefinition(name="room", description="Look", parameters=SCHEMA),)
    assert facts.usage == Usage(input=50, output=7)
    assert facts.finish_reason == "stop"


@pytest.mark.parametrize(
    ("raw", "calls", "expected"),
    [
        (["stop"], True, "tool_call"),
        (["STOP"], False, "stop"),
        (None, True, "tool_call"),
        (["tool-calls"], False, "tool_call"),
        ('["end_turn"]', False, "stop"),
        (["max_tokens"], True, "length"),
        (["refusal"], False, "content_filter"),
        (["pause_turn"], False, "pause"),
        (["something new"], False, ""),
    ],
)
def test_finish_reasons_are_normalised_and_corrected(raw: Any, calls: Any, expected: str) -> None:
    """A reply that holds a tool call ended with it, whatever the producer says."""
    parts = CALL["parts"] if calls else [{"type": "text", "content": "Yes."}]
    output = json.dumps([{"role": "assistant", "parts": parts}])
    assert chat(response__finish_reasons=raw, output__messages=output).finish_reason == expected


def test_the_output_message_tells_the_finish_reason_where_no_attribute_does() -> None:
    """The deprecated finish reason inside the message counts when there is no other."""
    output = [{"role": "assistant", "parts": [], "finish_reason": "length"}]
    assert chat(output__messages=json.dumps(output)).finish_reason == "length"


@pytest.mark.parametrize(
    ("given", "expected"),
    [(2112, 2112), (12, 2112)],
)
def test_input_tokens_always_include_the_cached_ones(given: int, expected: int) -> None:
    """Cached tokens that exceed the input show that it leaves them out."""
    facts = chat(
        usage__input_tokens=given,
        usage__output_tokens=31,
        usage__cache_read__input_tokens=2000,
        usage__cache_creation__input_tokens=100,
    )
    assert facts.usage == Usage(input=expected, output=31, cache_read=2000, cache_write=100)


@pytest.mark.parametrize(
    ("operation", "role"),
    [
        ("invoke_agent", "agent"),
        ("invoke_workflow", "chain"),
        ("agent_step", "chain"),
        ("execute_event_loop_cycle", "chain"),
        ("create_agent", "other"),
        ("embeddings", "embedding"),
    ],
)
def test_sums_on_parents_are_not_usage(operation: str, role: str) -> None:
    """Only leaf calls carry usage and cost; parents sum up their children."""
    facts = read(
        {
            "gen_ai.operation.name": operation,
            "gen_ai.usage.input_tokens": 10,
            "gen_ai.usage.output_tokens": 5,
            "operation.cost": 0.5,
        }
    )
    assert facts.role == role
    assert (facts.usage is not None) == (facts.cost_usd is not None) == (role == "embedding")


def test_an_agents_merged_output_keeps_only_what_it_said() -> None:
    """Steps merged into one message are in the wrong order, so only the words remain."""
    parts = [{"type": "text", "content": "Yes."}, *CALL["parts"][2:], *ANSWER["parts"]]
    facts = read(
        {
            "gen_ai.operation.name": "invoke_agent",
            "gen_ai.output.messages": json.dumps([{"role": "assistant", "parts": parts}]),
        }
    )
    assert facts.output == (agent("Yes."),)


def test_a_tool_span_gives_call_and_result() -> None:
    """Arguments may be JSON text or structure; a result that is structure becomes JSON text."""
    facts = read(
        {
            "gen_ai.operation.name": "execute_tool",
            "gen_ai.tool.name": "room",
            "gen_ai.tool.call.id": "c1",
            "gen_ai.tool.call.arguments": '{"number": 12}',
            "gen_ai.tool.call.result": {"free": True},
        }
    )
    assert facts.role == "tool"
    assert facts.tool == ToolRequest(id="c1", name="room", arguments={"number": 12})
    assert facts.tool_result == '{"free":true}'
    assert facts.tool_is_error is None


@pytest.mark.parametrize(
    ("attributes", "status", "expected"),
    [
        ({}, 2, True),
        ({"error.type": "tool_error"}, 0, True),
        ({"gen_ai.tool.status": "success"}, 1, False),
        ({"gen_ai.tool.status": "error"}, 0, True),
        ({}, 1, None),
    ],
)
def test_a_failed_tool_span_is_an_error(
    attributes: dict[str, Any], status: int, expected: object
) -> None:
    """The span's status, its error type or the framework's own flag make a tool error."""
    given = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "room"} | attributes
    assert read(given, status_code=status).tool_is_error is expected


def test_the_anthropic_sdks_own_tool_span_is_read() -> None:
    """The SDK keeps the result's content blocks under its own key."""
    facts = read(
        {
            "gen_ai.operation.name": "execute_tool",
            "gen_ai.tool.name": "room",
            "gen_ai.tool.call.arguments": "{}",
            "anthropic.tool_result.content": '[{"type":"text","text":"free"}]',
        }
    )
    assert facts.tool_result == "free"


def test_an_older_pydantic_ai_tool_span_is_read() -> None:
    """Earlier versions kept arguments and response under keys of their own."""
    facts = read(
        {
            "gen_ai.operation.name": "execute_tool",
            "gen_ai.tool.name": "room",
            "tool_arguments": '{"number":12}',
            "tool_response": "free",
        }
    )
    assert facts.tool is not None
    assert (facts.tool.arguments, facts.tool_result) == ({"number": 12}, "free")


def test_a_span_over_merged_tools_is_no_call() -> None:
    """The span that ADK puts over parallel calls is not a call itself."""
    attributes = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "(merged tools)"}
    assert read(attributes).role == "chain"


@pytest.mark.parametrize(("method", "role"), [("tools/call", "tool"), ("tools/list", "other")])
def test_an_mcp_call_is_a_tool_call(method: str, role: str) -> None:
    """Of MCP's methods only calling a tool is a tool call."""
    assert read({"mcp.method.name": method, "gen_ai.tool.name": "room"}).role == role


def test_keys_alone_tell_the_role_of_spans_without_operation() -> None:
    """A tool's name makes a tool span, a model's name a call."""
    assert read({"gen_ai.tool.name": "room"}).role == "tool"
    assert read({"gen_ai.request.model": "m"}).role == "llm"


def test_retrieval_gives_documents() -> None:
    """The convention gives ids and scores; a text is kept where there is one."""
    documents = [{"id": "d1", "score": 0.9}, {"id": None, "content": "Rooms have baths."}]
    facts = read(
        {
            "gen_ai.operation.name": "retrieval",
            "gen_ai.retrieval.documents": json.dumps(documents),
        }
    )
    assert facts.role == "retriever"
    assert facts.documents == (Document(id="d1", score=0.9), Document(text="Rooms have baths."))


def test_previous_responses_and_first_tokens_are_kept() -> None:
    """Strands counts the first token in milliseconds, the convention in seconds."""
    assert chat(server__time_to_first_token=250).first_token_s == pytest.approx(0.25)
    assert chat(response__time_to_first_chunk=0.5).first_token_s == pytest.approx(0.5)
    assert chat(request__previous_response__id="r0").previous_response_id == "r0"


def test_tool_results_keep_their_name_in_results() -> None:
    """The key ``result`` and a name are as good as ``response``."""
    part = {"type": "tool_call_response", "id": "call_room", "name": "room", "result": "free"}
    facts = chat(input__messages=json.dumps([{"role": "user", "parts": [part]}]))
    assert facts.input == (result("room", "free"),)


def test_a_tool_span_may_define_its_tool() -> None:
    """Strands tells a tool's schema on the tool's own span only."""
    facts = read(
        {
            "gen_ai.operation.name": "execute_tool",
            "gen_ai.tool.name": "room",
            "gen_ai.tool.description": "Look",
            "gen_ai.tool.json_schema": json.dumps(SCHEMA),
        }
    )
    assert facts.tools == (ToolDefinition(name="room", description="Look", parameters=SCHEMA),)


def test_an_older_adk_call_is_read() -> None:
    """Google's request and response stand in attributes of the framework's own."""
    asked = {"role": "user", "parts": [{"text": "Is room 12 free?"}]}
    call = {"function_call": {"id": "c1", "name": "room", "args": {"number": 12}}}
    answer = {"function_response": {"id": "c1", "name": "room", "response": {"free": True}}}
    facts = read(
        {
            "gen_ai.request.model": "m",
            "gcp.vertex.agent.llm_request": json.dumps(
                {
                    "contents": [
                        asked,
                        {"role": "model", "parts": [call]},
                        {"role": "user", "parts": [answer]},
                    ]
                }
            ),
            "gcp.vertex.agent.llm_response": json.dumps(
                {"content": {"role": "model", "parts": [{"text": "Yes."}]}}
            ),
        }
    )
    assert facts.input == (
        user("Is room 12 free?"),
        agent("", request("room", "c1", number=12)),
        Message(role="tool", text='{"free":true}', tool_call_id="c1", tool_name="room"),
    )
    assert facts.output == (agent("Yes."),)


def test_hidden_content_is_no_content() -> None:
    """Empty objects and lists, as written where content is not captured, are no messages."""
    facts = chat(prompt="{}", completion="[]")
    assert (facts.input, facts.output) == ((), ())


def test_a_server_tools_arguments_are_those_inside() -> None:
    """What the provider ran is told with its type around the arguments, or among them."""
    parts = [
        {
            "type": "server_tool_call",
            "id": "srvtoolu_1",
            "name": "web_search",
            "server_tool_call": {"type": "web_search", "input": {"query": "tides"}},
        },
        {
            "type": "server_tool_call",
            "id": "srvtoolu_2",
            "name": "run",
            "server_tool_call": {"type": "run", "code": "1+1"},
        },
        {"type": "text", "content": "High at noon."},
    ]
    facts = chat(
        output__messages=[{"role": "assistant", "parts": parts}], response__finish_reasons=["stop"]
    )
    asked = [r.arguments for m in facts.output for r in m.tool_requests]
    assert asked == [{"query": "tides"}, {"code": "1+1"}]
    assert facts.finish_reason == "stop"
