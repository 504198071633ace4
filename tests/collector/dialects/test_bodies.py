"""Test taking messages out of whole requests and responses."""

from __future__ import annotations

import json
from typing import Any

import pytest

from collector.dialects.bodies import offered, told, transcript
from collector.dialects.interning import Memory
from collector.dialects.messages import history, reply, split_system
from collector.dialects.whole import said_of
from collector.model import Message
from tests.build import agent, request, user

CALL = {"id": "c1", "type": "function", "function": {"name": "room", "arguments": '{"n": 1}'}}
ASKS = agent("", request("room", "c1", n=1))
FREE = agent("Room 1 is free.")


@pytest.mark.parametrize(
    "body",
    [
        {"system": "Be kind.", "messages": [{"role": "user", "content": "Free?"}]},
        {"instructions": "Be kind.", "input": "Free?"},
        {"instructions": "Be kind.", "input": [{"role": "user", "content": "Free?"}]},
        {
            "config": {"system_instruction": {"parts": [{"text": "Be kind."}]}},
            "contents": [{"role": "user", "parts": [{"text": "Free?"}]}],
        },
        {"system": [{"text": "Be kind."}], "messages": [{"role": "user", "content": "Free?"}]},
        {"system": "Be kind.", "prompt": "Free?"},
        {"messages": [[{"type": "system", "content": "Be kind."}, ["no message"]]]},
        {
            "messages": [
                "role='system' content='Be kind.' name=None",
                "role='user' content='Free?' ",
            ]
        },
    ],
)
def test_a_request_is_its_messages_and_its_instructions(body: dict[str, Any]) -> None:
    """Whichever provider's, the instructions are the system prompt."""
    system, given = split_system(history(json.dumps(body), Memory(10_000)))
    assert system == "Be kind."
    assert given in {(user("Free?"),), ()}


@pytest.mark.parametrize(
    "body",
    [
        {"choices": [{"message": {"role": "assistant", "content": None, "tool_calls": [CALL]}}]},
        {"output": [{"type": "reasoning"}, {"type": "function_call", "call_id": "c1", **CALL}]},
        {
            "output": {
                "message": {
                    "role": "assistant",
                    "content": [
                        {"toolUse": {"toolUseId": "c1", "name": "room", "input": {"n": 1}}}
                    ],
                }
            }
        },
        {
            "role": "assistant",
            "content": [{"type": "tool_use", "id": "c1", "name": "room", "input": {"n": 1}}],
        },
        {
            "generations": [
                [
                    {
                        "text": "",
                        "message": {
                            "lc": 1,
                            "id": ["langchain", "AIMessage"],
                            "kwargs": {"content": "", "additional_kwargs": {"tool_calls": [CALL]}},
                        },
                    }
                ]
            ]
        },
        [
            [
                {
                    "type": "AIMessageChunk",
                    "content": "",
                    "tool_calls": [{**CALL, "type": "tool_call"}],
                }
            ]
        ],
        {
            "content": "",
            "type": "ai",
            "tool_calls": [{"id": "c1", "name": "room", "args": {"n": 1}}],
        },
    ],
)
def test_a_response_is_its_messages(body: Any) -> None:
    """Whichever provider's or framework's, a tool call comes out the same."""
    assert reply(json.dumps(body)) == (ASKS,)


def test_google_and_text_responses_are_read() -> None:
    """Candidates, a bare text field and an answer under a plain name."""
    parts = {"role": "model", "parts": [{"text": "Room 1 is free."}]}
    assert reply(json.dumps({"candidates": [{"content": parts}], "x": 1})) == (FREE,)
    assert reply(json.dumps({"choices": [{"text": "Room 1 is free."}]})) == (FREE,)
    assert reply(json.dumps({"answer": "Room 1 is free."})) == (FREE,)


def test_calls_that_the_provider_serves_carry_their_result() -> None:
    """A search or a remote tool inside a response is a call with its answer."""
    items = [
        {"type": "web_search_call", "id": "w1", "action": {"query": "rooms"}},
        {"type": "mcp_call", "id": "m1", "name": "room", "arguments": '{"n": 1}', "output": "free"},
        {"type": "message", "role": "assistant", "content": [{"type": "text", "text": "Free."}]},
    ]
    said = reply(json.dumps({"output": items}))
    requests = [r for m in said for r in m.tool_requests]
    assert [(r.name, r.arguments) for r in requests] == [
        ("web_search", {"query": "rooms"}),
        ("room", {"n": 1}),
    ]
    assert Message(role="tool", text="free", tool_call_id="m1", tool_name="room") in said


def test_a_response_tells_its_tokens_and_reason() -> None:
    """Anthropic counts cached tokens beside the input, OpenAI inside it."""
    usage: Any = {"input_tokens": 3, "output_tokens": 5, "cache_read_input_tokens": 100}
    found = told({"id": "msg_1", "content": [], "stop_reason": "end_turn", "usage": usage})
    assert found["gen_ai.usage.input_tokens"] == 103
    assert found["gen_ai.response.id"] == "msg_1"
    assert found["gen_ai.response.finish_reasons"] == ["end_turn"]
    details = {"cached_tokens": 20}
    openai = {"prompt_tokens": 50, "completion_tokens": 7, "prompt_tokens_details": details}
    body: Any = {"id": "x", "choices": [{"finish_reason": "length"}], "usage": openai}
    found = told(body)
    assert found["gen_ai.usage.input_tokens"] == 50
    assert found["gen_ai.usage.cache_read.input_tokens"] == 20
    assert found["gen_ai.response.finish_reasons"] == ["length"]


def test_a_responses_status_is_its_reason() -> None:
    """OpenAI's responses end with a status where others have a reason."""
    found = told({"id": "resp_1", "output": [], "status": "incomplete"})
    assert found["gen_ai.response.finish_reasons"] == ["incomplete"]


def test_a_response_is_known_by_what_it_says_it_is() -> None:
    """Other providers of OpenAI's API begin their ids in other ways, and LangChain keeps them apart."""
    metadata: Any = {"id": "gen-1", "object": "response", "status": "incomplete"}
    found = told({"generations": [[{"message": {"kwargs": {"response_metadata": metadata}}}]]})
    assert found["gen_ai.response.id"] == "gen-1"
    assert found["gen_ai.response.finish_reasons"] == ["incomplete"]
    run = told({"generations": [[{"message": {"kwargs": {"id": "run-1", "status": "ok"}}}]]})
    assert run == {}


def test_what_one_count_leaves_out_another_may_say() -> None:
    """LangChain keeps its own counts and the provider's; of two calls only one is told."""
    own: Any = {"input_tokens": 8, "output_tokens": 82}
    given: Any = {"prompt_tokens": 8, "completion_tokens_details": {"reasoning_tokens": 64}}
    found = told({"usage_metadata": own, "response_metadata": {"token_usage": given}})
    assert found["gen_ai.usage.output_tokens"] == 82
    assert found["gen_ai.usage.reasoning.output_tokens"] == 64
    other: Any = given | {"prompt_tokens": 9}
    found = told({"usage_metadata": own, "response_metadata": {"token_usage": other}})
    assert "gen_ai.usage.reasoning.output_tokens" not in found


def test_tools_are_found_beside_and_among_messages() -> None:
    """LangChain's callback puts definitions where messages are; they are not said by anybody."""
    tool: Any = {"type": "function", "function": {"name": "room", "parameters": {}}}
    among: Any = [{"role": "user", "content": "Free?"}, {"role": "tool", "content": tool}]
    assert offered(among) == [tool]
    assert offered({"config": {"tools": [tool]}}) == [tool]
    said = said_of("llm", json.dumps(among), None, Memory(10_000))
    assert said.input == (user("Free?"),)
    assert [t.name for t in said.tools] == ["room"]


def test_a_chat_written_as_one_text_is_split() -> None:
    """Some instrumentations join a chat to lines that begin with the role."""
    assert transcript("system: Be kind.\nuser: Free?\nNow?\nassistant: Yes") == [
        {"role": "system", "content": "Be kind."},
        {"role": "user", "content": "Free?\nNow?"},
        {"role": "assistant", "content": "Yes"},
    ]
    assert transcript("Is user: a role?") == []


def test_an_agents_return_is_what_it_said_last() -> None:
    """State that repeats the whole history is not said twice."""
    state = {"messages": [{"type": "human", "content": "Free?"}]}
    after = {"messages": [*state["messages"], {"type": "ai", "content": "Room 1 is free."}]}
    said = said_of("agent", json.dumps(state), json.dumps(after), Memory(10_000))
    assert (said.input, said.output) == ((user("Free?"),), (FREE,))
    unread = said_of("agent", None, "<generator object run at 0x00000286DD>", Memory(10_000))
    assert unread.output == ()


def test_a_message_without_content_is_none() -> None:
    """Where only the role was recorded nothing was said; an empty answer is an answer."""
    assert reply(json.dumps([{"role": "assistant"}])) == ()
    assert reply(json.dumps([{"role": "assistant", "content": ""}])) == (agent(""),)
