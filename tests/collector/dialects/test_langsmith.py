"""Test LangSmith's OTel export."""

from __future__ import annotations

import json
from typing import Any

from collector.model import Document, Facts, ToolRequest, Usage
from collector.normalise import Normaliser
from tests.build import agent, request, span, user


def read(kind: str, operation: str, **attributes: Any) -> Facts:
    """Normalise one run; ``__`` in a name stands for a dot."""
    given = {key.replace("__", "."): value for key, value in attributes.items()}
    given |= {"langsmith.span.kind": kind, "gen_ai.operation.name": operation}
    # A Python repr, which is not JSON and must do no harm.
    given |= {"gen_ai.usage.input_token_details": "{'cache_read': 5}"}
    return Normaliser().span(span("room", attributes=given))


def test_a_model_run_is_a_call() -> None:
    """Inputs and outputs are whole JSON objects, cache details stand in the metadata."""
    call = {"id": "c1", "type": "function", "function": {"name": "room", "arguments": '{"n": 1}'}}
    facts = read(
        "llm",
        "chat",
        gen_ai__system="anthropic",
        gen_ai__prompt=json.dumps({"messages": [{"role": "user", "content": "Is room 1 free?"}]}),
        gen_ai__completion=json.dumps({"role": "assistant", "content": "", "tool_calls": [call]}),
        gen_ai__usage__input_tokens=12,
        gen_ai__usage__output_tokens=31,
        langsmith__metadata__usage_metadata=json.dumps({"input_token_details": {"cache_read": 5}}),
        langsmith__metadata__session_id="s1",
    )
    assert (facts.role, facts.dialect, facts.conversation_id) == ("llm", "langsmith", "s1")
    assert facts.input == (user("Is room 1 free?"),)
    assert facts.output == (agent("", request("room", "c1", n=1)),)
    assert facts.usage == Usage(input=12, output=31, cache_read=5)


def test_its_own_kind_beats_the_operation_name() -> None:
    """Retrievers claim to be embeddings."""
    facts = read(
        "retriever",
        "embeddings",
        gen_ai__completion=json.dumps({"output": [{"page_content": "Rooms have baths."}]}),
    )
    assert (facts.role, facts.usage) == ("retriever", None)
    assert facts.documents == (Document(text="Rooms have baths."),)


def test_a_tool_run_gives_call_and_result() -> None:
    """A tool's inputs are its arguments."""
    facts = read("tool", "execute_tool", gen_ai__prompt='{"n": 1}', gen_ai__completion="free")
    assert facts.tool == ToolRequest(name="room", arguments={"n": 1})
    assert facts.tool_result == "free"


def test_the_root_says_what_was_asked_and_answered() -> None:
    """A chain without a parent is the run; its inner steps say nothing of their own."""
    facts = read(
        "chain",
        "chain",
        gen_ai__prompt='{"question": "Is room 1 free?"}',
        gen_ai__completion='{"output": "Yes."}',
    )
    assert (facts.role, facts.input, facts.output) == (
        "chain",
        (user("Is room 1 free?"),),
        (agent("Yes."),),
    )
