"""Read calls of OpenAI's chat completions and responses APIs into facts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from collector.model import FinishReason
from tests.capture.facts import Fact, Kind, arguments_of, counts, said

_REASONS: dict[str, FinishReason] = {
    "stop": "stop",
    "length": "length",
    "max_output_tokens": "length",
    "tool_calls": "tool_call",
    "function_call": "tool_call",
    "content_filter": "content_filter",
}
_ASKING = ("function_call", "custom_tool_call", "computer_call", "local_shell_call", "shell_call")
_ROLES: dict[str, Kind] = {"system": "system", "developer": "system", "user": "user"}


def chat_asked(request: Any) -> Iterator[Fact]:
    """Yield what a request of the chat API says."""
    for message in request.get("messages") or ():
        yield from _chat_message(message)
    for tool in request.get("tools") or ():
        yield _definition(tool.get("function") or tool.get("custom") or tool)
    for function in request.get("functions") or ():
        yield _definition(function)


def chat_answered(answer: Any) -> Iterator[Fact]:
    """Yield what an answer of the chat API says."""
    for choice in answer.get("choices") or ():
        yield from _chat_message({"role": "assistant"} | (choice.get("message") or {}))
    yield from _usage(answer.get("usage"), "prompt_tokens", "completion_tokens")
    for choice in (answer.get("choices") or ())[:1]:
        if reason := choice.get("finish_reason"):
            # Some providers say "stop" of a message that asks for tools.
            called = bool((choice.get("message") or {}).get("tool_calls"))
            found = "tool_call" if called and reason == "stop" else _REASONS.get(reason, "")
            yield Fact(kind="finish reason", value=reason, reason=found)


def responses_asked(request: Any) -> Iterator[Fact]:
    """Yield what a request of the responses API says."""
    yield from said(request.get("instructions"), "system")
    given = request.get("input")
    if isinstance(given, str):
        yield from said(given, "user")
    else:
        for item in given or ():
            yield from _item(item, "user")
    for tool in request.get("tools") or ():
        if tool.get("type") in ("function", "custom"):
            yield _definition(tool)


def responses_answered(answer: Any) -> Iterator[Fact]:
    """Yield what an answer of the responses API says."""
    output = answer.get("output") or []
    for item in output:
        yield from _item(item, "assistant")
    yield from _usage(answer.get("usage"), "input_tokens", "output_tokens")
    status = answer.get("status")
    if status == "completed":
        called = any(map(_waits, output))
        yield Fact(kind="finish reason", value=status, reason="tool_call" if called else "stop")
    elif status == "incomplete":
        why = (answer.get("incomplete_details") or {}).get("reason") or status
        yield Fact(kind="finish reason", value=why, reason=_REASONS.get(why, ""))


def _waits(item: Any) -> bool:
    """Say whether an item asks the agent for something, and not the provider's own tools."""
    return item.get("type") in _ASKING or item.get("execution") == "client"


def _chat_message(message: Any) -> Iterator[Fact]:
    role = message.get("role")
    if role in ("tool", "function"):
        for text in _texts(message.get("content")):
            yield Fact(kind="tool result", text=text, id=message.get("tool_call_id") or "")
        return
    kind = _ROLES.get(role, "assistant")
    for text in _texts(message.get("content")):
        yield from said(text, kind)
    yield from said(message.get("refusal"), kind)
    for call in message.get("tool_calls") or ():
        asked = call.get("function") or call.get("custom") or {}
        yield Fact(
            kind="tool call",
            name=asked.get("name") or "",
            id=call.get("id") or "",
            value=arguments_of(asked.get("arguments", asked.get("input"))),
        )
    if old := message.get("function_call"):
        yield Fact(
            kind="tool call", name=old.get("name") or "", value=arguments_of(old.get("arguments"))
        )


def _item(item: Any, default: Kind) -> Iterator[Fact]:
    type_ = item.get("type") or "message"
    if type_ == "message":
        role = item.get("role")
        kind = _ROLES.get(role, "assistant") if role else default
        for text in _texts(item.get("content")):
            yield from said(text, kind)
    elif type_ in ("function_call", "custom_tool_call", "mcp_call"):
        yield Fact(
            kind="tool call",
            name=item.get("name") or "",
            id=item.get("call_id") or item.get("id") or "",
            value=arguments_of(item.get("arguments", item.get("input"))),
        )
        yield from _output(item)
    elif type_ in ("function_call_output", "custom_tool_call_output"):
        yield from _output(item)


def _output(item: Any) -> Iterator[Fact]:
    for text in _texts(item.get("output")):
        yield Fact(kind="tool result", text=text, id=item.get("call_id") or item.get("id") or "")


def _texts(content: Any) -> Iterator[str]:
    if isinstance(content, str):
        if content.strip():
            yield content
        return
    for part in content or ():
        text = part if isinstance(part, str) else part.get("text") or part.get("refusal")
        if isinstance(text, str) and text.strip():
            yield text


def _definition(tool: Any) -> Fact:
    return Fact(
        kind="tool definition",
        name=tool.get("name") or "",
        text=tool.get("description") or "",
        value=tool.get("parameters"),
    )


def _usage(usage: Any, given: str, made: str) -> Iterator[Fact]:
    usage = usage or {}
    yield from counts(
        input=usage.get(given),
        output=usage.get(made),
        cache_read=(usage.get(f"{given}_details") or {}).get("cached_tokens"),
        reasoning=(usage.get(f"{made}_details") or {}).get("reasoning_tokens"),
    )
