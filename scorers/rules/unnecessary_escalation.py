"""Score whether a hand-over to a person had a cause."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Annotated

import msgspec

from collector.model import Conversation, Evidence
from scorers.result import Score, ScorerResult, Skip
from scorers.rules.handover import hands_over, hands_over_now, is_handover
from scorers.rules.person_request import accepted, person_asked, trigger_in
from scorers.rules.tool_outcome import outcome_of
from scorers.scorer import scorer

_CAUSE = re.compile(
    r"\b(?:unable|can(?:not|['\u2019]t)|could(?:\s+not|n['\u2019]t)|not\s+able|not\s+allowed|not\s+authori[sz]ed|policy|outside|beyond|limit(?:ed|ation)s?|"
    r"require[sd]?|error|fail(?:ed|ing|ure)?|issue|trouble)\b",
    re.IGNORECASE,
)
"""Words with which an agent says why it cannot do it itself."""


@scorer(level="conversation", version="1")
def unnecessary_escalation(
    conversation: Conversation,
    *,
    attempts: Annotated[int, msgspec.Meta(ge=1)] = 1,
    handover_tools: tuple[str, ...] = (),
) -> ScorerResult:
    """Flag an agent that hands over to a person at once, though nothing asked for it or failed.

    ``attempts`` is how many tool calls, or exchanges with the user, count as having tried.
    ``handover_tools`` are names, with ``*``, of tools that bring in a person besides those
    whose name or description says so.
    """
    if not any(m.role == "assistant" for m in conversation.messages):
        return Skip(reason="no_content")
    handed = _handover(conversation, handover_tools)
    if handed is None:
        return Score(value=1.0, verdict="pass", reason="The agent did not hand over to a person.")
    index, quote, how = handed
    cause = _cause(conversation, index, attempts, handover_tools)
    shown = Evidence(message=index, quote=quote)
    if cause:
        return Score(
            value=1.0, verdict="pass", reason=f"It handed over {how}: {cause}.", evidence=(shown,)
        )
    reason = f"The agent handed over {how} without an attempt, a request or a failure."
    return Score(value=0.0, verdict="fail", reason=reason, evidence=(shown,))


def _handover(conversation: Conversation, named: Sequence[str]) -> tuple[int, str, str] | None:
    """Return the first hand-over of the episode: where, in which words, and how."""
    definitions = {tool.name: tool for tool in conversation.tools}
    found = [
        (call.asked_at, call.name, f"by {call.name}")
        for call in conversation.tool_calls
        if call.asked_at >= 0 and is_handover(call.name, definitions.get(call.name), named)
    ][:1]
    for index in range(conversation.episode.first_message, len(conversation.messages)):
        if found and index > found[0][0]:
            break
        message = conversation.messages[index]
        words = hands_over_now(message.text) if message.role == "assistant" else ""
        if words:
            return index, words, "in words"
    return (found[0][0], "", found[0][2]) if found else None


def _cause(conversation: Conversation, index: int, attempts: int, named: Sequence[str]) -> str:
    """Return what justified a hand-over, as a clause; empty when nothing did."""
    messages = conversation.messages
    definitions = {tool.name: tool for tool in conversation.tools}
    heard = [i for i in range(index) if messages[i].role == "user"]
    if any(person_asked(messages[i].text) or trigger_in(messages[i].text) for i in heard):
        return "the user gave cause"
    if any(accepted(messages[i].text) and i and hands_over(messages[i - 1].text) for i in heard):
        return "the user agreed"
    tried = [
        call
        for call in conversation.tool_calls
        if call.asked_at < index and not is_handover(call.name, definitions.get(call.name), named)
    ]
    if any(outcome_of(call).kind in ("error", "empty") for call in tried):
        return "a tool failed before"
    if len(tried) >= attempts or len(heard) > attempts + 1:
        return "it had tried before"
    said = [m.text for m in messages[max(0, index - 2) : index + 1] if m.role == "assistant"]
    return "it said why it could not help" if any(_CAUSE.search(t) for t in said) else ""
