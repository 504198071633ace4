"""Read Anthropic Messages rows: ``{id?, system, messages, tools}``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

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

CALLS = frozenset({"tool_use", "server_tool_use", "mcp_tool_use"})
"""Blocks that ask for a tool; results are the blocks whose type ends in ``tool_result``."""


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
        messages.extend(_messages(said, index, names))
    return Content(
        messages=tuple(messages),
        system_prompt=text_of(row.get("system")),
        tools=tuple(map(definition_of, rows_of(row.get("tools"), "tools"))),
    )


def is_block(part: Any) -> bool:
    """Tell whether a content part can only be Anthropic's."""
    if not isinstance(part, Mapping):
        return False
    kind = str(part.get("type", ""))
    return kind in CALLS or kind.endswith(("tool_result", "thinking"))


def _messages(said: Mapping[str, Any], index: int, names: dict[str, str]) -> list[Message]:
    role = said.get("role")
    content = said.get("content")
    if role == "system":
        return [Message(role="system", text=text_of(content))]
    if role not in ("user", "assistant"):
        raise FormatError(f"message {index} has the unknown role {role!r}")
    if not isinstance(content, list):
        return [Message(role=role, text=text_of(content))]
    return _split(role, content, index, names)


def _split(
    role: Literal["user", "assistant"], blocks: list[Any], index: int, names: dict[str, str]
) -> list[Message]:
    """Cut one message into normal form: each tool result is a message of its own."""
    messages: list[Message] = []
    said: list[Any] = []
    asked: list[ToolRequest] = []

    def flush() -> None:
        text = text_of(said)
        if text or asked:
            messages.append(Message(role=role, text=text, tool_requests=tuple(asked)))
        said.clear()
        asked.clear()

    for block in blocks:
        kind = str(block.get("type", "")) if isinstance(block, Mapping) else ""
        if kind in CALLS:
            request = _request(block, index)
            names[request.id] = request.name
            asked.append(request)
        elif kind.endswith("tool_result"):
            flush()
            messages.append(_result(block, names))
        else:
            said.append(block)
    flush()
    return messages or [Message(role=role)]


def _request(block: Mapping[str, Any], index: int) -> ToolRequest:
    name = block.get("name")
    if not isinstance(name, str) or not name:
        raise FormatError(f"message {index} has a tool_use block without a name")
    return ToolRequest(
        id=text_of(block.get("id")), name=name, arguments=arguments_of(block.get("input"))
    )


def _result(block: Mapping[str, Any], names: Mapping[str, str]) -> Message:
    call_id = text_of(block.get("tool_use_id"))
    is_error = block.get("is_error")
    return Message(
        role="tool",
        text=result_of(block.get("content")),
        tool_call_id=call_id,
        tool_name=names.get(call_id, ""),
        is_error=is_error if isinstance(is_error, bool) else None,
    )
