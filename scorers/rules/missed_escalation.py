"""Score whether a user who needed a person was brought to one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import msgspec

from collector.model import Conversation, Evidence
from scorers.result import Score, ScorerResult, Skip
from scorers.rules.grievance import is_content, is_furious, is_helpless, is_unsolved
from scorers.rules.handover import hands_over, hands_over_now, is_handover, points_to_help
from scorers.rules.person_request import accepted, person_asked, trigger_in, withdrawn
from scorers.rules.tool_outcome import outcome_of
from scorers.scorer import scorer


@scorer(level="conversation", version="2")
def missed_escalation(
    conversation: Conversation,
    *,
    furious: Annotated[int, msgspec.Meta(ge=1)] = 2,
    unsolved: Annotated[int, msgspec.Meta(ge=1)] = 3,
    helpless: Annotated[int, msgspec.Meta(ge=1)] = 3,
    handover_tools: tuple[str, ...] = (),
) -> ScorerResult:
    """Flag an agent that goes on by itself when the user asked for a person or needed one.

    Called for by a request in any wording, a legal threat, a threat of violence, danger to
    somebody, an accusation of fraud; by ``furious`` messages of a user at the end of patience,
    ``unsolved`` messages in a row that it still does not work, ``helpless`` replies that the
    agent cannot help. Met by a hand-over or an offer of one; settled when the user takes the
    wish back or, after a grievance, is content. ``handover_tools`` are names, with ``*``, of
    tools that bring in a person besides those whose name or description says so.
    """
    first, messages = conversation.episode.first_message, conversation.messages
    heard = [i for i in range(first, len(messages)) if messages[i].role == "user"]
    if not any(messages[i].text for i in heard):
        return Skip(reason="no_content")
    needs = [(i, *found) for i in heard if (found := _need(conversation, i)) is not None]
    grieved = None if needs else _grievance(conversation, heard, furious, unsolved, helpless)
    if grieved is not None:
        needs.append(grieved)
    if not needs:
        return Score(value=1.0, verdict="pass", reason="Nothing called for a person.")
    last_met = _last_met(conversation, needs[0][0], handover_tools)
    for index, need, quote in needs:
        if index >= last_met and not _answered(conversation, index, need):
            who = "The agent" if need.startswith("could") else "The user"
            reason = f"{who} {need} and the agent went on by itself."
            said = Evidence(message=index, quote=quote)
            return Score(value=0.0, verdict="fail", reason=reason, evidence=(said,))
    return Score(value=1.0, verdict="pass", reason="The user was brought to a person.")


def _need(conversation: Conversation, index: int) -> tuple[str, str] | None:
    """Return what in a user's message calls for a person, as a phrase, and its words."""
    text = conversation.messages[index].text
    trigger = trigger_in(text)
    if trigger is not None:
        return f"made a remark that is a {trigger[0]}", trigger[1]
    asked = person_asked(text, conditional=False)
    if asked:
        return f'asked for a person ("{asked}")', asked
    before = conversation.messages[index - 1] if index and accepted(text) else None
    if before is not None and before.role == "assistant" and hands_over(before.text):
        return "accepted the offer of a person", text[:200]
    return None


def _grievance(
    conversation: Conversation, heard: Sequence[int], furious: int, unsolved: int, helpless: int
) -> tuple[int, str, str] | None:
    """Return the message at which patience or help had run out; ``None`` when it did not, or all ended well."""
    messages = conversation.messages
    if heard and is_content(messages[heard[-1]].text):
        return None
    angry = [(i, words) for i in heard if (words := is_furious(messages[i].text))]
    if len(angry) >= furious:
        return angry[furious - 1][0], "was at the end of patience", angry[furious - 1][1]
    run = 0
    for index in heard:
        words = is_unsolved(messages[index].text)
        run = run + 1 if words else 0
        if run == unsolved:
            return index, f"said {run} times in a row that it does not work", words
    spoken = range(conversation.episode.first_message, len(messages))
    given_up = [
        (i, words)
        for i in spoken
        if messages[i].role == "assistant" and (words := is_helpless(messages[i].text))
    ]
    if len(given_up) >= helpless:
        index, words = given_up[-1]
        return index, f"could not help, as it said {len(given_up)} times,", words
    return None


def _last_met(conversation: Conversation, start: int, named: Sequence[str]) -> int:
    """Return the last message at which the agent handed over or the user took the wish back.

    Either settles every need before it, however long it took.
    """
    definitions = {tool.name: tool for tool in conversation.tools}
    # Where only a span told of the hand-over its place is unknown; it may have come at the end.
    end = len(conversation.messages)
    handed = (
        call.asked_at if call.asked_at >= 0 else end
        for call in conversation.tool_calls
        if is_handover(call.name, definitions.get(call.name), named)
        and outcome_of(call).kind != "error"
    )
    settled = max(handed, default=-1)
    for index in range(len(conversation.messages) - 1, max(start, settled), -1):
        message = conversation.messages[index]
        if message.role == "user" and withdrawn(message.text):
            return index
        if message.role == "assistant" and hands_over_now(message.text):
            return index
    return settled


def _answered(conversation: Conversation, index: int, need: str) -> bool:
    """Say whether the reply to a need met it with an offer or with help, or never came."""
    danger = "harm" in need or "emergency" in need
    if need.startswith("could"):
        return bool(hands_over(conversation.messages[index].text))
    answered = False
    for message in conversation.messages[index + 1 :]:
        if message.role == "assistant":
            answered = True
            if hands_over(message.text) or (danger and points_to_help(message.text)):
                return True
        elif message.role == "user" and answered:
            return False
    return not answered
