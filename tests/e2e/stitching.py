"""Measure how well spans without ids were put back together into conversations."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from math import comb
from typing import Any

from collector.model import Conversation
from collector.replay import trace_ids


def truth(
    conversations: Iterable[Conversation],
    *,
    seed: str = "test",
    strip_ids: bool = True,
    variant: str = "",
) -> dict[str, str]:
    """Map each trace that a replay sends to the conversation it belongs to."""
    return {
        trace: conversation.id
        for conversation in conversations
        for trace in trace_ids(conversation, seed=seed, strip_ids=strip_ids, variant=variant)
    }


def pairs(
    exported: Iterable[Conversation | Mapping[str, Any]], truth: Mapping[str, str]
) -> tuple[float, float]:
    """Return precision and recall over pairs of traces that were put into one conversation.

    ``exported`` are conversations or exported rows with ``id`` and ``trace_ids``; episodes of
    one id count as one conversation. Traces that nobody exported lower recall; traces that are
    not in ``truth`` are left out. A trace in two conversations counts in both.
    """
    groups: dict[str, set[str]] = {}
    for conversation in exported:
        if isinstance(conversation, Conversation):
            name, traces = conversation.id, conversation.trace_ids
        else:
            name, traces = conversation["conversation_id"], conversation["trace_ids"]
        groups.setdefault(name, set()).update(trace for trace in traces if trace in truth)
    together = sum(comb(len(group), 2) for group in groups.values())
    right = {
        frozenset((first, second))
        for group in groups.values()
        for first in group
        for second in group
        if first < second and truth[first] == truth[second]
    }
    wrong = sum(
        comb(len(group), 2) - sum(comb(n, 2) for n in Counter(truth[t] for t in group).values())
        for group in groups.values()
    )
    expected = sum(comb(n, 2) for n in Counter(truth.values()).values())
    precision = 1 - wrong / together if together else 1.0
    return precision, len(right) / expected if expected else 1.0
