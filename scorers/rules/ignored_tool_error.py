"""Score whether the agent took notice when a tool failed or found nothing."""

from __future__ import annotations

from bisect import bisect_right

from collector.model import Conversation, Evidence, ToolCall
from scorers.result import Score, ScorerResult, Skip
from scorers.rules.admission import admits_failure, may_admit_failure
from scorers.rules.tool_effect import effect_of
from scorers.rules.tool_outcome import ToolOutcome, outcome_of
from scorers.scorer import scorer

_VOID = frozenset(("", "null", "none", "nil"))
"""What tools without an answer return; it says nothing of success."""


@scorer(level="conversation", version="1")
def ignored_tool_error(conversation: Conversation) -> ScorerResult:
    """Flag an agent that goes on after a failed call as if it had got its answer.

    A later call in the same turn, a question to the user and any word of the failure are notice.
    """
    calls = [c for c in conversation.tool_calls if c.requestor == "agent"]
    if not calls:
        return Skip(reason="no_tool_calls")
    if all(c.result is None and c.is_error is None for c in calls):
        return Skip(reason="no_content")
    asked = sorted(call.asked_at for call in calls)
    heard = [i for i, m in enumerate(conversation.messages) if m.role == "user"]
    failures = 0
    for call in calls:
        outcome = outcome_of(call)
        if not _matters(call, outcome):
            continue
        failures += 1
        end = _next(heard, call.answered_at, len(conversation.messages))
        if _next(asked, call.answered_at, end) < end:
            continue
        said = _went_on(conversation, call, outcome, end)
        if said is not None:
            happened = "failed" if outcome.kind == "error" else "found nothing"
            reason = (
                f"The call of {call.name} {happened} and the agent went on as if it had worked."
            )
            return Score(
                value=0.0, verdict="fail", reason=reason, evidence=(_shown(call, outcome), said)
            )
    reason = (
        f"The agent took notice of {failures} failed calls." if failures else "No tool call failed."
    )
    return Score(value=1.0, verdict="pass", reason=reason)


def _matters(call: ToolCall, outcome: ToolOutcome) -> bool:
    """Say whether a result is one that an agent has to take notice of."""
    if call.answered_at < 0:
        return False
    if outcome.kind == "error":
        return True
    looks = outcome.kind == "empty" and effect_of(call.name) == "read"
    return looks and (call.result or "").strip().lower() not in _VOID


def _shown(call: ToolCall, outcome: ToolOutcome) -> Evidence:
    return Evidence(
        message=call.answered_at, tool_call_id=call.id, span_id=call.span_id, quote=outcome.quote
    )


def _next(positions: list[int], after: int, default: int) -> int:
    """Return the first of some sorted positions that comes after another."""
    index = bisect_right(positions, after)
    return positions[index] if index < len(positions) else default


def _went_on(
    conversation: Conversation, call: ToolCall, outcome: ToolOutcome, end: int
) -> Evidence | None:
    """Return the reply that passes a failure over; ``None`` when the agent took notice."""
    messages = conversation.messages
    later = range(call.answered_at + 1, end)
    replies = [i for i in later if messages[i].role == "assistant" and messages[i].text]
    # A refused action has to be owned up to; how an empty search is told has many forms.
    acted = outcome.kind == "error" and effect_of(call.name) == "write"
    noticed = admits_failure if acted else may_admit_failure
    if not replies or any(noticed(messages[i].text) for i in replies):
        return None
    last = replies[-1]
    return Evidence(message=last, quote=messages[last].text.strip().partition("\n")[0][:200])
