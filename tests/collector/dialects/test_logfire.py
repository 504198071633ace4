"""Test pydantic-ai and Logfire."""

from __future__ import annotations

import json
from typing import Any

from collector.model import Facts, Message, Usage
from collector.normalise import Normaliser
from collector.telemetry import SpanEvent
from tests.build import agent, request, result, span, user

ASK, TELL = user("Is room 1 free?"), agent("Yes, it is.")
CALL = {"id": "c1", "function": {"name": "room", "arguments": '{"n": 1}'}}


def read(span_name: str = "chat m", scope: str = "pydantic-ai", **attributes: Any) -> Facts:
    """Normalise one span; ``__`` in a name stands for a dot, structures become JSON."""
    found = {
        key.replace("__", "."): json.dumps(value) if isinstance(value, (list, dict)) else value
        for key, value in attributes.items()
    }
    return Normaliser().span(span(span_name, attributes=found, scope_name=scope))


def event(kind: str, **more: Any) -> dict[str, Any]:
    """Build one event as the oldest versions list them."""
    return {"event.name": f"gen_ai.{kind}", **more}


def test_the_oldest_form_lists_events() -> None:
    """The last choice is the reply, everything before it the history."""
    facts = read(
        gen_ai__operation__name="chat",
        gen_ai__request__model="m",
        events=[
            event("system.message", content="Be kind.", role="system"),
            event("user.message", content="Is room 1 free?", role="user"),
            event("assistant.message", role="assistant", tool_calls=[CALL]),
            event("tool.message", role="tool", id="c1", name="room", content="free"),
            event("choice", index=0, message={"role": "assistant", "content": "Yes, it is."}),
        ],
    )
    assert (facts.role, facts.dialect, facts.system_prompt) == ("llm", "logfire", "Be kind.")
    assert facts.input == (ASK, agent("", request("room", "c1", n=1)), result("room", "free", "c1"))
    assert facts.output == (TELL,)


def test_events_without_a_choice_end_with_the_reply() -> None:
    """Logfire's events of the Responses API are all of one kind."""
    facts = read(
        scope="logfire.openai",
        gen_ai__request__model="m",
        request_data={"model": "m", "stream": False},
        gen_ai__usage__output_tokens=4,
        events=[
            event("user.message", content="Is room 1 free?", role="user"),
            event("assistant.message", content="Yes, it is.", role="assistant"),
        ],
    )
    assert (facts.input, facts.output) == ((ASK,), (TELL,))


def test_a_whole_request_and_response_are_read() -> None:
    """Logfire's first form keeps both as JSON, Anthropic's arguments in one object more."""
    tool = {"name": "room", "input_schema": {"type": "object"}}
    inside = {"id": "c1", "function": {"name": "room", "arguments": '{"input": {"n": 1}}'}}
    facts = read(
        scope="logfire.anthropic",
        gen_ai__provider__name="anthropic",
        gen_ai__request__model="m",
        request_data={
            "system": "Be kind.",
            "messages": [{"role": "user", "content": "Is room 1 free?"}],
            "tools": [tool],
        },
        response_data={
            "message": {"role": "assistant", "tool_calls": [inside]},
            "usage": {"input_tokens": 3, "output_tokens": 4, "cache_read_input_tokens": 9},
        },
    )
    assert (facts.role, facts.system_prompt) == ("llm", "Be kind.")
    assert [t.name for t in facts.tools] == ["room"]
    assert facts.output == (agent("", request("room", "c1", n=1)),)
    assert facts.usage == Usage(input=12, output=4, cache_read=9)
    assert facts.finish_reason == "tool_call"


def test_what_only_the_providers_own_counts_say_is_read() -> None:
    """Reasoning tokens stand in the raw usage alone."""
    facts = read(
        scope="logfire.openai",
        gen_ai__operation__name="chat",
        gen_ai__usage__input_tokens=3,
        gen_ai__usage__output_tokens=9,
        gen_ai__usage__raw=json.dumps(
            {
                "prompt_tokens": 3,
                "completion_tokens": 9,
                "completion_tokens_details": {"reasoning_tokens": 5},
            }
        ),
    )
    assert facts.usage == Usage(input=3, output=9, reasoning=5)


def test_the_details_of_older_counts_are_read() -> None:
    """They keep the provider's own names, below a key for all of them."""
    details: dict[str, Any] = {
        "gen_ai.usage.details.cache_read_input_tokens": 2,
        "gen_ai.usage.details.cache_creation_input_tokens": 5,
    }
    counted = {"gen_ai.usage.input_tokens": 107, "gen_ai.usage.output_tokens": 21}
    facts = read(gen_ai__operation__name="chat", **(details | counted))
    assert facts.usage == Usage(input=107, output=21, cache_read=2, cache_write=5)


def test_a_streamed_call_is_the_span_that_ended_it() -> None:
    """The span of the request has no reply; only the later one counts as a call."""
    data = {"model": "m", "messages": [{"role": "user", "content": ASK.text}]}
    common: dict[str, Any] = {
        "scope": "logfire.openai",
        "gen_ai__operation__name": "chat",
        "gen_ai__request__model": "m",
    }
    opened = read("Chat Completion with 'm'", request_data=data, **common)
    ended = read(
        "streaming response",
        request_data=data,
        duration=1.5,
        response_data={"combined_chunk_content": "Yes, it is.", "chunk_count": 3},
        **common,
    )
    assert (opened.role, opened.input) == ("other", ())
    assert (ended.role, ended.input, ended.output) == ("llm", (ASK,), (TELL,))


def test_a_generation_of_the_agents_sdk_has_its_reply_apart() -> None:
    """Its request holds the reply as well, of a stream as a whole response."""
    asked = [{"role": "user", "content": ASK.text}]
    block = {"type": "output_text", "text": TELL.text}
    message = {"type": "message", "role": "assistant", "content": [block]}
    streamed = {"object": "response", "id": "__fake_id__", "output": [message], "usage": None}
    details = {"cached_tokens": 1}
    usage = {"input_tokens": 3, "output_tokens": 2, "input_tokens_details": details}
    for returned in (streamed, {"role": "assistant", "content": TELL.text}):
        facts = read(
            "Chat completion with {gen_ai.request.model!r}",
            scope="logfire.openai_agents",
            gen_ai__request__model="m",
            gen_ai__usage__input_tokens=3,
            request_data={"messages": [*asked, returned]},
            input=asked,
            output=[returned],
            usage=usage,
        )
        assert (facts.input, facts.output) == ((ASK,), (TELL,))
        assert facts.usage == Usage(input=3, output=2, cache_read=1)


def test_runs_and_turns_of_the_agents_sdk_are_told_apart() -> None:
    """A run is an agent of its own name, a turn a step of it."""
    run = read("Agent run: {name!r}", scope="logfire.openai_agents", name="desk", tools=["room"])
    assert (run.role, run.name) == ("agent", "desk")
    turn = read("Turn {turn}", scope="logfire.openai_agents", sdk_span_type="turn", agent_name="d")
    assert turn.role == "chain"


def test_an_agents_run_is_an_agent() -> None:
    """Versions before the operation's name are known by what they keep of the run."""
    messages = [
        {"role": "user", "parts": [{"type": "text", "content": ASK.text}]},
        {"role": "assistant", "parts": [{"type": "text", "content": TELL.text}]},
    ]
    facts = read("desk run", agent_name="desk", pydantic_ai__all_messages=messages)
    assert (facts.role, facts.identity.agent) == ("agent", "desk")
    assert (facts.input, facts.output) == ((ASK,), (TELL,))
    oldest = read(
        "agent run",
        agent_name="desk",
        final_result="Yes, it is.",
        all_messages_events=[event("user.message", content=ASK.text, role="user")],
    )
    assert (oldest.input, oldest.output) == ((ASK,), (TELL,))


def test_a_refusal_is_read_from_the_error_that_ended_the_run() -> None:
    """Where OpenAI says it in place of content, pydantic-ai's messages have nothing of it."""
    message = 'Content filter triggered. Refusal: "I say "no".", body:\n[{"parts": []}]'
    asked = [{"role": "user", "parts": [{"type": "text", "content": ASK.text}]}]
    for said, expected in ((message, (agent('I say "no".'),)), ("It broke.", ())):
        error = SpanEvent(name="exception", time_ns=1, attributes={"exception.message": said})
        facts = Normaliser().span(
            span(
                "invoke_agent desk",
                attributes={
                    "gen_ai.operation.name": "invoke_agent",
                    "pydantic_ai.all_messages": json.dumps(asked),
                },
                scope_name="pydantic-ai",
                events=(error,),
            )
        )
        assert (facts.input, facts.output) == ((ASK,), expected)


def test_tools_of_every_version_are_read() -> None:
    """Pydantic-ai's older keys, and the functions of the OpenAI Agents integration."""
    old = read(
        "running tool", gen_ai__tool__name="room", tool_arguments='{"n": 1}', tool_response="free"
    )
    function = read(
        "Function: {name}",
        name="room",
        scope="logfire.openai_agents",
        gen_ai__system="openai",
        input={"n": 1},
        output="free",
    )
    for facts in (old, function):
        assert facts.tool is not None
        assert (facts.tool.name, facts.tool.arguments) == ("room", {"n": 1})
        assert facts.tool_result == "free"


def test_ordinary_spans_are_left_alone() -> None:
    """A log line of Logfire says nothing about a model."""
    facts = read("GET /rooms", scope="logfire", http__route="/rooms")
    assert (facts.role, facts.dialect) == ("other", "")
    assert read("MCP request: tools/list", scope="logfire.mcp", rpc__method="tools/list").role == (
        "other"
    )


def test_a_message_may_be_broken() -> None:
    """Attributes that are not what they should be are no reason to lose the span."""
    facts = read(
        gen_ai__operation__name="chat", events="[5, {}]", request_data="no JSON", response_data="["
    )
    assert facts.role == "llm"
    assert facts.input in {(), (Message(role="user", text="no JSON"),)}
