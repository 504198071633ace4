"""Test frameworks that follow OTel's keys in a way of their own."""

from __future__ import annotations

import json
from typing import Any

from collector.model import Facts, ToolRequest
from collector.normalise import Normaliser
from collector.telemetry import SpanEvent
from tests.build import agent, request, span, user


def read(attributes: dict[str, Any], name: str = "chat m", **more: Any) -> Facts:
    """Normalise one span."""
    return Normaliser().span(span(name, attributes=attributes, **more))


def test_an_id_may_be_a_path() -> None:
    """Microsoft's agents give the run and the call; the call is the last."""
    path = ["run_1", "call_1"]
    part = {"type": "tool_call", "id": path, "name": "room", "arguments": {"n": 1}}
    answer = {"type": "tool_call_response", "id": path, "response": "free"}
    facts = read(
        {
            "gen_ai.operation.name": "chat",
            "gen_ai.provider.name": "microsoft.agent_framework",
            "gen_ai.input.messages": json.dumps([{"role": "tool", "parts": [answer]}]),
            "gen_ai.output.messages": json.dumps([{"role": "assistant", "parts": [part]}]),
        },
        scope_name="agent_framework",
    )
    assert facts.output == (agent("", request("room", "call_1", n=1)),)
    assert (facts.input[0].tool_call_id, facts.provider) == ("call_1", "")
    tool = read(
        {
            "gen_ai.operation.name": "execute_tool",
            "gen_ai.tool.name": "room",
            "gen_ai.tool.call.id": json.dumps(path),
        }
    )
    assert tool.tool == ToolRequest(id="call_1", name="room")


def test_a_chat_may_be_one_text() -> None:
    """OpenLIT joins the messages to lines that begin with the role."""
    prompt = "developer: Be kind.\nuser: Is room 1 free?"
    prompted = SpanEvent(
        name="gen_ai.content.prompt", time_ns=1, attributes={"gen_ai.prompt": prompt}
    )
    answered = SpanEvent(
        name="gen_ai.content.completion", time_ns=1, attributes={"gen_ai.completion": "Yes."}
    )
    facts = read({"gen_ai.operation.name": "chat"}, events=(prompted, answered))
    assert (facts.system_prompt, facts.input) == ("Be kind.", (user("Is room 1 free?"),))
    assert facts.output == (agent("Yes."),)
    same = read({"gen_ai.operation.name": "chat", "gen_ai.prompt": prompt})
    assert (same.system_prompt, same.input) == ("Be kind.", (user("Is room 1 free?"),))


def test_calls_inside_a_tools_message_are_the_agents() -> None:
    """Koog gives the role of the tool to the call, and its values to generic keys."""
    call = {"id": "c1", "type": "function", "function": {"name": "room", "arguments": '{"n": 1}'}}
    facts = read(
        {
            "gen_ai.request.model": "m",
            "gen_ai.prompt.0.role": "tool",
            "gen_ai.prompt.0.content": json.dumps([call]),
            "gen_ai.prompt.1.role": "tool",
            "gen_ai.prompt.1.content": "free",
        }
    )
    assert facts.input[0] == agent("", request("room", "c1", n=1))
    assert (facts.input[1].role, facts.input[1].text) == ("tool", "free")
    tool = read(
        {"gen_ai.tool.name": "room", "input.value": '{"n": 1}', "output.value": "free"}, "tool.room"
    )
    assert (tool.tool, tool.tool_result) == (ToolRequest(name="room", arguments={"n": 1}), "free")


def test_a_retrieval_keeps_what_was_looked_for() -> None:
    """The query is a user's words."""
    facts = read(
        {
            "gen_ai.operation.name": "retrieval",
            "gen_ai.retrieval.query.text": "baths?",
            "gen_ai.retrieval.documents": json.dumps([{"id": "d1", "score": 0.5}]),
        }
    )
    assert facts.input == (user("baths?"),)
    assert [d.id for d in facts.documents] == ["d1"]


def test_content_without_an_operation_is_kept() -> None:
    """Where tokens or a model are there it is a call, else a step that says something."""
    said = {"gen_ai.prompt": "Hi", "gen_ai.completion": "Ho"}
    call = read(said | {"gen_ai.usage.input_tokens": 3})
    assert (call.role, call.input, call.output) == ("llm", (user("Hi"),), (agent("Ho"),))
    step = read(said)
    assert (step.role, step.input, step.output) == ("chain", (user("Hi"),), (agent("Ho"),))
