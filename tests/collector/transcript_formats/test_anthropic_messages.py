"""Test Anthropic Messages rows."""

from __future__ import annotations

from typing import Any

import pytest

from collector.model import Message, ToolRequest
from collector.transcript_formats.anthropic_messages import read_row
from collector.transcript_formats.content import FormatError

USE = {"type": "tool_use", "id": "t1", "name": "find_order", "input": {"order_id": "KL-1"}}
REQUEST = ToolRequest(id="t1", name="find_order", arguments={"order_id": "KL-1"})


def test_blocks() -> None:
    """Text and tool use stay one message, each result is its own, thinking is dropped."""
    result = {"type": "tool_result", "tool_use_id": "t1", "is_error": False}
    row = {
        "system": [{"type": "text", "text": "Be kind."}],
        "messages": [
            {"role": "user", "content": "Where is KL-1?"},
            {
                "role": "assistant",
                "content": [
                    {"type": "thinking", "thinking": "hm"},
                    {"type": "text", "text": "Let me look."},
                    USE,
                ],
            },
            {
                "role": "user",
                "content": [
                    {**result, "content": [{"type": "text", "text": "shipped"}]},
                    {"type": "text", "text": "And?"},
                ],
            },
        ],
        "tools": [{"name": "find_order", "input_schema": {"type": "object"}}],
    }
    content = read_row(row)
    assert content.system_prompt == "Be kind."
    assert [tool.name for tool in content.tools] == ["find_order"]
    assert content.messages == (
        Message(role="user", text="Where is KL-1?"),
        Message(role="assistant", text="Let me look.", tool_requests=(REQUEST,)),
        Message(
            role="tool", text="shipped", tool_call_id="t1", tool_name="find_order", is_error=False
        ),
        Message(role="user", text="And?"),
    )


def test_server_tool() -> None:
    """The result of a server-side tool splits the assistant's message around it."""
    row = {
        "messages": [
            {
                "role": "assistant",
                "content": [
                    {**USE, "type": "server_tool_use"},
                    {"type": "web_search_tool_result", "tool_use_id": "t1", "content": []},
                    {"type": "text", "text": "Found it."},
                ],
            }
        ]
    }
    assert read_row(row).messages == (
        Message(role="assistant", tool_requests=(REQUEST,)),
        Message(role="tool", tool_call_id="t1", tool_name="find_order"),
        Message(role="assistant", text="Found it."),
    )


def test_empty_message_stays() -> None:
    """A message without content is still a message."""
    assert read_row({"messages": [{"role": "assistant", "content": []}]}).messages == (
        Message(role="assistant"),
    )


@pytest.mark.parametrize(
    ("message", "reason"),
    [
        (3, "message 0 is not an object"),
        ({"role": "tool", "content": "x"}, "unknown role 'tool'"),
        ({"role": "assistant", "content": [{"type": "tool_use"}]}, "without a name"),
    ],
)
def test_bad_messages(message: Any, reason: str) -> None:
    """A message that is not in the format is an error that says which and why."""
    with pytest.raises(FormatError, match=reason):
        read_row({"messages": [message]})
