"""Reckon what repeated calls cost."""

from __future__ import annotations

from collections.abc import Sequence

from collector.model import Conversation, ToolCall


def wasted(conversation: Conversation, calls: Sequence[ToolCall]) -> str:
    """Say what the model calls that asked for these tool calls used: `` (about 1200 tokens, 0.0040 USD)``.

    A model call counts when one of the tool calls began next after it ended. Empty where times
    or usage were not recorded.
    """
    tokens = 0
    cost = 0.0
    ends = sorted(
        (call.ended_ns, index) for index, call in enumerate(conversation.llm_calls) if call.ended_ns
    )
    asked = set()
    for call in calls:
        before = [index for ended, index in ends if ended <= call.started_ns]
        if call.started_ns and before:
            asked.add(before[-1])
    for index in asked:
        model_call = conversation.llm_calls[index]
        if model_call.usage is not None:
            tokens += model_call.usage.input + model_call.usage.output
        cost += model_call.cost_usd or 0.0
    parts = [f"about {tokens} tokens"] if tokens else []
    parts += [f"{cost:.4f} USD"] if cost else []
    return f" ({', '.join(parts)})" if parts else ""
