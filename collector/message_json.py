"""Write messages and tools as the JSON of the OTel GenAI attributes.

Each function returns JSON text. The shapes are those of the convention's message schemas;
``name`` and ``is_error`` of a tool result are additions that it allows.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec

from collector.model import Document, JsonValue, Message, ToolDefinition, ToolRequest


def message_json(message: Message) -> str:
    """Write one message of an input history."""
    return _encode(_message(message))


def output_json(message: Message, finish_reason: str) -> str:
    """Write what one model call returned: a list with one message."""
    return _encode([{**_message(message), "finish_reason": finish_reason}])


def instructions_json(system_prompt: str) -> str:
    """Write ``gen_ai.system_instructions``."""
    return _encode([{"type": "text", "content": system_prompt}])


def tools_json(tools: Iterable[ToolDefinition]) -> str:
    """Write ``gen_ai.tool.definitions``; hints go where MCP has them, in ``annotations``."""
    return _encode([_definition(tool) for tool in tools])


def documents_json(documents: Iterable[Document]) -> str:
    """Write ``gen_ai.retrieval.documents``, with the text that the convention leaves out."""
    return _encode(
        [
            _said(id=document.id, content=document.text)
            | ({} if document.score is None else {"score": document.score})
            for document in documents
        ]
    )


def arguments_json(arguments: JsonValue) -> str:
    """Write ``gen_ai.tool.call.arguments``; text that never was JSON stays as it is."""
    kept = _kept(arguments)
    return kept if isinstance(kept, str) else _encode(kept)


def _message(message: Message) -> dict[str, Any]:
    if message.role == "tool":
        response: dict[str, Any] = {"type": "tool_call_response"}
        response |= _said(id=message.tool_call_id, name=message.tool_name)
        response["response"] = message.text
        if message.is_error is not None:
            response["is_error"] = message.is_error
        return {"role": "tool", "parts": [response]}
    parts: list[dict[str, Any]] = []
    if message.text or not message.tool_requests:
        parts.append({"type": "text", "content": message.text})
    parts.extend(map(_request, message.tool_requests))
    return {"role": message.role, "parts": parts}


def _request(request: ToolRequest) -> dict[str, Any]:
    return {
        "type": "tool_call",
        **_said(id=request.id),
        "name": request.name,
        "arguments": _kept(request.arguments),
    }


def _kept(arguments: JsonValue) -> JsonValue:
    """Return arguments that a reader who parses JSON strings takes back unchanged."""
    if not isinstance(arguments, str):
        return arguments
    try:
        msgspec.json.decode(arguments)
    except (msgspec.DecodeError, RecursionError):
        return arguments
    return _encode(arguments)


def _definition(tool: ToolDefinition) -> dict[str, Any]:
    written: dict[str, Any] = {"type": "function", "name": tool.name}
    written |= _said(description=tool.description)
    if tool.parameters is not None:
        written["parameters"] = tool.parameters
    hints = {"readOnlyHint": tool.read_only, "destructiveHint": tool.destructive}
    hints = {key: hint for key, hint in hints.items() if hint is not None}
    return {**written, "annotations": hints} if hints else written


def _said(**texts: str) -> dict[str, Any]:
    return {key: text for key, text in texts.items() if text}


def _encode(value: Any) -> str:
    return msgspec.json.encode(value).decode()
