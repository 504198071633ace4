"""Test writing messages as the convention's JSON."""

from __future__ import annotations

import msgspec
import pytest

from collector.message_json import (
    arguments_json,
    documents_json,
    instructions_json,
    message_json,
    output_json,
    tools_json,
)
from collector.model import Document, JsonValue, Message, ToolDefinition, ToolRequest
from tests.build import agent, request, result, user


def test_user_text() -> None:
    """A text is one text part, an empty one too."""
    assert msgspec.json.decode(message_json(user(""))) == {
        "role": "user",
        "parts": [{"type": "text", "content": ""}],
    }


def test_assistant_with_calls() -> None:
    """Text and tool calls are parts of one message, which carries the finish reason."""
    (message,) = msgspec.json.decode(output_json(agent("Look", request("f", a=1)), "tool_call"))
    assert message == {
        "role": "assistant",
        "parts": [
            {"type": "text", "content": "Look"},
            {"type": "tool_call", "id": "call_f", "name": "f", "arguments": {"a": 1}},
        ],
        "finish_reason": "tool_call",
    }


def test_tool_result() -> None:
    """A result keeps its call id, its name and the producer's error flag."""
    assert msgspec.json.decode(message_json(result("f", "no", is_error=True))) == {
        "role": "tool",
        "parts": [
            {
                "type": "tool_call_response",
                "id": "call_f",
                "name": "f",
                "response": "no",
                "is_error": True,
            }
        ],
    }


def test_unknown_facts_are_left_out() -> None:
    """An id, name or flag that is not known is not written."""
    said = message_json(Message(role="tool", text="ok")) + message_json(
        Message(role="assistant", tool_requests=(ToolRequest(name="f", arguments={}),))
    )
    assert '"id"' not in said
    assert "is_error" not in said
    assert said.count('"name"') == 1


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ({"a": 1}, '{"a":1}'),
        ('{"a": ', '{"a": '),
        ("5", '"5"'),
        (None, "null"),
    ],
)
def test_arguments_survive_parsing(arguments: JsonValue, text: str) -> None:
    """Text that is valid JSON is quoted, so that a reader who parses it gets the text back."""
    assert arguments_json(arguments) == text


def test_tools() -> None:
    """Definitions carry only what is known, hints where MCP has them."""
    tools = [
        ToolDefinition(name="f", description="d", parameters={}, read_only=True),
        ToolDefinition(name="g"),
    ]
    assert msgspec.json.decode(tools_json(tools)) == [
        {
            "type": "function",
            "name": "f",
            "description": "d",
            "parameters": {},
            "annotations": {"readOnlyHint": True},
        },
        {"type": "function", "name": "g"},
    ]


def test_instructions_and_documents() -> None:
    """Instructions are text parts, and documents keep their text and score."""
    assert msgspec.json.decode(instructions_json("Be kind.")) == [
        {"type": "text", "content": "Be kind."}
    ]
    assert msgspec.json.decode(documents_json([Document(id="d", text="t", score=0.5)])) == [
        {"id": "d", "content": "t", "score": 0.5}
    ]
