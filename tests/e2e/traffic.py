"""Turn conversations into what end-to-end tests feed in: OTLP bodies and transcript files."""

from __future__ import annotations

import base64
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import msgspec
from google.protobuf.json_format import MessageToDict
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from collector.model import Conversation, Message
from collector.replay import Request, plan
from tests.e2e.synthetic import synthetic, synthetic_labelled

__all__ = [
    "as_json",
    "as_json_requests",
    "as_requests",
    "as_row",
    "requests_of",
    "synthetic",
    "synthetic_labelled",
    "write_transcript",
]

_IDS = ("traceId", "spanId", "parentSpanId")


def requests_of(
    conversations: Iterable[Conversation], *, seed: str = "test", **options: Any
) -> list[Request]:
    """Plan the whole replay; options are those of ``plan``, the clock defaults to the real one."""
    options.setdefault("clock", time.time_ns)
    return list(plan(conversations, seed=seed, **options))


def as_requests(conversations: Iterable[Conversation], **options: Any) -> list[bytes]:
    """Return the protobuf bodies that replay conversations."""
    return [request.body for request in requests_of(conversations, **options)]


def as_json_requests(conversations: Iterable[Conversation], **options: Any) -> list[bytes]:
    """Return the same requests in OTLP JSON."""
    return [as_json(body) for body in as_requests(conversations, **options)]


def as_json(body: bytes) -> bytes:
    """Write a protobuf request as OTLP JSON: hex ids, integer enums, 64-bit integers as text."""
    said = MessageToDict(ExportTraceServiceRequest.FromString(body), use_integers_for_enums=True)
    for resource_spans in said.get("resourceSpans", []):
        for scope_spans in resource_spans.get("scopeSpans", []):
            for span in scope_spans.get("spans", []):
                for key in _IDS:
                    if key in span:
                        span[key] = base64.b64decode(span[key]).hex()
    return msgspec.json.encode(said)


def as_row(conversation: Conversation, **more: Any) -> dict[str, Any]:
    """Write a conversation as an OpenAI chat transcript row; ``more`` are further row keys."""
    messages = [{"role": "system", "content": conversation.system_prompt}]
    row: dict[str, Any] = {
        "id": conversation.id,
        "agent": conversation.identity.agent,
        "model": next((call.model for call in conversation.llm_calls), ""),
        "messages": [m for m in messages if m["content"]]
        + [_chat_message(message) for message in conversation.messages],
        "tools": [
            {
                "type": "function",
                "function": {
                    "name": tool.name,
                    "description": tool.description,
                    "parameters": tool.parameters,
                },
            }
            for tool in conversation.tools
        ],
    }
    return {**row, **more}


def write_transcript(path: Path, conversations: Iterable[Conversation]) -> Path:
    """Write conversations as an OpenAI chat JSONL file."""
    lines = (msgspec.json.encode(as_row(conversation)) for conversation in conversations)
    path.write_bytes(b"".join(line + b"\n" for line in lines))
    return path


def _chat_message(message: Message) -> dict[str, Any]:
    said: dict[str, Any] = {"role": message.role, "content": message.text}
    if message.tool_requests:
        said["tool_calls"] = [
            {
                "id": request.id,
                "type": "function",
                "function": {
                    "name": request.name,
                    "arguments": msgspec.json.encode(request.arguments).decode(),
                },
            }
            for request in message.tool_requests
        ]
    if message.role == "tool":
        said |= {"tool_call_id": message.tool_call_id, "name": message.tool_name}
        if message.is_error is not None:
            said["is_error"] = message.is_error
    return said
