"""Test that messages of every provider's shape come out in one normal form."""

from __future__ import annotations

import json
from typing import Any

import pytest

from collector.dialects.interning import Memory
from collector.dialects.messages import history, normal, reply, split_system, system_text
from collector.model import Message, ToolRequest
from tests.build import agent, request, user

DEEP = "[" * 500 + "]" * 500


def read(*messages: Any) -> tuple[Message, ...]:
    """Read a history with a fresh memory."""
    return history(json.dumps(messages), Memory(100_000))


@pytest.mark.parametrize(
    "block",
    [
        {"type": "tool_call", "id": "c1", "name": "room", "arguments": {"n": 1}},
        {"type": "tool_call", "id": "c1", "name": "room", "arguments": '{"n": 1}'},
        {"type": "tool_use", "id": "c1", "name": "room", "input": {"n": 1}},
        {"type": "tool-call", "toolCallId": "c1", "toolName": "room", "args": {"n": 1}},
        {
            "type": "function_call",
            "id": "fc",
            "call_id": "c1",
            "name": "room",
            "arguments": '{"n":1}',
        },
        {"toolUse": {"toolUseId": "c1", "name": "room", "input": {"n": 1}}},
        {"functionCall": {"id": "c1", "name": "room", "args": {"n": 1}}},
        {"type": "server_tool_call", "id": "c1", "name": "room", "server_tool_call": {"n": 1}},
    ],
)
def test_tool_calls_of_every_shape_are_one(block: Any) -> None:
    """Each provider's block of a tool call means the same request."""
    assert read({"role": "assistant", "content": [block]}) == (
        agent("", request("room", "c1", n=1)),
    )


@pytest.mark.parametrize(
    "block",
    [
        {"type": "tool_call_response", "id": "c1", "response": "free", "is_error": True},
        {"type": "tool_call_response", "id": "c1", "result": "free", "is_error": True},
        {"type": "tool_result", "tool_use_id": "c1", "content": "free", "is_error": True},
        {
            "type": "tool_result",
            "tool_use_id": "c1",
            "content": [{"type": "text", "text": "free"}],
            "is_error": True,
        },
        {
            "type": "tool-result",
            "toolCallId": "c1",
            "output": {"type": "error-text", "value": "free"},
        },
        {"type": "function_call_output", "call_id": "c1", "output": "free", "status": "failed"},
        {"toolResult": {"toolUseId": "c1", "status": "error", "content": [{"text": "free"}]}},
    ],
)
def test_tool_results_of_every_shape_are_one(block: Any) -> None:
    """Each provider's block of a failed result becomes the same tool message."""
    assert read({"role": "user", "content": [block]}) == (
        Message(role="tool", text="free", tool_call_id="c1", is_error=True),
    )


def test_a_users_results_and_words_become_messages_of_their_own() -> None:
    """Results come before the text that was sent along with them."""
    blocks = [
        {"type": "tool_result", "tool_use_id": "c1", "content": "a"},
        {"type": "tool_result", "tool_use_id": "c2", "content": {"b": 1}},
        {"type": "text", "text": "Go on"},
    ]
    assert read({"role": "user", "content": blocks}) == (
        Message(role="tool", text="a", tool_call_id="c1"),
        Message(role="tool", text='{"b":1}', tool_call_id="c2"),
        user("Go on"),
    )


def test_openai_messages_are_read() -> None:
    """Tool calls beside the content and tool messages by id are OpenAI's form."""
    call = {"id": "c1", "type": "function", "function": {"name": "room", "arguments": "{bad"}}
    assert read(
        {"role": "developer", "content": "Be kind."},
        {"role": "user", "content": [{"type": "input_text", "text": "Hi"}]},
        {"role": "assistant", "content": None, "tool_calls": [call, call]},
        {"role": "tool", "tool_call_id": "c1", "content": "free"},
        {"type": "function_call", "call_id": "c2", "name": "room", "arguments": ""},
        {"type": "function_call_output", "call_id": "c2", "output": "free"},
    ) == (
        Message(role="system", text="Be kind."),
        user("Hi"),
        agent("", ToolRequest(id="c1", name="room", arguments="{bad")),
        Message(role="tool", text="free", tool_call_id="c1"),
        agent("", ToolRequest(id="c2", name="room", arguments={})),
        Message(role="tool", text="free", tool_call_id="c2"),
    )


def test_langchains_serialised_messages_are_opened() -> None:
    """LangChain wraps a message into its constructor's arguments."""
    wrapped = {"lc": 1, "type": "constructor", "kwargs": {"type": "human", "content": "Hi"}}
    assert read(wrapped) == (user("Hi"),)


def test_a_serialised_reply_is_no_block() -> None:
    """Its type is the constructor's, and the message is inside."""
    inner = {"type": "ai", "content": [{"type": "text", "text": "Yes."}]}
    wrapped = {"lc": 1, "type": "constructor", "kwargs": inner}
    returned = {"generations": [[{"type": "ChatGeneration", "text": "", "message": wrapped}]]}
    assert reply(json.dumps(returned)) == (agent("Yes."),)
    assert reply(json.dumps([{"type": "ai", "data": inner}])) == (agent("Yes."),)


def test_a_reply_that_calls_is_no_block() -> None:
    """DSPy's names neither who speaks nor what it is."""
    call = {"id": "call_room", "type": "function", "function": {"name": "room", "arguments": "{}"}}
    assert reply(json.dumps([{"text": None, "tool_calls": [call]}])) == (
        agent("", request("room")),
    )


def test_what_a_guardrail_is_to_look_at_is_said() -> None:
    """Bedrock marks parts of what a user says; they are its words all the same."""
    guarded = {"guardContent": {"text": {"text": "Free?", "qualifiers": ["query"]}}}
    assert read({"role": "user", "content": [{"text": "Hi."}, guarded]}) == (user("Hi.\nFree?"),)


def test_reasoning_and_masks_leave_nothing() -> None:
    """A message of nothing but reasoning or masked content is no message."""
    assert (
        read(
            {"role": "assistant", "content": [{"type": "thinking", "thinking": "Hm."}]},
            {"role": "user", "content": "<REDACTED>"},
            {"role": "tool", "tool_call_id": "c1", "content": "__REDACTED__"},
            {
                "role": "user",
                "parts": [{"type": "tool_call_response", "id": "c", "response": "<REDACTED>"}],
            },
        )
        == ()
    )


def test_masked_arguments_are_unknown() -> None:
    """A tool call stays a call when its arguments are hidden."""
    part = {"type": "tool_call", "id": "c1", "name": "room", "arguments": "__REDACTED__"}
    assert read({"role": "assistant", "parts": [part]}) == (
        agent("", ToolRequest(id="c1", name="room")),
    )


def test_a_users_json_stays_what_the_user_said() -> None:
    """Text that looks like blocks is text, unless the convention writes blocks as text."""
    text = '[{"type": "text", "text": "Hi"}]'
    assert normal({"role": "user", "content": text}) == (user(text),)
    assert normal({"role": "user", "content": text}, encoded=True) == (user("Hi"),)
    assert normal({"role": "user", "content": '[{"n": 1}]'}, encoded=True) == (user('[{"n": 1}]'),)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("Hello", (agent("Hello"),)),
        ('{"role": "assistant", "content": "Hello"}', (agent("Hello"),)),
        ('[{"type": "text", "text": "Hello"}]', (agent("Hello"),)),
        ([{"content": "Hello"}], (agent("Hello"),)),
        ("", ()),
        (None, ()),
        (7, ()),
        (DEEP, (agent(DEEP),)),
    ],
)
def test_replies_may_be_text_or_messages(value: Any, expected: Any) -> None:
    """A reply without a role is the assistant's."""
    assert reply(value) == expected


def test_a_request_may_wrap_its_messages() -> None:
    """A whole request holds the messages under a key."""
    wrapped = json.dumps({"messages": [{"role": "user", "content": "Hi"}]})
    assert history(wrapped, Memory(1000)) == (user("Hi"),)
    assert history("Hi", Memory(1000)) == (user("Hi"),)


@pytest.mark.parametrize(
    "value", ["[" * 100_000, '[{"role":"user","content":' + DEEP + "}]", "[5, null]"]
)
def test_hostile_histories_are_survived(value: str) -> None:
    """Nesting without end and elements that are no messages do no harm."""
    history(value, Memory(1_000_000))


def test_a_message_seen_before_is_not_parsed_again() -> None:
    """The very same record comes back for an equal slice of the history."""
    memory = Memory(100_000)
    first = history('[{"role":"user","content":"Hi"}]', memory)
    second = history('[{"role":"user","content":"Hi"},{"role":"user","content":"Ho"}]', memory)
    assert second == (user("Hi"), user("Ho"))
    assert second[0] is first[0]


def test_system_text_and_messages_are_split_off() -> None:
    """Instructions may be text or parts; system messages leave the history."""
    memory = Memory(10_000)
    assert system_text("Be kind.", memory) == "Be kind."
    assert system_text('[{"type":"text","content":"Be"},{"text":"kind."}]', memory) == "Be\nkind."
    assert system_text([{"content": "Be kind.", "type": "text"}], memory) == "Be kind."
    messages = (Message(role="system", text="a"), user("Hi"), Message(role="system", text="b"))
    assert split_system(messages) == ("a\n\nb", (user("Hi"),))
