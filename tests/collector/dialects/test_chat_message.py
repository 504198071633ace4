"""Test messages that were written with Python's ``repr``."""

from __future__ import annotations

import json
from typing import Any

import pytest

from collector.dialects.interning import Memory
from collector.dialects.literals import constructed
from collector.dialects.messages import history
from collector.model import Facts
from collector.normalise import Normaliser
from tests.build import agent, request, result, span, user

SCOPE = "openinference.instrumentation.llama_index"
ASK = (
    "ChatMessage(role=<MessageRole.USER: 'user'>, additional_kwargs={}, "
    "blocks=[TextBlock(block_type='text', text=\"Is it Ann's room?\")])"
)
LOOK = (
    "ChatMessage(role=<MessageRole.ASSISTANT: 'assistant'>, additional_kwargs={'tool_calls': "
    "[ChatCompletionMessageFunctionToolCall(id='call_room', function=Function(arguments="
    "'{\"number\":12}', name='room'), type='function')]}, blocks=[ToolCallBlock(block_type="
    "'tool_call', tool_call_id='call_room', tool_name='room', tool_kwargs='{\"number\":12}')])"
)
FOUND = (
    "ChatMessage(role=<MessageRole.TOOL: 'tool'>, additional_kwargs={'tool_call_id': 'call_room'}, "
    "blocks=[TextBlock(block_type='text', text='free')])"
)
SMOL = (
    "ChatMessage(role=<MessageRole.USER: 'user'>, content=[{'type': 'text', 'text': 'Hi'}], "
    "tool_calls=None, raw=None, token_usage=None)"
)


def read(name: str, kind: str, **attributes: Any) -> Facts:
    """Normalise one span of LlamaIndex."""
    found = {key.replace("__", "."): value for key, value in attributes.items()}
    found["openinference.span.kind"] = kind
    return Normaliser().span(span(name, attributes=found, scope_name=SCOPE))


def test_messages_are_read_from_their_constructors() -> None:
    """A call that stands there twice is one."""
    said = history(json.dumps({"messages": [ASK, LOOK, FOUND, SMOL]}), Memory(10_000))
    assert said[0] == user("Is it Ann's room?")
    assert said[1] == agent("", request("room", number=12))
    assert (said[2].role, said[2].text, said[2].tool_call_id) == ("tool", "free", "call_room")
    assert said[3] == user("Hi")


def test_a_call_in_a_block_alone_is_a_call() -> None:
    """Models of other providers leave nothing in the provider's form."""
    alone = (
        "ChatMessage(role=<MessageRole.ASSISTANT: 'assistant'>, additional_kwargs={}, "
        "blocks=[ToolCallBlock(block_type='tool_call', tool_call_id='call_room', "
        "tool_name='room', tool_kwargs={'number': 12})])"
    )
    assert history(json.dumps([alone]), Memory(10_000)) == (agent("", request("room", number=12)),)


@pytest.mark.parametrize(
    "text",
    [
        "ChatMessage(role=",
        "ChatMessage(role=open('x'), blocks=[f()])",
        "ChatMessage(role=1+1)",
        "Hi",
    ],
)
def test_what_is_no_message_is_survived(text: str) -> None:
    """Nothing is run, and text that says something else stays text."""
    assert isinstance(history(json.dumps([text]), Memory(10_000)), tuple)


def test_only_fields_with_names_are_read() -> None:
    """Others cannot be told apart; what has no form in JSON is nothing."""
    assert constructed("A(1, b=[None, 2.5, {'c': b'x'}], d=<E.F: 'f'>)") == {
        "b": [None, 2.5, {"c": None}],
        "d": "f",
    }
    assert constructed("A(b=c)") == "A(b=c)"


def test_preparing_a_call_is_none() -> None:
    """LlamaIndex says of a model's own methods that each is a call."""
    given = json.dumps({"chat_history": [ASK]})
    assert read("OpenAI._prepare_chat_with_tools", "LLM", input__value=given).role == "chain"
    assert read("OpenAI.achat", "LLM", input__value=given).role == "llm"


def test_a_tool_says_what_it_was_given_and_gave() -> None:
    """Its arguments are the function's, its result has blocks and the raw value."""
    output = {"blocks": [{"text": "free"}], "tool_name": "room", "raw_output": 1, "is_error": True}
    for returned in (output, {**output, "blocks": None} | {"content": "free"}):
        told = {key: value for key, value in returned.items() if value is not None}
        facts = read(
            "FunctionTool.acall",
            "TOOL",
            tool__name="room",
            input__value='{"kwargs": {"number": 12}}',
            output__value=json.dumps(told),
        )
        assert facts.tool is not None
        assert facts.tool.arguments == {"number": 12}
        assert (facts.tool_result, facts.tool_is_error) == (result("room", "free").text, True)
