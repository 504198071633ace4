"""Test Pipecat's voice agents."""

from __future__ import annotations

import json
from typing import Any

from collector.conversations import build
from collector.message_keys import MessageKeys
from collector.model import Episode, Facts, ToolRequest, Usage
from collector.normalise import Normaliser
from tests.build import agent, request, span, user


def read(name: str, attributes: dict[str, Any], **more: Any) -> Facts:
    """Normalise one span of Pipecat."""
    more.setdefault("scope_name", "pipecat")
    return Normaliser().span(span(name, attributes=attributes, **more))


def test_a_call_keeps_its_content_under_generic_names() -> None:
    """Input, output, instructions and tools are read, the calls that stand in the output too."""
    call = {"id": "c1", "type": "function", "function": {"name": "room", "arguments": '{"n": 4}'}}
    tool = {"type": "function", "function": {"name": "room", "parameters": {"type": "object"}}}
    read_back = read(
        "llm",
        {
            "gen_ai.provider.name": "openai",
            "gen_ai.request.model": "m",
            "gen_ai.operation.name": "chat",
            "gen_ai.system_instructions": "Be brief.",
            "gen_ai.usage.input_tokens": 9,
            "gen_ai.usage.output_tokens": 2,
            "input": json.dumps([{"role": "user", "content": "Is room 4 free?"}]),
            "output": json.dumps({"content": "I look.", "tool_calls": [call]}),
            "tools": json.dumps([tool]),
            "metrics.ttfb": 0.5,
        },
    )
    assert (read_back.role, read_back.dialect, read_back.model) == ("llm", "pipecat", "m")
    assert read_back.system_prompt == "Be brief."
    assert read_back.input == (user("Is room 4 free?"),)
    assert read_back.output == (agent("I look.", request("room", "c1", n=4)),)
    assert [t.name for t in read_back.tools] == ["room"]
    assert read_back.usage == Usage(input=9, output=2)
    assert read_back.first_token_s == 0.5


def test_plain_text_is_what_was_said() -> None:
    """Older versions write the output as it was spoken, and instructions as JSON text."""
    said = {"gen_ai.operation.name": "chat", "output": "Hi!", "system": '"Be brief."'}
    read_back = read("llm", said)
    assert (read_back.system_prompt, read_back.output) == ("Be brief.", (agent("Hi!"),))


def test_speech_is_no_call() -> None:
    """What turns text to speech and back has a model, and says nothing of a conversation."""
    for operation in ("tts", "stt"):
        spoken = {"gen_ai.operation.name": operation, "gen_ai.request.model": "v", "text": "Hi!"}
        assert read(operation, spoken).role == "other"


def test_turns_name_the_conversation() -> None:
    """The id stands on the conversation and on each of its turns."""
    turn = read("turn", {"conversation.id": "talk-7", "turn.number": 1}, scope_name="pipecat.turn")
    assert (turn.role, turn.conversation_id) == ("chain", "talk-7")


def test_models_of_speech_tell_in_several_spans() -> None:
    """Request and response follow each other, and a call and its result are one call."""
    asked = json.dumps([{"role": "user", "content": "Is room 4 free?"}])
    call = {"tool.function_name": "room", "tool.call_id": "c1"}
    more = {"gen_ai.operation.name": "llm_response", "gen_ai.usage.output_tokens": 2}
    facts = [
        read("llm_request", {"input": asked}, id="1" * 16, start_s=1),
        read("llm_tool_call", call | {"tool.arguments": '{"n": 4}'}, id="2" * 16, start_s=2),
        read(
            "llm_tool_result",
            call | {"tool.result": '"yes"', "tool.result_status": "success"},
            id="3" * 16,
            start_s=3,
        ),
        read("llm_response", more | {"output": "It is."}, id="4" * 16, start_s=4),
        read(
            "llm_setup",
            {"gen_ai.operation.name": "llm_setup", "gen_ai.request.model": "m"},
            id="5" * 16,
        ),
    ]
    assert facts[-1].role == "other"
    assert facts[1].tool == ToolRequest(id="c1", name="room", arguments={"n": 4})
    built = build(facts, id="c", explicit=False, episode=Episode(), keys=MessageKeys())
    assert built.conversation.messages == (user("Is room 4 free?"), agent("It is."))
    (room,) = built.conversation.tool_calls
    assert (room.arguments, room.result, room.is_error) == ({"n": 4}, "yes", False)


def test_what_the_user_said_is_a_transcript() -> None:
    """Of speech that is heard the transcript is the input, of what is spoken the output."""
    heard = read("llm_response", {"transcript": "Hello?", "transcript.is_input": True})
    spoken = read("llm_response", {"transcript": "Hi!", "transcript.is_input": False})
    assert (heard.input, heard.output) == ((user("Hello?"),), ())
    assert (spoken.input, spoken.output) == ((), (agent("Hi!"),))
