"""Hold a few calls that were never made: what a provider might say, written for these tests."""

from __future__ import annotations

from typing import Any

import msgspec

from tests.capture.recordings import Api, Cassette, Recording

_SCHEMA = {"type": "object", "properties": {"vessel": {"type": "string"}}, "required": ["vessel"]}
_JSON = "application/json"
_EVENTS = "text/event-stream; charset=utf-8"


def _recording(
    api: Api, request: dict[str, Any], body: bytes, *, type_: str = _JSON, status: int = 200
) -> Recording:
    path = {"messages": "/v1/messages", "chat": "/v1/chat/completions"}[api]
    return Recording(
        api=api,
        path=path,
        request=request,
        status=status,
        headers={"content-type": type_},
        body=body,
    )


def _stream(*events: dict[str, Any], named: bool) -> bytes:
    lines = [
        (f"event: {event['type']}\n" if named else "")
        + f"data: {msgspec.json.encode(event).decode()}\n\n"
        for event in events
    ]
    return "".join([*lines, *([] if named else ["data: [DONE]\n\n"])]).encode()


_ASKED: dict[str, Any] = {
    "model": "claude-large-9",
    "max_tokens": 99,
    "system": "You answer for the harbour office of Port Ellery.",
    "tools": [{"name": "berth", "description": "Find a berth.", "input_schema": _SCHEMA}],
    "messages": [{"role": "user", "content": "Where does the Marigold lie?"}],
}
_CALLED = {"type": "tool_use", "id": "toolu_own1", "name": "berth", "input": {"vessel": "Marigold"}}
_FOLLOWED = _ASKED | {
    "messages": [
        *_ASKED["messages"],
        {"role": "assistant", "content": [{"type": "text", "text": "Let me look."}, _CALLED]},
        {
            "role": "user",
            "content": [
                {"type": "tool_result", "tool_use_id": "toolu_own1", "content": "Berth 7 east"}
            ],
        },
    ],
    "stream": True,
}
_MESSAGE: dict[str, Any] = {"type": "message", "role": "assistant", "model": "claude-large-9"}

ANTHROPIC = (
    Cassette(
        name="own/harbour",
        recordings=(
            _recording(
                "messages",
                _ASKED,
                msgspec.json.encode(
                    _MESSAGE
                    | {
                        "id": "msg_own1",
                        "content": [{"type": "text", "text": "Let me look."}, _CALLED],
                        "stop_reason": "tool_use",
                        "stop_sequence": None,
                        "usage": {
                            "input_tokens": 41,
                            "output_tokens": 12,
                            "cache_read_input_tokens": 300,
                        },
                    }
                ),
            ),
            _recording(
                "messages",
                _FOLLOWED,
                _stream(
                    {
                        "type": "message_start",
                        "message": _MESSAGE
                        | {
                            "id": "msg_own2",
                            "content": [],
                            "stop_reason": None,
                            "stop_sequence": None,
                            "usage": {"input_tokens": 77, "output_tokens": 1},
                        },
                    },
                    {
                        "type": "content_block_start",
                        "index": 0,
                        "content_block": {"type": "text", "text": ""},
                    },
                    {
                        "type": "content_block_delta",
                        "index": 0,
                        "delta": {"type": "text_delta", "text": "The Marigold lies "},
                    },
                    {
                        "type": "content_block_delta",
                        "index": 0,
                        "delta": {"type": "text_delta", "text": "at berth 7 east."},
                    },
                    {"type": "content_block_stop", "index": 0},
                    {
                        "type": "message_delta",
                        "delta": {"stop_reason": "end_turn", "stop_sequence": None},
                        "usage": {"output_tokens": 9},
                    },
                    {"type": "message_stop"},
                    named=True,
                ),
                type_=_EVENTS,
            ),
        ),
    ),
    Cassette(
        name="own/overloaded",
        recordings=(
            _recording(
                "messages",
                _ASKED | {"messages": [{"role": "user", "content": "Is the lock open?"}]},
                b'{"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}',
                status=529,
            ),
        ),
    ),
)
"""A tool call and its answer, unstreamed and streamed; a refusal of the provider's."""

_QUESTION: dict[str, Any] = {
    "model": "gpt-large-9",
    "messages": [
        {"role": "system", "content": "You answer for the harbour office of Port Ellery."},
        {"role": "user", "content": "Where does the Marigold lie?"},
    ],
    "tools": [
        {
            "type": "function",
            "function": {"name": "berth", "description": "Find a berth.", "parameters": _SCHEMA},
        }
    ],
}
_CALL = {
    "id": "call_own1",
    "type": "function",
    "function": {"name": "berth", "arguments": '{"vessel": "Marigold"}'},
}
_REPLY = {"object": "chat.completion", "created": 1, "model": "gpt-large-9"}
_CHUNK = {
    "object": "chat.completion.chunk",
    "created": 1,
    "model": "gpt-large-9",
    "id": "chatcmpl-own2",
}

OPENAI = (
    Cassette(
        name="own/harbour",
        recordings=(
            _recording(
                "chat",
                _QUESTION,
                msgspec.json.encode(
                    _REPLY
                    | {
                        "id": "chatcmpl-own1",
                        "choices": [
                            {
                                "index": 0,
                                "message": {
                                    "role": "assistant",
                                    "content": None,
                                    "tool_calls": [_CALL],
                                },
                                "finish_reason": "tool_calls",
                            }
                        ],
                        "usage": {
                            "prompt_tokens": 52,
                            "completion_tokens": 17,
                            "total_tokens": 69,
                            "completion_tokens_details": {"reasoning_tokens": 4},
                        },
                    }
                ),
            ),
            _recording(
                "chat",
                _QUESTION
                | {
                    "messages": [
                        *_QUESTION["messages"],
                        {"role": "assistant", "content": None, "tool_calls": [_CALL]},
                        {"role": "tool", "tool_call_id": "call_own1", "content": "Berth 7 east"},
                    ],
                    "stream": True,
                    "stream_options": {"include_usage": True},
                },
                _stream(
                    _CHUNK
                    | {
                        "choices": [
                            {"index": 0, "delta": {"role": "assistant", "content": "At berth "}}
                        ]
                    },
                    _CHUNK | {"choices": [{"index": 0, "delta": {"content": "7 east."}}]},
                    _CHUNK | {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]},
                    _CHUNK
                    | {
                        "choices": [],
                        "usage": {"prompt_tokens": 80, "completion_tokens": 6, "total_tokens": 86},
                    },
                    named=False,
                ),
                type_=_EVENTS,
            ),
        ),
    ),
    Cassette(
        name="own/no_key",
        recordings=(
            _recording(
                "chat",
                _QUESTION | {"messages": [{"role": "user", "content": "Is the lock open?"}]},
                b'{"error": {"message": "Incorrect key", "type": "invalid_request_error"}}',
                status=401,
            ),
        ),
    ),
)
"""The same for the chat API."""
