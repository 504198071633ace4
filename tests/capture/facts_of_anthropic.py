"""Read a call of the Anthropic Messages API into facts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from collector.model import FinishReason
from tests.capture.facts import Fact, Kind, counts, said

_REASONS: dict[str, FinishReason] = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "tool_use": "tool_call",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "refusal": "content_filter",
    "pause_turn": "pause",
}


def asked(request: Any) -> Iterator[Fact]:
    """Yield what a request says."""
    yield from _content(request.get("system"), "system")
    for message in request.get("messages") or ():
        role: Kind = "assistant" if message.get("role") == "assistant" else "user"
        yield from _content(message.get("content"), role)
    for tool in request.get("tools") or ():
        yield Fact(
            kind="tool definition",
            name=tool.get("name") or "",
            text=tool.get("description") or "",
            value=tool.get("input_schema"),
        )


def answered(message: Any) -> Iterator[Fact]:
    """Yield what an answer says."""
    yield from _content(message.get("content"), "assistant")
    usage = message.get("usage") or {}
    read = usage.get("cache_read_input_tokens") or 0
    written = usage.get("cache_creation_input_tokens") or 0
    yield from counts(
        input=(usage.get("input_tokens") or 0) + read + written,
        output=usage.get("output_tokens"),
        cache_read=read,
        cache_write=written,
    )
    reason = message.get("stop_reason")
    if reason:
        yield Fact(kind="finish reason", value=reason, reason=_REASONS.get(reason, ""))


def _content(content: Any, kind: Kind) -> Iterator[Fact]:
    if isinstance(content, str):
        yield from said(content, kind)
        return
    for block in content or ():
        type_ = block.get("type")
        if type_ == "text":
            yield from said(block.get("text"), kind)
        elif type_ in ("tool_use", "server_tool_use", "mcp_tool_use"):
            yield Fact(
                kind="tool call",
                name=block.get("name") or "",
                id=block.get("id") or "",
                value=block.get("input"),
            )
        elif type_ == "tool_result":
            yield from _result(block)


def _result(block: Any) -> Iterator[Fact]:
    content = block.get("content")
    texts = [content] if isinstance(content, str) else [b.get("text") for b in content or ()]
    for text in texts:
        if isinstance(text, str) and text.strip():
            yield Fact(kind="tool result", text=text, id=block.get("tool_use_id") or "")
