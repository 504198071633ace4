"""Langfuse's exports become the conversations that it was told of."""

from __future__ import annotations

import json
from typing import Any

import pytest

from collector.model import Conversation, Document, Usage
from collector.transcript_formats import langfuse_export
from collector.transcript_formats.content import FormatError
from collector.transcript_formats.detection import format_of, rows_in
from collector.transcript_gathering import Gathering
from tests.build import agent, request, result, tool, user

TRACE = "0f" * 16
SCHEMA = {"type": "object", "properties": {}, "required": []}
CALL = {
    "id": "c1",
    "type": "function",
    "function": {"name": "get_order", "arguments": '{"order": "A-17"}'},
}
ASKED = {"role": "user", "content": "Where is A-17?"}
WANTS = {"role": "assistant", "content": None, "tool_calls": [CALL]}
GOT = {"role": "tool", "tool_call_id": "c1", "content": "shipped"}
SAYS = {"role": "assistant", "content": "It has shipped."}


def observation(id: str, kind: str, second: int, **more: Any) -> Any:
    """Build an observation as the user interface and the API write it."""
    return {
        "id": id,
        "traceId": TRACE,
        "type": kind,
        "name": id,
        "parentObservationId": "root",
        "startTime": f"2026-03-01T10:00:0{second}.000Z",
        "endTime": f"2026-03-01T10:00:0{second}.900Z",
        "level": "DEFAULT",
        "metadata": {},
    } | more


USAGE = {"input": 12, "output": 3, "total": 15}
OBSERVATIONS = (
    observation("root", "SPAN", 0, parentObservationId=None),
    observation(
        "one",
        "GENERATION",
        1,
        input={"messages": [ASKED], "tools": [{"name": "get_order", "parameters": SCHEMA}]},
        output=WANTS,
        model="m-1",
        usageDetails=USAGE,
        costDetails={"total": 0.5},
    ),
    observation("get_order", "TOOL", 2, input={"order": "A-17"}, output="shipped"),
    observation(
        "two",
        "GENERATION",
        3,
        input=[ASKED, WANTS, GOT],
        output=SAYS,
        model="m-1",
        usageDetails=USAGE,
    ),
)
TRACED = {
    "id": TRACE,
    "timestamp": "2026-03-01T10:00:00.000Z",
    "name": "order-agent",
    "environment": "eu",
    "release": "v3",
    "sessionId": "s-1",
    "userId": "u-1",
    "input": json.dumps({"question": "?"}),
    "output": None,
    "metadata": None,
    "bookmarked": False,
}


def snake(row: Any) -> Any:
    """Write a row as the export to blob storage does: snake case, content as text."""
    names = {
        "traceId": "trace_id",
        "parentObservationId": "parent_observation_id",
        "startTime": "start_time",
        "endTime": "end_time",
        "usageDetails": "usage_details",
        "costDetails": "cost_details",
        "model": "provided_model_name",
        "sessionId": "session_id",
        "userId": "user_id",
    }
    found = {names.get(key, key): value for key, value in row.items()}
    for key in ("start_time", "end_time", "timestamp"):
        if key in found:
            found[key] = found[key].replace("T", " ").replace("Z", "000")
    for side in ("input", "output"):
        if side in found and not isinstance(found[side], str):
            found[side] = json.dumps(found[side])
    return found


SHAPES: dict[str, Any] = {
    "downloaded trace": [{"trace": TRACED, "observations": OBSERVATIONS}],
    "trace of the API": [TRACED | {"observations": OBSERVATIONS, "scores": []}],
    "session": [
        {
            "id": "s-1",
            "createdAt": "2026-03-01T09:00:00Z",
            "traces": [{**TRACED, "sessionId": None, "observations": OBSERVATIONS}],
        }
    ],
    "traces and observations": [TRACED, *OBSERVATIONS],
    "observations and traces": [*OBSERVATIONS, TRACED],
    "answers of the API": [{"data": [*OBSERVATIONS], "meta": {"page": 1}}, {"data": [TRACED]}],
    "blob storage, enriched": [
        snake(row) | {"session_id": "s-1", "user_id": "u-1", "trace_name": "order-agent"}
        for row in OBSERVATIONS
    ],
    "blob storage, two files": [*map(snake, OBSERVATIONS), snake(TRACED)],
    "rows without metadata": [
        {k: v for k, v in row.items() if k != "metadata"} | {"sessionId": "s-1"}
        for row in OBSERVATIONS
    ],
}


def read(*rows: Any) -> Conversation:
    """Put one conversation together."""
    gathering = Gathering()
    for row in rows:
        for kind, inner in rows_in(json.loads(json.dumps(row))):
            assert kind == "langfuse"
            gathering.add(kind, inner, b"")
    (found,) = gathering.conversations()
    return found


@pytest.mark.parametrize("name", SHAPES)
def test_a_trace(name: str) -> None:
    """Messages, calls, results, tools, tokens and ids are read from every shape."""
    found = read(*SHAPES[name])
    assert found.id == "s-1"
    assert found.messages == (
        user("Where is A-17?"),
        agent("", request("get_order", "c1", order="A-17")),
        result("", "shipped", "c1"),
        agent("It has shipped."),
    )
    assert found.tools == (tool("get_order"),)
    assert [(c.model, c.usage) for c in found.llm_calls] == [("m-1", Usage(input=12, output=3))] * 2
    (call,) = found.tool_calls
    assert (call.result, call.span_id != "") == ("shipped", True)


def test_who_spoke() -> None:
    """The trace says environment and release, and stands for the agent that nobody names."""
    who = read(*SHAPES["downloaded trace"]).identity
    assert (who.agent, who.environment, who.agent_version) == ("order-agent", "eu", "v3")
    assert who.user_hash


def kept(scope: str, **attributes: Any) -> Any:
    """Build the metadata of an observation that OpenTelemetry brought."""
    return {
        "attributes": attributes,
        "resourceAttributes": {"service.name": "shop"},
        "scope": {"name": scope, "version": "1", "attributes": {}},
    }


def test_content_of_otel_spans_is_put_back() -> None:
    """Messages with parts, and a tool's arguments and result, are read as OTel's own."""
    said = [{"role": "user", "parts": [{"type": "text", "content": "Where is A-17?"}]}]
    part = {"type": "tool_call", "id": "c1", "name": "get_order", "arguments": {"order": "A-17"}}
    wants = [{"role": "assistant", "parts": [part], "finish_reason": "tool_call"}]
    found = read(
        observation(
            "chat m-1",
            "GENERATION",
            1,
            input=said,
            output=wants,
            usageDetails=USAGE,
            metadata=kept(
                "pydantic-ai",
                **{
                    "gen_ai.operation.name": "chat",
                    "gen_ai.response.id": "r-1",
                    "gen_ai.request.model": "m-1",
                    "model_request_parameters": {
                        "function_tools": [{"name": "get_order", "parameters_json_schema": SCHEMA}],
                    },
                },
            ),
        ),
        observation(
            "running tool",
            "TOOL",
            2,
            input={"order": "A-17"},
            output="shipped",
            metadata=kept(
                "pydantic-ai", **{"gen_ai.tool.name": "get_order", "gen_ai.tool.call.id": "c1"}
            ),
        ),
    )
    assert found.messages == (
        user("Where is A-17?"),
        agent("", request("get_order", "c1", order="A-17")),
        result("get_order", "shipped", "c1"),
    )
    (call,) = found.llm_calls
    assert (call.response_id, call.finish_reason, call.usage) == (
        "r-1",
        "tool_call",
        Usage(input=12, output=3),
    )
    assert found.tools[0].parameters == SCHEMA
    assert found.identity.agent == "shop"


def test_openinference_spans_are_read_as_their_own() -> None:
    """A span that Langfuse calls SPAN is the tool its attributes name, with its content."""
    found = read(
        observation(
            "ask",
            "GENERATION",
            1,
            input=[ASKED],
            output=WANTS,
            usageDetails=USAGE,
            metadata=kept(
                "openinference.x",
                **{
                    "openinference.span.kind": "LLM",
                    "llm.input_messages.0.message.role": "user",
                    "llm.input_messages.0.message.content": "Where is A-17?",
                },
            ),
        ),
        observation(
            "get_order",
            "SPAN",
            2,
            input={"order": "A-17"},
            output={"status": "shipped"},
            metadata=kept("openinference.x", **{"openinference.span.kind": "TOOL"}),
        ),
    )
    assert [(c.name, c.arguments, c.result) for c in found.tool_calls] == [
        ("get_order", {"order": "A-17"}, '{"status":"shipped"}')
    ]
    assert found.llm_calls[0].usage == Usage(input=12, output=3)


def test_vercel_spans_are_read_as_their_own() -> None:
    """The outer span sums up the calls, and tools have the names that attributes say."""
    metadata = {"ai.model.id": "m-1"}
    outer = kept("ai", **metadata, **{"ai.operationId": "ai.generateText"})
    inner = kept("ai", **metadata, **{"ai.operationId": "ai.generateText.doGenerate"})
    ran = kept(
        "ai",
        **{
            "ai.operationId": "ai.toolCall",
            "ai.toolCall.name": "get_order",
            "ai.toolCall.id": "c1",
        },
    )
    call = {"toolCallId": "c1", "toolName": "get_order", "args": '{"order": "A-17"}'}
    returned = {"type": "tool-result", "toolCallId": "c1", "toolName": "get_order"}
    later = [
        ASKED,
        {"role": "assistant", "content": [{"type": "tool-call", **call}]},
        {"role": "tool", "content": [{**returned, "output": {"type": "text", "value": "shipped"}}]},
    ]
    found = read(
        observation("all", "GENERATION", 0, parentObservationId=None, input={"prompt": "?"},
                    output="It has shipped.", metadata=outer, usageDetails=USAGE),
        observation("one", "GENERATION", 1, parentObservationId="all", input=[ASKED],
                    output=[call], metadata=inner, usageDetails=USAGE),
        observation("run", "TOOL", 2, parentObservationId="all", input={"order": "A-17"},
                    output="shipped", metadata=ran),
        observation("two", "GENERATION", 3, parentObservationId="all", input=later,
                    output={"role": "assistant", "content": "It has shipped."},
                    metadata=inner, usageDetails=USAGE),
    )  # fmt: skip
    assert found.messages == (
        user("Where is A-17?"),
        agent("", request("get_order", "c1", order="A-17")),
        result("get_order", "shipped", "c1"),
        agent("It has shipped."),
    )
    assert [c.usage for c in found.llm_calls] == [Usage(input=12, output=3)] * 2
    assert [(c.name, c.result) for c in found.tool_calls] == [("get_order", "shipped")]


def test_traceloop_spans_are_read_as_their_own() -> None:
    """A decorated function has its input and output back."""
    names = {"traceloop.span.kind": "tool", "traceloop.entity.name": "get_order"}
    row = observation(
        "get_order.tool",
        "SPAN",
        1,
        input={"args": [], "kwargs": {"order": "A-17"}},
        output="shipped",
        metadata=kept("opentelemetry.instrumentation.traceloop", **names),
    )
    (call,) = read(row).tool_calls
    assert (call.name, call.arguments, call.result) == ("get_order", {"order": "A-17"}, "shipped")


@pytest.mark.parametrize(
    "tools",
    [
        {"toolDefinitions": [{"name": "get_order", "parameters": SCHEMA}]},
        {"tool_definitions": {"get_order": json.dumps({"parameters": SCHEMA})}},
        {"metadata": {"attributes": {"gen_ai.tool.definitions": json.dumps([{"name": "get_order", "parameters": SCHEMA}])}}},
        {"metadata": {"attributes": {"llm.tools.0.tool.json_schema": {"name": "get_order", "parameters": SCHEMA}}}},
    ],
)  # fmt: skip
def test_tools_beside_the_messages(tools: Any) -> None:
    """Definitions are found where Langfuse or the instrumentation keeps them."""
    row = observation("one", "GENERATION", 1, input=[ASKED], output=SAYS) | tools
    assert read(row).tools == (tool("get_order"),)


def test_documents_errors_and_old_columns() -> None:
    """Retrievers give documents, errors are errors, and old rows have usage in columns."""
    found = read(
        observation(
            "kb", "RETRIEVER", 1, input="warranty", output=[{"id": "d", "content": "Two years."}]
        ),
        observation(
            "old",
            "GENERATION",
            2,
            input=[ASKED],
            output=None,
            level="ERROR",
            statusMessage="overloaded",
            usage=None,
            promptTokens=5,
            completionTokens=1,
        ),
    )
    assert found.documents == (Document(id="d", text="Two years."),)
    (call,) = found.llm_calls
    assert (call.error, call.usage) == ("overloaded", Usage(input=5, output=1))


def test_a_trace_alone() -> None:
    """A trace whose observations stand nowhere tells what it was asked and answered."""
    found = read(TRACED | {"input": '"Hello"', "output": '"Hi there"', "observations": []})
    assert found.messages == (user("Hello"), agent("Hi there"))


def test_scores_are_skipped() -> None:
    """A score is Langfuse's, but nothing that was said."""
    score = {"id": "x", "trace_id": TRACE, "data_type": "NUMERIC", "source": "API", "value": 1}
    assert format_of(score) == "langfuse"
    assert list(langfuse_export.read_row(score)) == []


def test_what_has_no_id() -> None:
    """An observation without its own id is refused."""
    with pytest.raises(FormatError, match="without its id"):
        list(langfuse_export.read_row({"traceId": TRACE, "type": "SPAN"}))
