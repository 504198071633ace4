"""Write what providers answer: each answer as one body and as the stream that says the same."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from tests.collector.proxy.provider import LAST, STREAM, chunk, event

MESSAGE: dict[str, Any] = {
    "id": "msg_7",
    "type": "message",
    "role": "assistant",
    "model": "claude-large-9",
    "content": [
        {"type": "thinking", "thinking": "Two towns, so two calls.", "signature": "c2ln"},
        {"type": "text", "text": "I look up both."},
        {"type": "tool_use", "id": "tu_1", "name": "weather", "input": {"town": "Ulm", "days": 2}},
        {"type": "tool_use", "id": "tu_2", "name": "weather", "input": {"town": "Köln"}},
        {"type": "tool_use", "id": "tu_3", "name": "now", "input": {}},
    ],
    "stop_reason": "tool_use",
    "stop_sequence": None,
    "usage": {
        "input_tokens": 40,
        "cache_read_input_tokens": 100,
        "cache_creation_input_tokens": 7,
        "output_tokens": 55,
    },
}
CITED: dict[str, Any] = {
    **MESSAGE,
    "id": "msg_8",
    "content": [
        {
            "type": "server_tool_use",
            "id": "srv_1",
            "name": "web_search",
            "input": {"query": "Ulm minster height"},
        },
        {
            "type": "web_search_tool_result",
            "tool_use_id": "srv_1",
            "content": [
                {"type": "web_search_result", "title": "Minster", "url": "https://ulm.example/"}
            ],
        },
        {
            "type": "text",
            "text": "It is 161.5 m high.",
            "citations": [
                {
                    "type": "web_search_result_location",
                    "url": "https://ulm.example/",
                    "title": "Minster",
                    "cited_text": "161.5 m",
                    "encrypted_index": "x",
                }
            ],
        },
    ],
    "stop_reason": "end_turn",
}
REFUSED: dict[str, Any] = {
    **MESSAGE,
    "id": "msg_9",
    "content": [{"type": "text", "text": "I cannot help with"}],
    "stop_reason": "refusal",
}
COMPLETION: dict[str, Any] = {
    "id": "chatcmpl-7",
    "object": "chat.completion",
    "created": 1_800_000_000,
    "model": "gpt-9-mini",
    "choices": [
        {
            "index": 0,
            "message": {
                "role": "assistant",
                "content": "I look up both.",
                "refusal": None,
                "tool_calls": [
                    {
                        "id": "call_1",
                        "type": "function",
                        "function": {"name": "weather", "arguments": '{"town": "Ulm"}'},
                    },
                    {
                        "id": "call_2",
                        "type": "function",
                        "function": {"name": "weather", "arguments": '{"town": "Köln"}'},
                    },
                ],
            },
            "finish_reason": "tool_calls",
        }
    ],
    "usage": {
        "prompt_tokens": 140,
        "completion_tokens": 30,
        "total_tokens": 170,
        "prompt_tokens_details": {"cached_tokens": 100},
        "completion_tokens_details": {"reasoning_tokens": 9},
    },
}
DECLINED: dict[str, Any] = {
    **COMPLETION,
    "id": "chatcmpl-8",
    "choices": [
        {
            "index": 0,
            "message": {"role": "assistant", "content": None, "refusal": "I will not do that."},
            "finish_reason": "stop",
        }
    ],
}
RESPONSE: dict[str, Any] = {
    "id": "resp_7",
    "object": "response",
    "created_at": 1_800_000_000,
    "status": "completed",
    "model": "gpt-9",
    "output": [
        {"type": "reasoning", "id": "rs_1", "summary": [{"type": "summary_text", "text": "Two."}]},
        {
            "type": "message",
            "id": "msg_1",
            "role": "assistant",
            "status": "completed",
            "content": [{"type": "output_text", "text": "I look it up.", "annotations": []}],
        },
        {
            "type": "function_call",
            "id": "fc_1",
            "call_id": "call_1",
            "name": "weather",
            "arguments": '{"town": "Ulm"}',
            "status": "completed",
        },
    ],
    "parallel_tool_calls": True,
    "tool_choice": "auto",
    "tools": [],
    "usage": {
        "input_tokens": 20,
        "input_tokens_details": {"cached_tokens": 4},
        "output_tokens": 12,
        "output_tokens_details": {"reasoning_tokens": 5},
        "total_tokens": 32,
    },
}


def message_events(message: dict[str, Any]) -> Iterator[bytes]:
    """Stream a message of the Messages API, text in pieces of a few characters."""
    started = {**message, "content": [], "stop_reason": None}
    started["usage"] = {**message["usage"], "output_tokens": 1}
    yield event({"type": "message_start", "message": started}, "message_start")
    yield event({"type": "ping"}, "ping")
    for index, block in enumerate(message["content"]):
        start, deltas = _block(block)
        about = {"type": "content_block_start", "index": index, "content_block": start}
        yield event(about, "content_block_start")
        for delta in deltas:
            about = {"type": "content_block_delta", "index": index, "delta": delta}
            yield event(about, "content_block_delta")
        yield event({"type": "content_block_stop", "index": index}, "content_block_stop")
    delta = {"stop_reason": message["stop_reason"], "stop_sequence": None}
    usage = {"output_tokens": message["usage"]["output_tokens"]}
    yield event({"type": "message_delta", "delta": delta, "usage": usage}, "message_delta")
    yield event({"type": "message_stop"}, "message_stop")


def _block(block: dict[str, Any]) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    kind = block["type"]
    if kind == "text":
        deltas = [{"type": "text_delta", "text": piece} for piece in pieces(block["text"])]
        deltas += [
            {"type": "citations_delta", "citation": cited} for cited in block.get("citations", ())
        ]
        return {"type": "text", "text": ""}, deltas
    if kind == "thinking":
        deltas = [{"type": "thinking_delta", "thinking": p} for p in pieces(block["thinking"])]
        deltas.append({"type": "signature_delta", "signature": block["signature"]})
        return {"type": "thinking", "thinking": "", "signature": ""}, deltas
    if kind in ("tool_use", "server_tool_use"):
        said = msgspec.json.encode(block["input"]).decode() if block["input"] else ""
        deltas = [{"type": "input_json_delta", "partial_json": p} for p in ["", *pieces(said)]]
        return {**block, "input": {}}, deltas
    return block, []


def completion_events(completion: dict[str, Any]) -> Iterator[bytes]:
    """Stream a chat completion, its tool calls in turns, its usage last."""
    about = {key: completion[key] for key in ("id", "created", "model")}
    about["object"] = "chat.completion.chunk"

    def say(delta: dict[str, Any], reason: str | None = None) -> bytes:
        choice = {"index": 0, "delta": delta, "finish_reason": reason}
        return event({**about, "choices": [choice]})

    (choice,) = completion["choices"]
    message = choice["message"]
    yield say({"role": "assistant", "content": "" if message["content"] else None})
    for key in ("content", "refusal"):
        for piece in pieces(message.get(key) or ""):
            yield say({key: piece})
    calls = message.get("tool_calls", [])
    for index, call in enumerate(calls):
        asked = {"name": call["function"]["name"], "arguments": ""}
        yield say({"tool_calls": [{**call, "index": index, "function": asked}]})
    waiting = [list(pieces(call["function"]["arguments"])) for call in calls]
    while any(waiting):
        for index, left in enumerate(waiting):
            if left:
                share = {"index": index, "function": {"arguments": left.pop(0)}}
                yield say({"tool_calls": [share]})
    yield say({}, choice["finish_reason"])
    yield event({**about, "choices": [], "usage": completion["usage"]})
    yield event(b"[DONE]")


def response_events(response: dict[str, Any]) -> Iterator[bytes]:
    """Stream a response of the responses API."""
    number = 0

    def say(kind: str, **fields: Any) -> bytes:
        nonlocal number
        number += 1
        return event({"type": kind, "sequence_number": number, **fields}, kind)

    started = {**response, "status": "in_progress", "output": [], "usage": None}
    yield say("response.created", response=started)
    for index, item in enumerate(response["output"]):
        place: dict[str, Any] = {"output_index": index, "item_id": item["id"]}
        bare: dict[str, Any] = dict(item)
        if item["type"] == "message":
            bare["content"] = []
        if item["type"] == "function_call":
            bare["arguments"] = ""
        yield say("response.output_item.added", output_index=index, item=bare)
        for place_in, part in enumerate(item.get("content", ())):
            at = {**place, "content_index": place_in}
            yield say("response.content_part.added", **at, part={**part, "text": ""})
            for piece in pieces(part["text"]):
                yield say("response.output_text.delta", **at, delta=piece, logprobs=[])
        for piece in pieces(item.get("arguments", "")):
            yield say("response.function_call_arguments.delta", **place, delta=piece)
        yield say("response.output_item.done", output_index=index, item=item)
    yield say("response.completed", response=response)


def pieces(text: str, size: int = 5) -> Iterator[str]:
    """Cut a text."""
    return (text[at : at + size] for at in range(0, len(text), size))


def streamed(events: Iterator[bytes]) -> list[bytes]:
    """Write a streamed answer, one chunk an event."""
    return [STREAM, *map(chunk, events), LAST]
