"""Test the OTel GenAI dialect: content in span events and log records."""

from __future__ import annotations

import json

from collector.model import Message, ToolRequest, Usage
from tests.build import agent, request, user
from tests.collector.dialects.test_otel_genai import ANSWER, ASK, CALL, event, log, read


def test_content_in_span_events_is_read() -> None:
    """Strands tells its messages as events with Bedrock blocks in JSON text."""
    facts = read(
        {"gen_ai.operation.name": "chat", "gen_ai.system": "strands-agents"},
        events=(
            event("gen_ai.system.message", content='[{"text": "Be kind."}]'),
            event("gen_ai.user.message", content='[{"text": "Is room 12 free?"}]'),
            event(
                "gen_ai.assistant.message",
                content=json.dumps(
                    [
                        {"text": "Let me see."},
                        {"toolUse": {"toolUseId": "c1", "name": "room", "input": {"number": 12}}},
                    ]
                ),
            ),
            event(
                "gen_ai.tool.message",
                content=json.dumps(
                    [
                        {
                            "toolResult": {
                                "toolUseId": "c1",
                                "status": "error",
                                "content": [{"text": "no such room"}],
                            }
                        }
                    ]
                ),
            ),
            event("gen_ai.choice", message='[{"text": "No."}]', finish_reason="end_turn"),
        ),
    )
    assert facts.system_prompt == "Be kind."
    assert facts.provider == ""
    assert facts.input == (
        user("Is room 12 free?"),
        agent("Let me see.", request("room", "c1", number=12)),
        Message(role="tool", text="no such room", tool_call_id="c1", is_error=True),
    )
    assert facts.output == (agent("No."),)
    assert facts.finish_reason == "stop"


def test_a_tool_span_may_tell_its_call_in_events() -> None:
    """Strands puts arguments and result of a tool into events of its span."""
    facts = read(
        {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "room"},
        events=(
            event("gen_ai.tool.message", role="tool", content='{"number": 12}', id="c1"),
            event("gen_ai.choice", message='[{"text": "free"}]', id="c1"),
        ),
    )
    assert facts.tool == ToolRequest(name="room", arguments={"number": 12})
    assert facts.tool_result == "free"


def test_shares_of_a_call_in_several_span_events_are_joined() -> None:
    """Details events may each hold a part of the messages."""
    facts = read(
        {"gen_ai.operation.name": "chat"},
        events=(
            event(
                "gen_ai.client.inference.operation.details",
                **{"gen_ai.input.messages": json.dumps([ASK])},
            ),
            event(
                "gen_ai.client.inference.operation.details",
                **{"gen_ai.input.messages": json.dumps([CALL, ANSWER])},
            ),
        ),
    )
    assert [message.role for message in facts.input] == ["user", "assistant", "tool"]


def test_the_oldest_events_hold_prompt_and_completion() -> None:
    """Prompt and completion events hold JSON text or plain text."""
    facts = read(
        {"gen_ai.request.model": "m"},
        events=(
            event("gen_ai.content.prompt", **{"gen_ai.prompt": '[{"role":"user","content":"Hi"}]'}),
            event("gen_ai.content.completion", **{"gen_ai.completion": "Hello"}),
        ),
    )
    assert (facts.input, facts.output) == ((user("Hi"),), (agent("Hello"),))


def test_a_details_log_describes_a_whole_call() -> None:
    """The current log event carries all attributes of a call, with structured messages."""
    facts = log(
        "gen_ai.client.inference.operation.details",
        **{
            "gen_ai.request.model": "m",
            "gen_ai.conversation.id": "c",
            "gen_ai.usage.input_tokens": 3,
            "gen_ai.usage.output_tokens": 1,
            "gen_ai.input.messages": [ASK],
            "gen_ai.output.messages": [CALL],
        },
    )
    assert (facts.role, facts.partial, facts.span_id) == ("llm", False, "2" * 16)
    assert facts.usage == Usage(input=3, output=1)
    assert facts.input == (user("Is room 12 free?"),)
    assert facts.finish_reason == "tool_call"
    assert facts.conversation_id == "c"


def test_legacy_logs_name_the_roles_that_providers_do() -> None:
    """A developer's message is the system prompt, a function's a result."""
    assert log("gen_ai.developer.message", {"content": "Be kind."}).system_prompt == "Be kind."
    (found,) = log("gen_ai.function.message", {"content": "free", "name": "room"}).input
    assert (found.role, found.text) == ("tool", "free")


def test_a_choice_may_tell_its_calls_beside_the_message() -> None:
    """OpenLLMetry's events do, and tell of the tools as if a user had said them."""
    call = {"id": "call_room", "type": "function", "function": {"name": "room", "arguments": "{}"}}
    body = {"message": {"content": None}, "finish_reason": "stop", "tool_calls": [call]}
    choice = log("gen_ai.choice", body)
    assert choice.output == (agent("", request("room")),)
    assert choice.finish_reason == "tool_call"
    offer = log("gen_ai.user.message", {"content": {"tools": [{"name": "room"}]}})
    assert ([tool.name for tool in offer.tools], offer.input) == (["room"], ())


def test_legacy_logs_are_shares_of_a_call() -> None:
    """Each legacy log event is one message of its span's call."""
    call = {"id": "c1", "type": "function", "function": {"name": "room", "arguments": "{}"}}
    facts = [
        log("gen_ai.system.message", {"content": "Be kind."}),
        log("gen_ai.user.message", {"content": "Is room 12 free?"}),
        log("gen_ai.assistant.message", {"tool_calls": [call]}),
        log("gen_ai.tool.message", {"content": "free", "id": "c1"}),
        log("gen_ai.choice", {"finish_reason": "stop", "message": {"content": "Yes."}}),
    ]
    assert all(share.partial for share in facts)
    assert facts[0].system_prompt == "Be kind."
    assert [share.input for share in facts[1:]] == [
        (user("Is room 12 free?"),),
        (agent("", ToolRequest(id="c1", name="room", arguments={})),),
        (Message(role="tool", text="free", tool_call_id="c1"),),
        (),
    ]
    assert facts[4].output == (agent("Yes."),)
    assert facts[4].finish_reason == "stop"
