"""Test MLflow's tracing, whose values are JSON text."""

from __future__ import annotations

import json
from typing import Any

from collector.model import Document, Facts, ToolRequest, Usage
from collector.normalise import Normaliser
from tests.build import agent, request, span, user

CALL = {"id": "c1", "type": "function", "function": {"name": "room", "arguments": '{"n": 4}'}}
TOOL = {"type": "function", "function": {"name": "room", "parameters": {"type": "object"}}}


def read(kind: str, given: Any, returned: Any, *, name: str = "step", **more: Any) -> Facts:
    """Normalise one span of a type; ``__`` in a name stands for a dot."""
    written = {f"mlflow.{key.replace('__', '.')}": json.dumps(v) for key, v in more.items()}
    written |= {
        "mlflow.spanType": json.dumps(kind),
        "mlflow.spanInputs": json.dumps(given),
        "mlflow.spanOutputs": json.dumps(returned),
    }
    return Normaliser().span(span(name, attributes=written))


def test_a_call_holds_request_and_response() -> None:
    """Messages, tools, tokens, model, provider and reason are read."""
    response = {
        "id": "chatcmpl-1",
        "model": "m-1",
        "choices": [
            {"message": {"role": "assistant", "tool_calls": [CALL]}, "finish_reason": "tool_calls"}
        ],
    }
    call = read(
        "CHAT_MODEL",
        {"model": "m", "messages": [{"role": "user", "content": "Is room 4 free?"}]},
        response,
        chat__tools=[TOOL],
        chat__tokenUsage={"input_tokens": 9, "output_tokens": 2, "cache_read_input_tokens": 4},
        llm__model="m",
        llm__provider="openai",
        llm__cost={"total_cost": 0.5},
    )
    assert (call.role, call.dialect, call.provider, call.model) == (
        "llm",
        "mlflow",
        "openai",
        "m-1",
    )
    assert (call.input, call.output) == (
        (user("Is room 4 free?"),),
        (agent("", request("room", "c1", n=4)),),
    )
    assert call.usage == Usage(input=9, output=2, cache_read=4)
    assert (call.response_id, call.finish_reason, call.cost_usd) == ("chatcmpl-1", "tool_call", 0.5)
    assert [tool.name for tool in call.tools] == ["room"]


def test_a_dspy_call_returns_texts() -> None:
    """Messages stand beside an empty prompt, the reply is a list of text."""
    messages = [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "Is room 4 free?"},
    ]
    call = read("LLM", {"prompt": None, "messages": messages}, ["It is."], llm__model="m")
    assert (call.system_prompt, call.input) == ("Be brief.", (user("Is room 4 free?"),))
    assert (call.output, call.model) == ((agent("It is."),), "m")


def test_tools_and_retrievers() -> None:
    """A tool's inputs are its arguments, a retriever's outputs its documents."""
    tool = read("TOOL", {"n": 4}, "yes", name="room")
    assert tool.tool == ToolRequest(name="room", arguments={"n": 4})
    assert tool.tool_result == "yes"
    found = [{"page_content": "Free on Sundays.", "metadata": {}, "id": "d1"}]
    retrieved = read("RETRIEVER", "free rooms", found)
    assert retrieved.input == (user("free rooms"),)
    assert retrieved.documents == (Document(id="d1", text="Free on Sundays."),)


def test_other_types_are_steps() -> None:
    """An agent keeps what it was asked and said; what nobody knows is other."""
    run = read("AGENT", {"question": "Is room 4 free?"}, {"answer": "It is."})
    assert (run.role, run.input, run.output) == (
        "agent",
        (user("Is room 4 free?"),),
        (agent("It is."),),
    )
    assert [read(kind, None, None).role for kind in ("CHAIN", "PARSER", "UNKNOWN")] == [
        "chain",
        "other",
        "other",
    ]
    assert Normaliser().span(span(attributes={"mlflow.spanType": 7})).role == "other"
