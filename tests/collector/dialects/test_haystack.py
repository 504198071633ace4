"""Test Haystack's own tracing."""

from __future__ import annotations

import json
from typing import Any

import pytest

from collector.model import Document, Facts, Message, ToolRequest, Usage
from collector.normalise import Normaliser
from tests.build import agent, request, span, user


def read(name: str, **attributes: Any) -> Facts:
    """Normalise one span; ``__`` in a name stands for a dot, values become JSON text."""
    written = {
        f"haystack.{key.replace('__', '.')}": v if isinstance(v, str) else json.dumps(v)
        for key, v in attributes.items()
    }
    return Normaliser().span(span(f"haystack.{name}", attributes=written))


CALL: dict[str, Any] = {
    "tool_call": {"tool_name": "room", "arguments": {"n": 4}, "id": "c1", "extra": None}
}
MESSAGES: list[dict[str, Any]] = [
    {"role": "system", "content": [{"text": "Be brief."}], "name": None, "meta": {}},
    {"role": "user", "content": [{"text": "Is room 4 free?"}], "name": None, "meta": {}},
    {"role": "assistant", "content": [CALL], "name": None, "meta": {}},
    {
        "role": "tool",
        "content": [
            {"tool_call_result": {"result": "yes", "origin": CALL["tool_call"], "error": False}}
        ],
        "name": None,
        "meta": {},
    },
]
USAGE = {"prompt_tokens": 12, "completion_tokens": 3, "total_tokens": 15}
META = {"model": "m-1", "index": 0, "finish_reason": "stop", "usage": USAGE}
REPLY: dict[str, Any] = {
    "role": "assistant",
    "content": [{"text": "It is."}],
    "name": None,
    "meta": META,
}
TOOL = {
    "type": "haystack.tools.tool.Tool",
    "data": {"name": "room", "description": "Look.", "parameters": {"type": "object"}},
}


@pytest.mark.parametrize("prefix", ["", "_"])
@pytest.mark.parametrize("step", [True, False])
def test_a_generator_is_a_call(prefix: str, *, step: bool) -> None:
    """Messages, tools, tokens and reason are read, of components and of an agent's steps."""
    before, after = (
        [{prefix + key: value for key, value in message.items()} for message in messages]
        for messages in (MESSAGES, [REPLY])
    )
    given = {"messages": before, "tools": [TOOL]}
    if step:
        call = read(
            "agent.step.llm",
            agent__step__llm__input=given,
            agent__step__llm__output={"replies": after},
        )
    else:
        call = read(
            "component.run",
            component__type="OpenAIChatGenerator",
            component__input=given,
            component__output={"replies": after},
        )
    assert (call.role, call.dialect, call.model) == ("llm", "haystack", "m-1")
    assert call.system_prompt == "Be brief."
    assert call.input == (
        user("Is room 4 free?"),
        agent("", request("room", "c1", n=4)),
        Message(role="tool", text="yes", tool_call_id="c1", tool_name="room", is_error=False),
    )
    assert call.output == (agent("It is."),)
    assert (call.usage, call.finish_reason) == (Usage(input=12, output=3), "stop")
    assert [(tool.name, tool.description) for tool in call.tools] == [("room", "Look.")]


def test_a_generator_of_text_is_a_call() -> None:
    """A prompt and replies of plain text are a question and its answer."""
    call = read(
        "component.run",
        component__type="OpenAIGenerator",
        component__input={"prompt": "Is room 4 free?"},
        component__output={"replies": ["It is."], "meta": [META]},
    )
    assert (call.input, call.output) == ((user("Is room 4 free?"),), (agent("It is."),))
    assert (call.usage, call.model) == (Usage(input=12, output=3), "m-1")


def test_what_a_retriever_found() -> None:
    """Query and documents are read, with their scores."""
    found = [{"id": "d1", "content": "Rooms are free on Sundays.", "meta": {}, "score": 0.5}]
    read_back = read(
        "component.run",
        component__type="InMemoryBM25Retriever",
        component__input={"query": "free rooms", "top_k": 3},
        component__output={"documents": found},
    )
    assert (read_back.role, read_back.input) == ("retriever", (user("free rooms"),))
    assert read_back.documents == (Document(id="d1", text="Rooms are free on Sundays.", score=0.5),)


def test_a_tools_span() -> None:
    """Each call has a span with arguments and result; one over all calls of a step is none."""
    read_back = read(
        "agent.step.tool",
        tool__name="room",
        agent__step__tool__input={"n": 4},
        agent__step__tool__output={"free": True},
    )
    assert read_back.tool == ToolRequest(name="room", arguments={"n": 4})
    assert read_back.tool_result == '{"free": true}'
    assert read("agent.step.tool", agent__step__tool__input={"messages": []}).role == "chain"


def test_agents_and_steps() -> None:
    """An agent's run keeps what it was asked and said last; everything else is a step."""
    run = read(
        "agent.run",
        agent__input={"messages": MESSAGES[:2]},
        agent__output={"messages": [*MESSAGES, REPLY], "last_message": REPLY},
    )
    assert (run.role, run.input, run.output) == (
        "agent",
        (user("Is room 4 free?"),),
        (agent("It is."),),
    )
    roles = [
        read("pipeline.run").role,
        read("component.run", component__type="PromptBuilder").role,
        read("agent.step").role,
        read("component.run", component__type="SentenceTransformersTextEmbedder").role,
        read("elsewhere").role,
    ]
    assert roles == ["chain", "chain", "chain", "embedding", "other"]
