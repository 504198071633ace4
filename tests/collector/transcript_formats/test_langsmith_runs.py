"""LangSmith's runs become conversations."""

from __future__ import annotations

from typing import Any

import pytest

from collector.model import Conversation, Usage
from collector.transcript_formats.content import FormatError
from collector.transcript_formats.detection import rows_in
from collector.transcript_formats.langsmith_runs import read_row
from collector.transcript_gathering import Gathering
from tests.build import agent, request, result, tool, user

ROOT, CALL, TOOL = (f"5d2c7c1e-0a52-4f5e-9a3e-1f0b7a6c9d1{n}" for n in range(3))
ASKED = {"type": "human", "data": {"content": "Where is A-17?"}}


def run(id: str, kind: str, second: int, **more: Any) -> Any:
    """Build a run of the trace."""
    return {
        "id": id,
        "trace_id": ROOT,
        "parent_run_id": ROOT if id != ROOT else None,
        "run_type": kind,
        "name": kind,
        "start_time": f"2026-03-01T10:00:0{second}.000000",
        "end_time": f"2026-03-01T10:00:0{second}.900000",
        "extra": {"metadata": {"thread_id": "k-1", "ls_model_name": "m-1"}},
    } | more


RUNS = (
    run(ROOT, "chain", 0),
    run(
        CALL,
        "llm",
        1,
        inputs={"messages": [[{"role": "user", "content": "Where is A-17?"}]]},
        outputs={
            "generations": [
                [
                    {
                        "text": "",
                        "message": {
                            "kwargs": {
                                "type": "ai",
                                "content": "",
                                "tool_calls": [
                                    {"id": "c1", "name": "get_order", "args": {"order": "A-17"}}
                                ],
                            }
                        },
                    }
                ]
            ]
        },
        prompt_tokens=12,
        completion_tokens=3,
        extra={
            "metadata": {"thread_id": "k-1", "ls_model_name": "m-1"},
            "invocation_params": {
                "tools": [
                    {
                        "type": "function",
                        "function": {
                            "name": "get_order",
                            "parameters": {"type": "object", "properties": {}, "required": []},
                        },
                    }
                ]
            },
        },
    ),
    run(
        TOOL,
        "tool",
        2,
        name="get_order",
        inputs={"input": "{'order': 'A-17'}"},
        outputs={"output": {"type": "tool", "content": "shipped", "tool_call_id": "c1"}},
    ),
)


def read(*rows: Any) -> Conversation:
    """Put one conversation together."""
    gathering = Gathering()
    for row in rows:
        for kind, inner in rows_in(row):
            gathering.add(kind, inner, b"")
    (found,) = gathering.conversations()
    return found


@pytest.mark.parametrize(
    "rows", [RUNS, [{"runs": list(RUNS)}], [RUNS[0] | {"child_runs": list(RUNS[1:])}]]
)
def test_runs(rows: Any) -> None:
    """Messages, calls, results, tools and tokens are read, children inside or beside."""
    found = read(*rows)
    assert found.id == "k-1"
    assert found.messages == (
        user("Where is A-17?"),
        agent("", request("get_order", "c1", order="A-17")),
        result("get_order", "shipped", "c1"),
    )
    assert found.tools == (tool("get_order"),)
    (call,) = found.llm_calls
    assert (call.model, call.usage) == ("m-1", Usage(input=12, output=3))


def test_errors() -> None:
    """A run that failed says why; one without an id is refused."""
    assert read(RUNS[0], RUNS[1] | {"error": "overloaded"}).llm_calls[0].error == "overloaded"
    with pytest.raises(FormatError, match="without an id"):
        list(read_row({"run_type": "llm"}))
