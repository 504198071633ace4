"""Build records for tests in one line each.

``conversation(user("Hi"), agent("Hello"))`` and ``span("chat m", attributes={...})``; every
argument that a test does not care about has a sensible default.
"""

from __future__ import annotations

from typing import Any

from collector.builder import conversation_of
from collector.model import (
    Conversation,
    Episode,
    Identity,
    JsonValue,
    Message,
    ToolDefinition,
    ToolRequest,
)
from collector.telemetry import Span


def user(text: str) -> Message:
    """Build a user message."""
    return Message(role="user", text=text)


def agent(text: str = "", *requests: ToolRequest) -> Message:
    """Build an assistant message, with the tool calls it asks for."""
    return Message(role="assistant", text=text, tool_requests=requests)


def request(name: str, id: str = "", **arguments: JsonValue) -> ToolRequest:
    """Build a tool request; the id defaults to ``call_<name>``."""
    return ToolRequest(id=id or f"call_{name}", name=name, arguments=arguments)


def result(name: str, text: str, id: str = "", *, is_error: bool | None = None) -> Message:
    """Build the tool message that answers ``request(name)``."""
    return Message(
        role="tool",
        text=text,
        tool_call_id=id or f"call_{name}",
        tool_name=name,
        is_error=is_error,
    )


def tool(
    name: str, properties: dict[str, Any] | None = None, *required: str, **more: Any
) -> ToolDefinition:
    """Build a tool definition from its argument schemas."""
    return ToolDefinition(
        name=name,
        parameters={
            "type": "object",
            "properties": properties or {},
            "required": list(required),
        },
        **more,
    )


def identity(agent: str = "shop", **more: Any) -> Identity:
    """Build an identity."""
    return Identity(agent=agent, **more)


def conversation(
    *messages: Message,
    id: str = "conv-1",
    who: Identity | None = None,
    tools: tuple[ToolDefinition, ...] = (),
    episode: Episode | None = None,
    **more: Any,
) -> Conversation:
    """Build a conversation from its messages."""
    return conversation_of(
        messages, id=id, identity=who or identity(), tools=tools, episode=episode, **more
    )


def span(
    name: str = "chat m",
    *,
    trace: str = "1" * 32,
    id: str = "2" * 16,
    parent: str = "",
    start_s: float = 1_000.0,
    seconds: float = 1.0,
    attributes: dict[str, Any] | None = None,
    resource: dict[str, Any] | None = None,
    **more: Any,
) -> Span:
    """Build an OTLP span; times are seconds."""
    return Span(
        trace_id=trace,
        span_id=id,
        parent_id=parent,
        name=name,
        start_ns=int(start_s * 1e9),
        end_ns=int((start_s + seconds) * 1e9),
        attributes=attributes or {},
        resource={"service.name": "shop"} if resource is None else resource,
        **more,
    )
