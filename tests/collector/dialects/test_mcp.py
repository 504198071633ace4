"""Test spans of the Model Context Protocol."""

from __future__ import annotations

import json
from typing import Any

import pytest

from collector.model import Facts, ToolRequest
from collector.normalise import Normaliser
from tests.build import span


def read(name: str = "tools/call room", **attributes: Any) -> Facts:
    """Normalise one span; ``__`` in a name stands for a dot."""
    found = {key.replace("__", "."): value for key, value in attributes.items()}
    return Normaliser().span(span(name, attributes=found))


@pytest.mark.parametrize(
    "attributes",
    [
        {"gen_ai__tool__name": "room", "gen_ai__tool__call__arguments": '{"n": 1}'},
        {"mcp__request__argument": '{"n": 1}'},
        {"mcp__tool__name": "room", "mcp__tool__arguments": '{"n": 1}'},
        {"request": json.dumps({"params": {"name": "room", "arguments": {"n": 1}}})},
    ],
)
def test_a_call_is_a_tool_with_its_arguments(attributes: dict[str, Any]) -> None:
    """Whichever keys name it; the span's own name tells the tool where nothing else does."""
    facts = read(mcp__method__name="tools/call", **attributes)
    assert (facts.role, facts.dialect) == ("tool", "mcp")
    assert facts.tool == ToolRequest(name="room", arguments={"n": 1})


def test_a_result_is_its_text_and_its_flag() -> None:
    """A result object says whether the tool failed, and so does the type of the error."""
    content = [{"type": "text", "text": "No such room."}]
    facts = read(
        mcp__method__name="tools/call",
        mcp__response__value=json.dumps({"content": content, "isError": True}),
    )
    assert (facts.tool_result, facts.tool_is_error) == ("No such room.", True)
    failed = read(mcp__method__name="tools/call", error__type="tool_error")
    assert failed.tool_is_error


def test_other_methods_are_other() -> None:
    """Listing tools and opening a session are nothing that was said."""
    assert read("tools/list", mcp__method__name="tools/list").role == "other"
    assert read("initialize", rpc__system="mcp", rpc__method="initialize").role == "other"
