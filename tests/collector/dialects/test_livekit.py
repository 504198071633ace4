"""Test LiveKit's voice agents."""

from __future__ import annotations

import json
from typing import Any

from collector.conversations import build
from collector.message_keys import MessageKeys
from collector.model import Episode, Facts, Message, ToolRequest, Usage
from collector.normalise import Normaliser
from collector.telemetry import SpanEvent
from tests.build import agent, request, span, user

CHAT = {
    "items": [
        {"id": "i1", "type": "message", "role": "system", "content": ["Be brief."]},
        {"id": "i2", "type": "message", "role": "user", "content": ["Is room 4 free?"]},
        {
            "id": "i3",
            "type": "function_call",
            "call_id": "c1",
            "name": "room",
            "arguments": '{"n": 4}',
        },
        {
            "id": "i4",
            "type": "function_call_output",
            "call_id": "c1",
            "output": "yes",
            "is_error": False,
        },
        {"id": "i5", "type": "agent_handoff", "new_agent_id": "desk"},
    ]
}
CALLS = json.dumps([{"id": "f/1", "call_id": "c2", "name": "book", "arguments": '{"n": 4}'}])


def read(name: str, attributes: dict[str, Any], **more: Any) -> Facts:
    """Normalise one span of LiveKit."""
    more.setdefault("scope_name", "livekit-agents")
    return Normaliser().span(span(name, attributes=attributes, **more))


def event(name: str, **attributes: Any) -> SpanEvent:
    """Make an event of a span."""
    return SpanEvent(name=name, time_ns=1, attributes=attributes)


def test_a_node_holds_the_chat() -> None:
    """Messages, calls and results of the chat are read, and the reply with its calls."""
    for start in ("lk.", "lk.pii."):
        node = read(
            "llm_node",
            {
                f"{start}chat_ctx": json.dumps(CHAT),
                f"{start}response.text": "I book it.",
                f"{start}response.function_calls": CALLS,
                "lk.function_tools": ["room", "book"],
                "lk.response.ttft": 0.25,
            },
        )
        assert (node.role, node.dialect, node.system_prompt) == ("llm", "livekit", "Be brief.")
        assert node.input == (
            user("Is room 4 free?"),
            agent("", request("room", "c1", n=4)),
            Message(role="tool", text="yes", tool_call_id="c1", is_error=False),
        )
        assert node.output == (agent("I book it.", request("book", "c2", n=4)),)
        assert [tool.name for tool in node.tools] == ["room", "book"]
        assert (node.first_token_s, node.finish_reason) == (0.25, "tool_call")


def test_the_request_inside_a_node_is_the_same_call() -> None:
    """Its tokens are counted once, its events are read where nothing else tells."""
    call = {"id": "c2", "type": "function", "function": {"name": "book", "arguments": '{"n": 4}'}}
    events = (
        event("gen_ai.user.message", content="Is room 4 free?"),
        event("gen_ai.choice", role="assistant", content="", tool_calls=[json.dumps(call)]),
    )
    requested = Normaliser().span(
        span(
            "llm_request",
            parent="3" * 16,
            scope_name="livekit-agents",
            attributes={
                "gen_ai.request.model": "m",
                "gen_ai.usage.input_tokens": 9,
                "gen_ai.usage.output_tokens": 2,
            },
            events=events,
        )
    )
    assert requested.output == (agent("", request("book", "c2", n=4)),)
    node = read("llm_node", {"lk.chat_ctx": json.dumps(CHAT)}, id="3" * 16)
    built = build([node, requested], id="c", explicit=False, episode=Episode(), keys=MessageKeys())
    assert [call.usage for call in built.conversation.llm_calls] == [Usage(input=9, output=2)]


def test_a_tool_says_whether_it_failed() -> None:
    """Arguments, result and flag are read of old and new keys, of copies without scope too."""
    tool = {
        "lk.function_tool.id": "c2",
        "lk.function_tool.name": "book",
        "lk.function_tool.arguments": '{"n": 4}',
        "lk.function_tool.output": "taken",
        "lk.function_tool.is_error": True,
    }
    read_back = read("function_tool", tool, scope_name="")
    assert read_back.tool == ToolRequest(id="c2", name="book", arguments={"n": 4})
    assert (read_back.tool_result, read_back.tool_is_error) == ("taken", True)


def test_models_of_speech_are_heard_through_their_turns() -> None:
    """Where nothing but turns is told, they are the conversation; speech itself is no call."""
    facts = [
        read("user_turn", {"lk.user_transcript": "Hello?"}, id="4" * 16, start_s=1),
        read("agent_turn", {"lk.response.text": "Hi!"}, id="5" * 16, start_s=3),
        read("tts_request", {"gen_ai.request.model": "voice"}, id="6" * 16, start_s=4),
        read("eou_detection", {"lk.eou.probability": 0.9}, id="7" * 16, start_s=4),
    ]
    assert [fact.role for fact in facts] == ["chain", "agent", "other", "other"]
    built = build(facts, id="c", explicit=False, episode=Episode(), keys=MessageKeys())
    assert built.conversation.messages == (user("Hello?"), agent("Hi!"))
    assert built.conversation.llm_calls == ()
