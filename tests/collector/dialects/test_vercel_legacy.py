"""Test the Vercel AI SDK's legacy integration."""

from __future__ import annotations

import json
from typing import Any

import pytest

from collector.model import Facts, Message, ToolDefinition, ToolRequest, Usage
from collector.normalise import Normaliser
from tests.build import agent, request, span, user

PROMPT = [
    {"role": "system", "content": "Be kind."},
    {"role": "user", "content": [{"type": "text", "text": "Is room 1 free?"}]},
    {
        "role": "assistant",
        "content": [
            {"type": "tool-call", "toolCallId": "c1", "toolName": "room", "input": {"n": 1}}
        ],
    },
    {
        "role": "tool",
        "content": [
            {
                "type": "tool-result",
                "toolCallId": "c1",
                "toolName": "room",
                "output": {"type": "error-text", "value": "no such room"},
            }
        ],
    },
]
CALLS = [{"toolCallId": "c2", "toolName": "room", "input": {"n": 2}}]


def read(operation: str, **attributes: Any) -> Facts:
    """Normalise one span; ``__`` in a name stands for a dot."""
    given = {f"ai.{key.replace('__', '.')}": value for key, value in attributes.items()}
    return Normaliser().span(span(attributes={"ai.operationId": operation} | given))


def call(operation: str) -> Facts:
    """Normalise a span with everything a call has."""
    return read(
        operation,
        model__provider="anthropic.messages",
        prompt__messages=json.dumps(PROMPT),
        prompt__tools=[json.dumps({"type": "function", "name": "room", "inputSchema": {}})],
        response__text="Let me see.",
        response__toolCalls=json.dumps(CALLS),
        response__finishReason="tool-calls",
        response__msToFirstChunk=500,
        usage__inputTokens=50,
        usage__outputTokens=7,
        usage__cachedInputTokens=20,
    )


def test_the_inner_span_is_the_call() -> None:
    """Messages, tools and usage of the ``do`` span are read."""
    facts = call("ai.generateText.doGenerate")
    assert (facts.role, facts.dialect, facts.provider) == ("llm", "vercel_legacy", "anthropic")
    assert facts.system_prompt == "Be kind."
    assert facts.input == (
        user("Is room 1 free?"),
        agent("", request("room", "c1", n=1)),
        Message(
            role="tool", text="no such room", tool_call_id="c1", tool_name="room", is_error=True
        ),
    )
    assert facts.output == (agent("Let me see.", request("room", "c2", n=2)),)
    assert facts.tools == (ToolDefinition(name="room", parameters={}),)
    assert facts.usage == Usage(input=50, output=7, cache_read=20)
    assert facts.finish_reason == "tool_call"
    assert facts.first_token_s == pytest.approx(0.5)


def test_the_outer_span_sums_up_and_is_no_call() -> None:
    """The outer span's usage and calls are those of its steps."""
    facts = call("ai.generateText")
    assert (facts.role, facts.usage) == ("agent", None)
    assert facts.output == (agent("Let me see."),)


def test_a_tool_span_gives_call_and_result() -> None:
    """The tool span has id, name, arguments and result."""
    facts = read(
        "ai.toolCall",
        toolCall__name="room",
        toolCall__id="c1",
        toolCall__args='{"n": 1}',
        toolCall__result='{"free": true}',
    )
    assert facts.tool == ToolRequest(id="c1", name="room", arguments={"n": 1})
    assert facts.tool_result == '{"free": true}'
