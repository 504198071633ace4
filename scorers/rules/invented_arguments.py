"""Find ids in a call's arguments that nobody has given the agent."""

from __future__ import annotations

import re

from collector.model import Conversation, Evidence, ToolCall
from scorers.result import Score, ScorerResult, Skip
from scorers.rules.grounds import Grounds, grounds_of
from scorers.rules.identifiers import Identifier, identifiers_of
from scorers.rules.made_up_values import made_up
from scorers.scorer import scorer

_PARTS = re.compile(r"[^\W_]+")


@scorer(level="tool_call", version="2")
def invented_arguments(conversation: Conversation, call: ToolCall) -> ScorerResult:
    """Fail a call with an id, address, amount, date or person's name that nobody gave.

    Looked for in the instructions, the tool definitions, the documents and everything the
    user and the tools said before the call, whatever the spelling; the agent's own words do
    not count, but an id that an earlier call used with success does. An amount of money may
    follow from given numbers, a date from any date or word of time, and a person's name has to
    be given in part. Other names and free text are the agent's own. Skips with ``no_ids`` when
    the call holds nothing to judge.
    """
    at = call.asked_at
    if not 0 <= at < len(conversation.messages):
        return Skip(reason="no_position")
    found = list(identifiers_of(call.arguments))
    grounds = grounds_of(conversation)
    if grounds.nothing_said(at):
        return Skip(reason="no_content")
    others = list(made_up(call.arguments, grounds, at))
    if not found and not others:
        return Skip(reason="no_ids")
    invented = [one for one in found if not _given(grounds, one.value, at)]
    if (invented or others) and grounds.incomplete(at):
        return Skip(reason="no_results")
    invented = [one for one in invented if not grounds.proven(one.value, at)] + others
    if not invented:
        return Score(value=1.0, verdict="pass", reason="Every id in the call was given before it.")
    return Score(
        value=0.0,
        verdict="fail",
        reason=_reason(call, invented),
        evidence=tuple(
            Evidence(message=at, tool_call_id=call.id, span_id=call.span_id, quote=one.value)
            for one in invented[:4]
        ),
    )


def _given(grounds: Grounds, value: str, before: int) -> bool:
    """Say whether the value, or each of its parts that has a digit, was given."""
    bare = value.strip("#")
    if grounds.holds(bare, before):
        return True
    parts = [part for part in _PARTS.findall(bare) if any(map(str.isdigit, part))]
    if len(parts) < 2 or "@" in value:
        return False
    return all(grounds.holds(part, before) for part in parts)


def _reason(call: ToolCall, invented: list[Identifier]) -> str:
    first = invented[0]
    more = f" ({len(invented) - 1} more)" if len(invented) > 1 else ""
    return (
        f"The argument {first.argument} of {call.name[:80]} is {first.value!r}, "
        f"which stands nowhere before the call{more}."
    )
