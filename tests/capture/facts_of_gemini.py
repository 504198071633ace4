"""Read calls of Google's generateContent API into facts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from collector.model import FinishReason
from tests.capture.facts import Fact, Kind, counts, said

_SCHEMA = ("parameters", "parametersJsonSchema", "parameters_json_schema")
_REASONS: dict[str, FinishReason] = {
    "STOP": "stop",
    "MAX_TOKENS": "length",
    "SAFETY": "content_filter",
    "RECITATION": "content_filter",
    "MALFORMED_FUNCTION_CALL": "error",
}


def asked(request: Any) -> Iterator[Fact]:
    """Yield what a request says."""
    yield from _content(request.get("systemInstruction"), "system")
    for content in request.get("contents") or ():
        yield from _content(content, "assistant" if content.get("role") == "model" else "user")
    tools = request.get("tools") or ()
    for tool in [tools] if isinstance(tools, dict) else tools:
        for declared in tool.get("functionDeclarations") or ():
            yield Fact(
                kind="tool definition",
                name=declared.get("name") or "",
                text=declared.get("description") or "",
                value=next((declared[key] for key in _SCHEMA if declared.get(key)), None),
            )


def answered(answer: Any) -> Iterator[Fact]:
    """Yield what an answer says."""
    candidates = (answer.get("candidates") or [])[:1]
    called = False
    for candidate in candidates:
        found = list(_content(candidate.get("content"), "assistant"))
        called = any(fact.kind == "tool call" for fact in found)
        yield from found
    usage = answer.get("usageMetadata") or {}
    thought = usage.get("thoughtsTokenCount") or 0
    yield from counts(
        input=(usage.get("promptTokenCount") or 0) + (usage.get("toolUsePromptTokenCount") or 0),
        output=(usage.get("candidatesTokenCount") or 0) + thought,
        cache_read=usage.get("cachedContentTokenCount"),
        reasoning=thought,
    )
    for candidate in candidates:
        if reason := candidate.get("finishReason"):
            yield Fact(
                kind="finish reason",
                value=reason,
                reason="tool_call" if called else _REASONS.get(reason, ""),
            )


def _content(content: Any, kind: Kind) -> Iterator[Fact]:
    for part in (content or {}).get("parts") or ():
        if part.get("thought"):
            continue
        yield from said(part.get("text"), kind)
        if call := part.get("functionCall"):
            yield Fact(
                kind="tool call",
                name=call.get("name") or "",
                id=call.get("id") or "",
                value=call.get("args"),
            )
        if result := part.get("functionResponse"):
            response = result.get("response")
            text = msgspec.json.encode(response).decode()
            if response:
                yield Fact(kind="tool result", text=text, id=result.get("id") or "", value=response)
