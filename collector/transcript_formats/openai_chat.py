"""Read OpenAI chat rows: ``{id, messages, tools}``.

The legacy ``function_call`` and role ``function`` are read too, as are content lists, and
``is_error`` on tool messages, which the API lacks but recorded runs often add.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from collector.model import Message, ToolRequest
from collector.transcript_formats.content import (
    Content,
    FormatError,
    arguments_of,
    definition_of,
    result_of,
    rows_of,
    text_of,
)


def read_row(row: Mapping[str, Any]) -> Content:
    """Read one row.

    Raises:
        FormatError: a message or tool is not in the format.
    """
    names: dict[str, str] = {}
    messages: list[Message] = []
    for index, said in enumerate(rows_of(row.get("messages"), "messages")):
        if not isinstance(said, Mapping):
            raise FormatError(f"message {index} is not an object")
        message = _message(said, index, names)
        names.update((r.id, r.name) for r in message.tool_requests if r.id)
        messages.append(message)
    tools = tuple(map(definition_of, rows_of(row.get("tools"), "tools")))
    return Content(messages=tuple(messages), tools=tools)


def _message(said: Mapping[str, Any], index: int, names: Mapping[str, str]) -> Message:
    text = text_of(said.get("content"))
    match said.get("role"):
        case "system" | "developer":
            return Message(role="system", text=text)
        case "user":
            return Message(role="user", text=text)
        case "assistant":
            return Message(
                role="assistant",
                text=text or text_of(said.get("refusal")),
                tool_requests=_requests(said, index),
            )
        case "tool" | "function":
            call_id = text_of(said.get("tool_call_id"))
            is_error = said.get("is_error")
            return Message(
                role="tool",
                text=result_of(said.get("content")),
                tool_call_id=call_id,
                tool_name=text_of(said.get("name")) or names.get(call_id, ""),
                is_error=is_error if isinstance(is_error, bool) else None,
            )
        case role:
            raise FormatError(f"message {index} has the unknown role {role!r}")


def _requests(said: Mapping[str, Any], index: int) -> tuple[ToolRequest, ...]:
    asked: list[tuple[str, Any]] = [
        (text_of(call.get("id")), call.get("function", call.get("custom")))
        for call in rows_of(said.get("tool_calls"), "tool_calls")
        if isinstance(call, Mapping)
    ]
    if said.get("function_call"):
        asked.append(("", said["function_call"]))
    return tuple(_request(call_id, function, index) for call_id, function in asked)


def _request(call_id: str, function: Any, index: int) -> ToolRequest:
    if not isinstance(function, Mapping) or not isinstance(function.get("name"), str):
        raise FormatError(f"message {index} has a tool call without a function name")
    return ToolRequest(
        id=call_id,
        name=function["name"],
        arguments=arguments_of(function.get("arguments", function.get("input"))),
    )
