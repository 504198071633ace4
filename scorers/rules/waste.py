"""Reckon what repeated calls cost."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from collector.model import Conversation, ToolCall


class Waste(msgspec.Struct, frozen=True, kw_only=True):
    """What some model calls used."""

    tokens: int = 0
    """Input and output."""
    cost_usd: float = 0.0


def wasted(conversation: Conversation, calls: Sequence[ToolCall]) -> Waste:
    """Add up the model calls that asked for these tool calls.

    A model call counts, once, when one of the tool calls began next after it ended. Nothing
    where times or usage were not recorded, or where somebody says that less than nothing was used.
    """
    ends = sorted(
        (call.ended_ns, index) for index, call in enumerate(conversation.llm_calls) if call.ended_ns
    )
    asked = set()
    for call in calls:
        before = [index for ended, index in ends if ended <= call.started_ns]
        if call.started_ns and before:
            asked.add(before[-1])
    used = [conversation.llm_calls[index] for index in asked]
    return Waste(
        tokens=sum(
            max(0, call.usage.input) + max(0, call.usage.output) for call in used if call.usage
        ),
        cost_usd=sum(max(0.0, call.cost_usd or 0.0) for call in used),
    )
