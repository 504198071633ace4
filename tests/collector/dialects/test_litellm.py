"""Test LiteLLM's own spans, which follow OTel's names with operations of its own."""

from __future__ import annotations

import json

import pytest

from collector.model import FactRole, ToolRequest, Usage
from collector.normalise import Normaliser
from tests.build import agent, span, user


@pytest.mark.parametrize(
    ("operation", "role"),
    [
        ("completion", "llm"),
        ("acompletion", "llm"),
        ("aresponses", "llm"),
        ("response", "llm"),
        ("anthropic_messages", "llm"),
        ("aembedding", "embedding"),
        ("embedding", "embedding"),
        ("arerank", "retriever"),
        ("await_something", "other"),
    ],
)
def test_an_awaited_call_is_a_call(operation: str, role: FactRole) -> None:
    """The name of an operation may begin with an ``a``."""
    assert Normaliser().span(span(attributes={"gen_ai.operation.name": operation})).role == role


@pytest.mark.parametrize(
    ("kind", "role"), [("completion", "llm"), ("acompletion", "llm"), ("aembedding", "embedding")]
)
def test_an_awaited_call_under_the_old_key(kind: str, role: FactRole) -> None:
    """So may the type that older versions write."""
    assert Normaliser().span(span(attributes={"llm.request.type": kind})).role == role


def test_words_tokens_and_cost_are_read() -> None:
    """A call holds messages in OTel's form, and what it cost in all."""
    call = Normaliser().span(
        span(
            attributes={
                "gen_ai.operation.name": "acompletion",
                "gen_ai.request.model": "m",
                "gen_ai.input.messages": json.dumps(
                    [{"role": "user", "parts": [{"type": "text", "content": "Is room 4 free?"}]}]
                ),
                "gen_ai.output.messages": json.dumps(
                    [{"role": "assistant", "parts": [{"type": "text", "content": "It is."}]}]
                ),
                "gen_ai.usage.input_tokens": 9,
                "gen_ai.usage.output_tokens": 2,
                "gen_ai.cost.total_cost": 0.25,
            }
        )
    )
    assert (call.input, call.output) == ((user("Is room 4 free?"),), (agent("It is."),))
    assert (call.usage, call.cost_usd) == (Usage(input=9, output=2), 0.25)


def test_a_tools_span() -> None:
    """Arguments and result stand under names of their own."""
    facts = Normaliser().span(
        span(
            attributes={
                "gen_ai.operation.name": "execute_tool",
                "gen_ai.tool.name": "room",
                "gen_ai.tool.input": '{"n": 4}',
                "gen_ai.tool.output": "yes",
            }
        )
    )
    assert facts.tool == ToolRequest(name="room", arguments={"n": 4})
    assert facts.tool_result == "yes"
