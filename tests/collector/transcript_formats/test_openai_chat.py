"""Test OpenAI chat rows."""

from __future__ import annotations

from typing import Any

import pytest

from collector.model import Message, ToolRequest
from collector.transcript_formats.content import FormatError
from collector.transcript_formats.openai_chat import read_row


def test_tool_call_and_result() -> None:
    """Calls get parsed arguments, and a result without a name takes it from its request."""
    call = {"id": "c1", "type": "function", "function": {"name": "f", "arguments": '{"a": 1}'}}
    row = {
        "messages": [
            {"role": "developer", "content": "Be kind."},
            {"role": "user", "content": [{"type": "text", "text": "Go"}]},
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": "c1", "content": "no", "is_error": True},
        ]
    }
    assert read_row(row).messages == (
        Message(role="system", text="Be kind."),
        Message(role="user", text="Go"),
        Message(
            role="assistant", tool_requests=(ToolRequest(id="c1", name="f", arguments={"a": 1}),)
        ),
        Message(role="tool", text="no", tool_call_id="c1", tool_name="f", is_error=True),
    )


def test_legacy_function_call() -> None:
    """The legacy function call has no id, and its result is a message of role function."""
    row = {
        "messages": [
            {"role": "assistant", "function_call": {"name": "f", "arguments": "{"}},
            {"role": "function", "name": "f", "content": "ok"},
        ]
    }
    assert read_row(row).messages == (
        Message(role="assistant", tool_requests=(ToolRequest(name="f", arguments="{"),)),
        Message(role="tool", text="ok", tool_name="f"),
    )


def test_encoded_result_blocks() -> None:
    """A result that is a JSON text of text blocks, as MCP clients write it, is opened."""
    content = '[{"type": "text", "text": "shipped"}]'
    row = {"messages": [{"role": "tool", "tool_call_id": "c1", "content": content}]}
    assert read_row(row).messages == (Message(role="tool", text="shipped", tool_call_id="c1"),)


def test_refusal() -> None:
    """A refusal is what the assistant said."""
    row = {"messages": [{"role": "assistant", "content": None, "refusal": "I cannot."}]}
    assert read_row(row).messages == (Message(role="assistant", text="I cannot."),)


@pytest.mark.parametrize(
    ("message", "reason"),
    [
        ("hi", "message 0 is not an object"),
        ({"role": "bot"}, "message 0 has the unknown role 'bot'"),
        ({"role": "assistant", "tool_calls": [{"id": "c"}]}, "without a function name"),
        ({"role": "assistant", "tool_calls": {}}, "`tool_calls` is not a list"),
    ],
)
def test_bad_messages(message: Any, reason: str) -> None:
    """A message that is not in the format is an error that says which and why."""
    with pytest.raises(FormatError, match=reason):
        read_row({"messages": [message]})
