"""Join two descriptions of one span: a span and its log records, or its start and its end."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

from collector.model import Facts, Identity, Message, ToolDefinition, ToolRequest
from collector.served import waits


def merge(first: Facts, second: Facts) -> Facts:
    """Join two descriptions of one span; nothing that either of them says is lost.

    The one that ended speaks first. Of content the richer side wins, field by field. Shares
    of single events (``partial``) are appended in the order they are merged, unless the other
    side has that content already.
    """
    one, other = (first, second) if _standing(first) >= _standing(second) else (second, first)
    merged = msgspec.structs.asdict(one)
    for name, value in msgspec.structs.asdict(other).items():
        if merged[name] != value:
            merged[name] = _CHOICES.get(name, _either)(merged[name], value)
    role = one.role if one.role != "other" else other.role
    if role not in {"llm", "embedding"}:
        merged["usage"] = merged["cost_usd"] = None
    merged |= {
        "role": role,
        "start_ns": one.start_ns if one.end_ns else min(one.start_ns, other.start_ns),
        "end_ns": max(one.end_ns, other.end_ns),
        "partial": _is_shares(one, other),
    }
    if one.partial and other.partial:
        merged["input"] = first.input + second.input
        merged["output"] = first.output + second.output
    elif other.partial:
        merged["input"] = one.input or other.input
        merged["output"] = one.output or other.output
    if merged["finish_reason"] in {"", "stop"} and waits(merged["output"]):
        merged["finish_reason"] = "tool_call"
    return Facts(**merged)


def _standing(facts: Facts) -> tuple[bool, bool]:
    """Rank descriptions: whole before shares of events, ended before open."""
    return not facts.partial, facts.end_ns > 0


def _is_shares(one: Facts, other: Facts) -> bool:
    """Tell whether all content so far came from single events, so that more may follow."""
    return one.partial or (other.partial and not (one.input or one.output))


def _either(one: Any, other: Any) -> Any:
    return other if one is None or one in ("", ()) else one


def _longer(one: str, other: str) -> str:
    return other if len(other) > len(one) else one


def _longer_result(one: str | None, other: str | None) -> str | None:
    return other if one is None or (other is not None and len(other) > len(one)) else one


def _richer_messages(one: tuple[Message, ...], other: tuple[Message, ...]) -> tuple[Message, ...]:
    return other if _weight(other) > _weight(one) else one


def _weight(messages: tuple[Message, ...]) -> tuple[int, int]:
    return len(messages), sum(len(m.text) + 100 * len(m.tool_requests) for m in messages)


def _richer_tools(
    one: tuple[ToolDefinition, ...], other: tuple[ToolDefinition, ...]
) -> tuple[ToolDefinition, ...]:
    def weight(tools: tuple[ToolDefinition, ...]) -> tuple[int, int]:
        return len(tools), sum(tool.parameters is not None for tool in tools)

    return other if weight(other) > weight(one) else one


def _flag(one: bool | None, other: bool | None) -> bool | None:
    return True if one or other else one if one is not None else other


def _tool(one: ToolRequest | None, other: ToolRequest | None) -> ToolRequest | None:
    if one is None or other is None:
        return one or other
    return ToolRequest(
        id=one.id or other.id,
        name=one.name or other.name,
        arguments=other.arguments if one.arguments is None else one.arguments,
    )


def _identity(one: Identity, other: Identity) -> Identity:
    if one == other:
        return one
    default = Identity()
    return Identity(
        **{
            name: getattr(other, name)
            if getattr(one, name) == getattr(default, name)
            else getattr(one, name)
            for name in Identity.__struct_fields__
        }
    )


_CHOICES: dict[str, Callable[[Any, Any], Any]] = {
    "identity": _identity,
    "system_prompt": _longer,
    "tools": _richer_tools,
    "input": _richer_messages,
    "output": _richer_messages,
    "tool": _tool,
    "tool_result": _longer_result,
    "tool_is_error": _flag,
    "ends_conversation": _flag,
    "simulated": _flag,
    "truncated": _flag,
    "user_side": _flag,
}
"""How each field is chosen; every other takes the first side that says something."""
