"""Rebuild the tool calls of earlier episodes."""

from __future__ import annotations

from collector.model import Conversation, ToolCall


def earlier_calls(conversation: Conversation) -> list[ToolCall]:
    """Return the calls of earlier episodes, which the conversation holds as messages only."""
    context = conversation.messages[: conversation.episode.first_message]
    results = {m.tool_call_id: m for m in context if m.role == "tool" and m.tool_call_id}
    calls = []
    for index, message in enumerate(context):
        for request in message.tool_requests:
            answer = results.get(request.id)
            calls.append(
                ToolCall(
                    id=request.id,
                    name=request.name,
                    arguments=request.arguments,
                    asked_at=index,
                    result=answer.text if answer else None,
                    is_error=answer.is_error if answer else None,
                )
            )
    return calls
