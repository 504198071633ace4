"""Test Google's Agent Development Kit."""

from __future__ import annotations

import json
from typing import Any

from collector.conversations import build
from collector.message_keys import MessageKeys
from collector.model import Episode, Facts, Usage
from collector.normalise import Normaliser
from collector.telemetry import LogRecord
from tests.build import agent, request, span, user


def read(name: str, **attributes: Any) -> Facts:
    """Normalise one span of the kit; ``__`` in a name stands for a dot."""
    found = {
        key.replace("__", "."): json.dumps(value) if isinstance(value, (list, dict)) else value
        for key, value in attributes.items()
    }
    return Normaliser().span(span(name, attributes=found, scope_name="gcp.vertex.agent"))


def test_an_older_call_holds_request_and_response() -> None:
    """System instruction, tools, messages, tokens and reason come out of the bodies."""
    facts = read(
        "call_llm",
        gen_ai__system="gcp.vertex.agent",
        gen_ai__request__model="g",
        gcp__vertex__agent__session_id="s1",
        gcp__vertex__agent__llm_request={
            "model": "g",
            "config": {
                "system_instruction": "Be kind.",
                "tools": [{"function_declarations": [{"name": "room", "description": "Look"}]}],
            },
            "contents": [{"role": "user", "parts": [{"text": "Is room 1 free?"}]}],
        },
        gcp__vertex__agent__llm_response={
            "content": {
                "role": "model",
                "parts": [{"function_call": {"name": "room", "args": {"n": 1}}}],
            },
            "finish_reason": "STOP",
            "usage_metadata": {"prompt_token_count": 9, "candidates_token_count": 4},
        },
    )
    assert (facts.role, facts.dialect, facts.conversation_id) == ("llm", "google_adk", "s1")
    assert (facts.system_prompt, [t.name for t in facts.tools]) == ("Be kind.", ["room"])
    assert facts.input == (user("Is room 1 free?"),)
    assert [r.name for m in facts.output for r in m.tool_requests] == ["room"]
    assert facts.usage == Usage(input=9, output=4)
    assert (facts.finish_reason, facts.provider) == ("tool_call", "gcp.gemini")


def test_names_tell_what_older_spans_are() -> None:
    """Runs of agents and invocations name no operation."""
    assert read("agent_run [desk]", gcp__vertex__agent__event_id="e").role == "agent"
    assert read("invocation [hotel]").role == "chain"
    assert read("execute_tool (merged tools)", gen_ai__operation__name="execute_tool").role == (
        "tool"
    )


def test_a_tools_arguments_and_response_are_its_own_keys() -> None:
    """The kit's keys hold both, and Google's response may wrap the result."""
    facts = read(
        "execute_tool room",
        gen_ai__operation__name="execute_tool",
        gen_ai__tool__name="room",
        gen_ai__tool__call__id="adk-1",
        gcp__vertex__agent__tool_call_args={"n": 1},
        gcp__vertex__agent__tool_response={
            "id": "adk-1",
            "name": "room",
            "response": {"free": True},
        },
    )
    assert facts.tool == request("room", "adk-1", n=1)
    assert facts.tool_result == '{"free":true}'


def test_current_spans_follow_otel() -> None:
    """Messages in OTel's keys are read as anywhere else."""
    said = [{"role": "assistant", "parts": [{"type": "text", "content": "Yes."}]}]
    facts = read(
        "generate_content g",
        gen_ai__operation__name="generate_content",
        **{"gen_ai.output.messages": json.dumps(said)},
    )
    assert (facts.role, facts.output) == ("llm", (agent("Yes."),))


def test_a_streamed_reply_is_one_message() -> None:
    """The kit's record lists the chunks; together they are what was said."""
    chunks: Any = [
        {
            "role": "assistant",
            "parts": [{"type": "text", "content": words}],
            "finish_reason": reason,
        }
        for words, reason in (("The tide", ""), (" turns", ""), (" at noon.", "stop"))
    ]
    facts = Normaliser().log(
        LogRecord(
            time_ns=7,
            trace_id="1" * 32,
            span_id="2" * 16,
            event_name="gen_ai.client.inference.operation.details",
            scope_name="gcp.vertex.agent",
            attributes={"gen_ai.output.messages": chunks},
            resource={},
        )
    )
    assert facts is not None
    assert facts.output == (agent("The tide turns at noon."),)
    assert facts.finish_reason == "stop"


def test_messages_that_openinference_wrote_onto_the_kits_span_are_read() -> None:
    """It writes each call of a run over the last; what the first asked for is asked once."""
    call = "message.tool_calls.0.tool_call.function."
    facts = read(
        "invoke_agent desk",
        openinference__span__kind="LLM",
        gen_ai__operation__name="generate_content",
        gen_ai__conversation__id="s1",
        **{
            "llm.input_messages.0.message.role": "system",
            "llm.input_messages.0.message.content": "Be kind.",
            "llm.input_messages.1.message.role": "user",
            "llm.input_messages.1.message.content": "Free?",
            "llm.input_messages.2.message.role": "model",
            f"llm.input_messages.2.{call}name": "room",
            f"llm.input_messages.2.{call}arguments": '{"n": 1}',
            "llm.input_messages.3.message.role": "tool",
            "llm.input_messages.3.message.name": "room",
            "llm.input_messages.3.message.content": "yes",
            "llm.output_messages.0.message.role": "model",
            f"llm.output_messages.0.{call}name": "room",
            f"llm.output_messages.0.{call}arguments": '{"n": 1}',
            "llm.output_messages.0.message.contents.0.message_content.type": "text",
            "llm.output_messages.0.message.contents.0.message_content.text": "It is free.",
        },
    )
    assert (facts.dialect, facts.conversation_id) == ("google_adk", "s1")
    assert facts.system_prompt == "Be kind."
    assert [message.role for message in facts.input] == ["user", "assistant", "tool"]
    assert facts.output == (agent("It is free."),)


def test_ids_that_the_kit_made_up_make_no_second_call() -> None:
    """Gemini gives calls no id; the kit counts them in each message, and its tool spans have others."""
    facts = [
        chat(1.0, [asks("Free?")], [calls("room", n=1)]),
        tool(2.0, "adk-a", n=1),
        chat(3.0, [asks("Free?"), calls("room", n=1), returns("yes")], [calls("room", n=2)]),
        tool(4.0, "adk-b", n=2),
    ]
    found = build(facts, id="s1", explicit=True, episode=Episode(), keys=MessageKeys()).conversation
    assert [(c.id, c.arguments) for c in found.tool_calls] == [
        ("adk-a", {"n": 1}),
        ("adk-b", {"n": 2}),
    ]
    assert all(c.span_id and c.asked_at >= 0 for c in found.tool_calls)
    assert found.tool_calls[0].result == "yes"


def test_records_lose_made_up_ids_too() -> None:
    """Where the kit sends the messages as log events; an id of the provider's own stays."""
    said = calls("room", n=1)
    said["parts"].append({"type": "tool_call", "id": "7", "name": "lift", "arguments": {}})
    facts = Normaliser().log(
        LogRecord(
            time_ns=7,
            event_name="gen_ai.client.inference.operation.details",
            scope_name="gcp.vertex.agent",
            attributes={"gen_ai.output.messages": json.dumps([said])},
            resource={},
        )
    )
    assert facts is not None
    assert [(r.id, r.name) for m in facts.output for r in m.tool_requests] == [
        ("", "room"),
        ("7", "lift"),
    ]


def asks(text: str) -> dict[str, Any]:
    """Write what a user says, as the kit does."""
    return {"role": "user", "parts": [{"type": "text", "content": text}]}


def calls(name: str, **arguments: Any) -> dict[str, Any]:
    """Write a call with the id that the kit makes up."""
    part = {"type": "tool_call", "id": f"{name}_0", "name": name, "arguments": arguments}
    return {"role": "assistant", "parts": [part], "finish_reason": "stop"}


def returns(text: str) -> dict[str, Any]:
    """Write the result of such a call."""
    return {
        "role": "user",
        "parts": [{"type": "tool_call_response", "id": "room_0", "response": text}],
    }


def chat(at: float, given: list[dict[str, Any]], said: list[dict[str, Any]]) -> Facts:
    """Normalise a current model call."""
    return Normaliser().span(
        span(
            "generate_content g",
            id=f"{int(at):016x}",
            start_s=at,
            seconds=0.5,
            attributes={
                "gen_ai.operation.name": "generate_content",
                "gen_ai.conversation.id": "s1",
                "gen_ai.input.messages": json.dumps(given),
                "gen_ai.output.messages": json.dumps(said),
            },
            scope_name="gcp.vertex.agent",
        )
    )


def tool(at: float, call_id: str, **arguments: Any) -> Facts:
    """Normalise the span of a tool call."""
    return Normaliser().span(
        span(
            "execute_tool room",
            id=f"{int(at):016x}",
            start_s=at,
            seconds=0.5,
            attributes={
                "gen_ai.operation.name": "execute_tool",
                "gen_ai.tool.name": "room",
                "gen_ai.tool.call.id": call_id,
                "gen_ai.tool.call.arguments": json.dumps(arguments),
            },
            scope_name="gcp.vertex.agent",
        )
    )
