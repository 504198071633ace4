"""Hold an agent against rules that its owner wrote down."""

from __future__ import annotations

import re
from collections.abc import Sequence
from fnmatch import fnmatchcase

import msgspec

from collector.model import Conversation, Evidence, ToolCall
from scorers.result import Score, ScorerResult, Skip
from scorers.rules.agreement import agreed
from scorers.rules.earlier_calls import earlier_calls
from scorers.rules.policy_rule import PolicyRule
from scorers.rules.tool_outcome import outcome_of
from scorers.scorer import scorer

_QUOTE_CHARS = 160
_TOLD = 4
_MAX_REASON = 600
_MAX_EVIDENCE = 8


@scorer(level="conversation", version="1")
def policy(conversation: Conversation, *, rules: tuple[PolicyRule, ...] = ()) -> ScorerResult:
    """Hold an agent against the ``rules`` of its owner: what it may call, when, how often, what it must say.

    Each rule makes one demand. Of the calls of a ``tool`` (a name with ``*``, or ``writes``), all
    or those whose ``arguments`` fit a JSON Schema: ``needs_before`` (one of these tools has
    worked earlier, with the ``same`` values), ``forbidden``, ``at_most``, ``needs_confirmation``
    (the user's last words were a yes). Of the episode: ``max_steps``, ``max_cost_usd``,
    ``must_say``, ``must_not_say``. The value is the share of rules kept; a broken one fails.
    Skips with ``no_rules`` where none is for the agent, ``no_content`` when nothing was recorded.
    """
    agent = conversation.identity.agent
    applying = [rule for rule in rules if not rule.agents or agent in rule.agents]
    if not applying:
        return Skip(reason="no_rules")
    if not conversation.messages and not conversation.tool_calls:
        return Skip(reason="no_content")
    facts = _Facts(
        conversation=conversation,
        calls=tuple(call for call in conversation.tool_calls if call.requestor == "agent"),
        before=tuple(earlier_calls(conversation)),
    )
    breaches = [breach for rule in applying if (breach := _breach(rule, facts)) is not None]
    if not breaches:
        many = f"All {len(applying)} rules are" if len(applying) > 1 else "The rule is"
        return Score(value=1.0, verdict="pass", reason=f"{many} kept.")
    told = "; ".join(breach.text for breach in breaches[:_TOLD])
    more = f"; and {len(breaches) - _TOLD} more" if len(breaches) > _TOLD else ""
    return Score(
        value=round(1 - len(breaches) / len(applying), 4),
        verdict="fail",
        reason=f"{len(breaches)} of {len(applying)} rules broken: {told}{more}."[:_MAX_REASON],
        evidence=tuple(breach.evidence for breach in breaches[:_MAX_EVIDENCE]),
    )


class _Facts(msgspec.Struct, frozen=True, kw_only=True):
    """What the rules look at."""

    conversation: Conversation
    calls: tuple[ToolCall, ...]
    before: tuple[ToolCall, ...]
    """Calls of earlier episodes."""


class _Breach(msgspec.Struct, frozen=True, kw_only=True):
    text: str
    evidence: Evidence


def _breach(rule: PolicyRule, facts: _Facts) -> _Breach | None:
    if rule.tool:
        return _of_calls(rule, facts)
    if rule.must_say or rule.must_not_say:
        return _of_words(rule, facts.conversation)
    return _of_cost(rule, facts.conversation)


def _of_calls(rule: PolicyRule, facts: _Facts) -> _Breach | None:
    definitions = {one.name: one for one in facts.conversation.tools}
    made = [call for call in facts.calls if rule.is_about(call, definitions.get(call.name))]
    if rule.at_most is not None:
        if len(made) <= rule.at_most:
            return None
        text = f"{len(made)} calls to {rule.tool}, at most {rule.at_most} are allowed"
        return _found(rule, text, facts, made[rule.at_most])
    for call in made:
        if rule.forbidden:
            return _found(rule, f"{call.name[:80]} was called", facts, call)
        if rule.needs_before and not _preceded(rule, call, facts):
            wanted = " or ".join(rule.needs_before[:3])
            return _found(rule, f"{call.name[:80]} was called before {wanted} worked", facts, call)
        if rule.needs_confirmation and not agreed(facts.conversation.messages, call.asked_at):
            text = f"{call.name[:80]} was called without the user's yes"
            return _found(rule, text, facts, call)
    return None


def _preceded(rule: PolicyRule, call: ToolCall, facts: _Facts) -> bool:
    earlier = [*facts.before]
    for one in facts.calls:
        if one is call:
            break
        # calls asked for in one message run side by side, so none of them is before the other
        if one.asked_at < 0 or one.asked_at != call.asked_at:
            earlier.append(one)
    return any(
        any(fnmatchcase(one.name, name) for name in rule.needs_before)
        and outcome_of(one).kind != "error"
        and all(_argument(one, name) == _argument(call, name) for name in rule.same)
        for one in earlier
    )


def _argument(call: ToolCall, name: str) -> str:
    value = call.arguments.get(name) if isinstance(call.arguments, dict) else None
    return str(value).strip().lower()


def _of_words(rule: PolicyRule, conversation: Conversation) -> _Breach | None:
    said = _said(conversation)
    if rule.must_not_say:
        pattern = re.compile(rule.must_not_say)
        for index, text in said:
            if found := pattern.search(text):
                quote = found[0][:_QUOTE_CHARS]
                evidence = Evidence(message=index, quote=quote)
                return _Breach(text=f"{rule.name}: it said {quote[:60]!r}", evidence=evidence)
        return None
    if not said or any(re.search(rule.must_say, text) for _, text in said):
        return None
    index, text = said[-1]
    return _Breach(
        text=f"{rule.name}: it never said what matches {rule.must_say[:60]!r}",
        evidence=Evidence(message=index, quote=text[:_QUOTE_CHARS]),
    )


def _of_cost(rule: PolicyRule, conversation: Conversation) -> _Breach | None:
    if rule.max_steps is not None:
        steps = len(conversation.llm_calls) or len(_asked(conversation))
        if steps <= rule.max_steps:
            return None
        text = f"{steps} steps, at most {rule.max_steps} are allowed"
    else:
        cost = sum(call.cost_usd or 0.0 for call in conversation.llm_calls)
        most = rule.max_cost_usd or 0.0
        if cost <= most:
            return None
        text = f"it cost {cost:.4f} USD, at most {most:g} are allowed"
    said = _asked(conversation)
    last = conversation.llm_calls[-1].span_ids[:1] if conversation.llm_calls else ()
    evidence = Evidence(message=said[-1] if said else -1, span_id=last[0] if last else "")
    return _Breach(text=f"{rule.name}: {text}", evidence=evidence)


def _said(conversation: Conversation) -> Sequence[tuple[int, str]]:
    messages = conversation.messages
    return [(index, messages[index].text) for index in _asked(conversation) if messages[index].text]


def _asked(conversation: Conversation) -> list[int]:
    """Return where the agent spoke or called in this episode."""
    first = conversation.episode.first_message
    messages = enumerate(conversation.messages[first:], first)
    return [index for index, message in messages if message.role == "assistant"]


def _found(rule: PolicyRule, text: str, facts: _Facts, call: ToolCall) -> _Breach:
    first, end = facts.conversation.episode.first_message, len(facts.conversation.messages)
    at = call.asked_at if first <= call.asked_at < end else -1
    evidence = Evidence(
        message=at, tool_call_id=call.id, span_id=call.span_id, quote=call.name[:_QUOTE_CHARS]
    )
    return _Breach(text=f"{rule.name}: {text}", evidence=evidence)
