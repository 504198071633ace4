"""Streams of servers that speak nearly as OpenAI does say the same."""

from __future__ import annotations

import json
from typing import Any

import pytest

from collector.proxy import openai_chat
from collector.proxy.exchange import Part, Reply
from collector.proxy.openai_chat_stream import reply
from collector.proxy.sse import events

Deltas = list[dict[str, Any]]


def streamed(deltas: Deltas, *, key: str = "delta") -> Reply:
    """Put a stream of one choice together."""
    chunks = [{"id": "c-1", "choices": [{"index": 0, key: delta}]} for delta in deltas]
    chunks.append({"id": "c-1", "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]})
    return reply(events(b"".join(b"data: %b\n\n" % json.dumps(c).encode() for c in chunks)))


def parts(answer: Reply) -> list[Part]:
    """Return what the model said."""
    (message,) = openai_chat.exchange({}, answer).output
    found: list[Part] = message["parts"]
    return found


def piece(index: int | None, id: str, name: str, arguments: Any) -> dict[str, Any]:
    """Write a delta with a piece of one tool call."""
    call: dict[str, Any] = {"function": {"arguments": arguments}}
    if index is not None:
        call["index"] = index
    if id:
        call["id"] = id
    if name:
        call["function"]["name"] = name
    return {"tool_calls": [call]}


@pytest.mark.parametrize(
    "deltas",
    [
        [
            piece(0, "a", "f", ""),
            piece(1, "b", "g", '{"y"'),
            piece(0, "", "", '{"x": 1}'),
            piece(1, "", "", ": 2}"),
        ],
        [piece(None, "a", "f", '{"x": 1}'), piece(None, "b", "g", '{"y": 2}')],
        [piece(0, "a", "f", '{"x": 1}'), piece(0, "b", "g", '{"y": 2}')],
        [
            piece(0, "a", "f", '{"x"'),
            piece(0, "a", "f", ": 1}"),
            piece(0, "b", "g", '{"y"'),
            piece(0, "b", "g", ": 2}"),
        ],
        [piece(0, "a", "f", {"x": 1}), piece(1, "b", "g", {"y": 2})],
    ],
)
def test_two_calls(deltas: Deltas) -> None:
    """Interleaved, without an index, all under 0, with the id each time, or with opened arguments."""
    calls = [(p["id"], p["name"], p["arguments"]) for p in parts(streamed(deltas))]
    assert calls == [("a", "f", {"x": 1}), ("b", "g", {"y": 2})]


@pytest.mark.parametrize("key", ["delta", "message"])
def test_a_chunk_that_is_the_whole_message(key: str) -> None:
    """It is read where the others have their deltas."""
    answer = streamed([{"role": "assistant", "content": "Hello."}], key=key)
    assert parts(answer) == [{"type": "text", "content": "Hello."}]


def test_content_in_parts() -> None:
    """What a model thinks and what it says come in one list, each piece with its kind."""
    thought = {"type": "thinking", "thinking": [{"type": "text", "text": "Two "}]}
    answer = streamed(
        [
            {"content": [thought]},
            {"content": [{"type": "thinking", "thinking": "towns."}]},
            {"content": [{"type": "text", "text": "Both."}]},
        ]
    )
    assert parts(answer) == [
        {"type": "reasoning", "content": "Two towns."},
        {"type": "text", "content": "Both."},
    ]


def test_what_is_spoken() -> None:
    """Of audio its transcript is kept, streamed or not."""
    deltas: Deltas = [{"audio": {"transcript": said, "data": "AAAA"}} for said in ("Hel", "lo.")]
    whole = {"choices": [{"message": {"content": None, "audio": {"transcript": "Hello."}}}]}
    for answer in (streamed(deltas), Reply(body=whole)):
        assert parts(answer) == [{"type": "text", "content": "Hello."}]
