"""Test the parts that every transcript format shares."""

from __future__ import annotations

from typing import Any

import pytest

from collector.model import JsonValue, ToolDefinition
from collector.transcript_formats.content import (
    FormatError,
    arguments_of,
    definition_of,
    rows_of,
    text_of,
)


@pytest.mark.parametrize(
    ("content", "text"),
    [
        (None, ""),
        ("hello", "hello"),
        ([], ""),
        ([{"type": "text", "text": "one"}, {"type": "text", "text": "two"}], "one\ntwo"),
        (["one", {"type": "image_url", "image_url": {"url": "x"}}, {"text": "two"}], "one\ntwo"),
        ([{"type": "refusal", "refusal": "I will not."}, 7], "I will not."),
        ({"total": 3}, '{"total":3}'),
        (12.5, "12.5"),
    ],
)
def test_content_becomes_text(content: Any, text: str) -> None:
    """Text parts are joined by line breaks, media left out, other JSON written as JSON."""
    assert text_of(content) == text


@pytest.mark.parametrize(
    ("value", "arguments"),
    [
        ('{"order_id": "KL-1", "n": 2.0}', {"order_id": "KL-1", "n": 2.0}),
        ({"order_id": "KL-1"}, {"order_id": "KL-1"}),
        ('{"order_id": "KL', '{"order_id": "KL'),
        ("", {}),
        (None, {}),
        ("null", None),
    ],
)
def test_arguments_are_parsed(value: Any, arguments: JsonValue) -> None:
    """Arguments are parsed JSON, invalid JSON stays text, and nothing is an empty object."""
    assert arguments_of(value) == arguments


@pytest.mark.parametrize(
    "tool",
    [
        {"type": "function", "function": {"name": "f", "description": "d", "parameters": {}}},
        {"type": "function", "name": "f", "description": "d", "parameters": {}},
        {"name": "f", "description": "d", "input_schema": {}},
    ],
)
def test_tool_shapes_are_one(tool: dict[str, Any]) -> None:
    """The nested, the flat and Anthropic's shape of a tool definition read the same."""
    assert definition_of(tool) == ToolDefinition(name="f", description="d", parameters={})


def test_tool_hints() -> None:
    """MCP's read-only and destructive hints are kept, and undeclared ones stay unknown."""
    tool = definition_of({"name": "f", "annotations": {"readOnlyHint": True}})
    assert (tool.read_only, tool.destructive) == (True, None)


@pytest.mark.parametrize("tool", ["f", {}, {"function": {"name": 3}}])
def test_nameless_tool(tool: Any) -> None:
    """A tool definition without a name is an error."""
    with pytest.raises(FormatError, match="tool definition"):
        definition_of(tool)


def test_rows_of() -> None:
    """An absent list is empty, and anything but a list is an error that names the key."""
    assert rows_of(None, "tools") == ()
    with pytest.raises(FormatError, match="`tools` is not a list"):
        rows_of("x", "tools")
