"""Test that tool definitions of every shape are read."""

from __future__ import annotations

import json
from typing import Any

import pytest

from collector.dialects.interning import Memory
from collector.dialects.tools import definitions
from collector.model import ToolDefinition

SCHEMA: Any = {"type": "object", "properties": {"n": {"type": "integer"}}}
ROOM = ToolDefinition(name="room", description="Look", parameters=SCHEMA)
NAMED: Any = {"name": "room", "description": "Look"}


def read(*tools: Any) -> tuple[ToolDefinition, ...]:
    """Read structured definitions with a fresh memory."""
    return definitions(list(tools), Memory(10_000))


@pytest.mark.parametrize(
    "tool",
    [
        {"type": "function", **NAMED, "parameters": SCHEMA},
        {"type": "function", **NAMED, "inputSchema": SCHEMA},
        {**NAMED, "input_schema": SCHEMA},
        {"type": "function", "function": {**NAMED, "parameters": SCHEMA}},
        {"json_schema": json.dumps({**NAMED, "input_schema": SCHEMA})},
        {"toolSpec": {**NAMED, "inputSchema": {"json": SCHEMA}}},
        {"function_declarations": [{**NAMED, "parameters": SCHEMA}]},
        {"function_tools": [{**NAMED, "parameters_json_schema": SCHEMA}]},
        json.dumps({**NAMED, "inputSchema": SCHEMA}),
    ],
)
def test_every_shape_means_the_same_tool(tool: Any) -> None:
    """OTel, Vercel, Anthropic, OpenAI, OpenInference, Bedrock, Google and pydantic-ai agree."""
    assert read(tool) == (ROOM,)
    assert definitions(json.dumps([tool]), Memory(10_000)) == (ROOM,)


def test_names_alone_and_null_parameters_are_unknown_schemas() -> None:
    """A tool without a schema is a tool; a better description of it wins."""
    assert read("room") == (ToolDefinition(name="room"),)
    assert read(NAMED | {"parameters": None}, NAMED | {"parameters": SCHEMA}) == (ROOM,)


def test_mcp_hints_are_kept() -> None:
    """Annotations tell whether a tool only reads or may destroy."""
    (tool,) = read(NAMED | {"annotations": {"readOnlyHint": True, "destructiveHint": False}})
    assert (tool.read_only, tool.destructive) == (True, False)


@pytest.mark.parametrize("value", [None, "", 5, [None, 5, {}], "[" * 5000, {"a": 1}])
def test_what_is_no_tool_gives_none(value: Any) -> None:
    """Values of other shapes name no usable tool and do no harm."""
    assert all(tool.parameters is None for tool in definitions(value, Memory(100_000)))


def test_a_list_seen_before_is_not_parsed_again() -> None:
    """The same text gives the very same definitions."""
    memory = Memory(10_000)
    text = json.dumps([NAMED])
    assert definitions(text, memory) is definitions(str(text), memory)
