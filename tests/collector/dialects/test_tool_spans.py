"""Test what frameworks put around a tool's arguments and result."""

from __future__ import annotations

import json
from typing import Any

import pytest

from collector.dialects.dialect import ToolUse
from collector.dialects.tool_spans import arguments_in, opened
from collector.dialects.tools import bare_name
from collector.model import JsonValue, ToolRequest


@pytest.mark.parametrize(
    "value",
    [
        {"n": 1},
        {"args": [], "kwargs": {"n": 1}, "sanitize_inputs_outputs": True},
        {"tool_name": "room", "arguments": {"n": 1}},
        {"name": "room", "arguments": '{"n": 1}'},
        {"input_str": "{'n': 1}", "inputs": {"n": 1}, "tags": []},
        {"input_str": "{'n': 1}"},
    ],
)
def test_arguments_are_an_object(value: dict[str, Any]) -> None:
    """Decorators, LangChain and MCP wrap them, as a structure or as text."""
    assert arguments_in(value) == {"n": 1}
    assert arguments_in(json.dumps(value)) == {"n": 1}


def test_other_arguments_stay_as_they_are() -> None:
    """Positional ones, a bare value, and a Python literal that is none."""
    assert arguments_in('{"args": ["1"], "kwargs": {}}') == ["1"]
    assert arguments_in("room 1") == "room 1"
    assert arguments_in("{'n': 1}") == {"n": 1}
    assert arguments_in("{'n': open('x')}") == "{'n': open('x')}"
    assert arguments_in("{'n': {1, 2}}") == "{'n': {1, 2}}"


def test_results_are_taken_out_of_messages() -> None:
    """LangChain's and Google's wrappers carry the call's id; MCP's the flag."""
    use = ToolUse(request=ToolRequest(name="room"))
    message: dict[str, JsonValue] = {"content": "free", "tool_call_id": "c1", "status": "error"}
    values: tuple[JsonValue, ...] = (message, json.dumps({"type": "tool", "data": message}))
    for value in values:
        found = opened(ToolUse(request=use.request, result=value))
        assert found.request == ToolRequest(id="c1", name="room")
        assert (found.result, found.is_error) == ("free", True)
    google: JsonValue = {"id": "adk-1", "name": "room", "response": {"free": True}}
    assert opened(ToolUse(request=use.request, result=google)).result == {"free": True}
    plain = ToolUse(request=use.request, result='{"free": true}')
    assert opened(plain) == plain


def test_span_names_are_stripped_to_the_tools() -> None:
    """What frameworks write around the name is not part of it."""
    names = ["execute_tool room", "running tool: room", "room.tool", "Function: room", "room"]
    assert {bare_name(name) for name in names} == {"room"}
