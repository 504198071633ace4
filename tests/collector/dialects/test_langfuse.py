"""Test Langfuse's SDK."""

from __future__ import annotations

import json
from typing import Any

from collector.model import Document, Facts, ToolRequest, Usage
from collector.normalise import Normaliser
from tests.build import agent, request, span, user


def read(kind: str, **observation: Any) -> Facts:
    """Normalise one observation; ``__`` in a name stands for a dot."""
    attributes = {
        f"langfuse.observation.{key.replace('__', '.')}": value
        for key, value in observation.items()
    }
    attributes |= {"langfuse.observation.type": kind, "session.id": "s1"}
    return Normaliser().span(span("room", attributes=attributes))


def test_a_generation_is_a_call_in_openais_shape() -> None:
    """Usage and cost are JSON objects, and cached tokens stand beside the input."""
    call = {"id": "c1", "type": "function", "function": {"name": "room", "arguments": '{"n": 1}'}}
    facts = read(
        "generation",
        input=json.dumps([{"role": "user", "content": "Is room 1 free?"}]),
        output=json.dumps({"role": "assistant", "content": "", "tool_calls": [call]}),
        model__name="m",
        usage_details=json.dumps({"input": 12, "output": 31, "cache_read_input_tokens": 2000}),
        cost_details=json.dumps({"total": 0.5}),
    )
    assert (facts.role, facts.dialect, facts.model) == ("llm", "langfuse", "m")
    assert facts.conversation_id == "s1"
    assert facts.input == (user("Is room 1 free?"),)
    assert facts.output == (agent("", request("room", "c1", n=1)),)
    assert facts.usage == Usage(input=2012, output=31, cache_read=2000)
    assert (facts.finish_reason, facts.cost_usd) == ("tool_call", 0.5)


def test_tools_and_retrievals_are_read() -> None:
    """A tool's input is its arguments; a retriever's output is its documents."""
    tool = read("tool", input='{"n": 1}', output='{"free": true}')
    assert tool.tool == ToolRequest(name="room", arguments={"n": 1})
    assert tool.tool_result == '{"free": true}'
    found = read("retriever", output='[{"page_content": "Rooms have baths."}]')
    assert found.documents == (Document(text="Rooms have baths."),)


def test_an_unknown_type_is_other() -> None:
    """Types of a later version are kept without a meaning."""
    assert read("novelty").role == "other"
