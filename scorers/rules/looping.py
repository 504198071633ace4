"""Flag an agent that goes round in circles."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Annotated, TypeAlias

import msgspec

from collector.model import Conversation, Evidence, ToolCall
from scorers.result import Score, ScorerResult, Skip
from scorers.rules.near_queries import reworded
from scorers.rules.repeated_messages import repeated_message, stopped_at_limit
from scorers.rules.spelling import answer_digest, signature
from scorers.rules.tool_effect import effect_of
from scorers.rules.tool_outcome import outcome_of
from scorers.rules.waste import Waste, wasted
from scorers.scorer import scorer

_Key: TypeAlias = tuple[str, str]
"""Name and arguments of a call, spelling aside."""

_QUOTES = 4
_QUOTE_CHARS = 160


@scorer(level="conversation", version="2")
def looping(
    conversation: Conversation, *, repeats: Annotated[int, msgspec.Meta(ge=1)] = 3
) -> ScorerResult:
    """Flag an agent that makes the same calls again and again and learns nothing new.

    A repeat is a call with the same arguments, spelling aside, whose result is the same as
    before; a failing call repeats itself whatever its error says. ``repeats`` of one call are
    a loop (so one or two retries are not), and one fewer is when two or more calls alternate.
    A search in other words with the same result repeats too; it takes one more. The count
    starts again when the user speaks and when another call has changed something. So is
    a message that is said again ``repeats`` times, and the end at a limit of steps.

    The value falls from 1 towards 0 with the share of calls that were repeats.
    """
    calls = [call for call in conversation.tool_calls if call.requestor == "agent"]
    told = _in_words(conversation, repeats)
    if told is not None:
        return told
    if not calls:
        return Skip(reason="no_tool_calls")
    if all(call.result is None for call in calls):
        return Skip(reason="no_results")
    worst = _worst(conversation, calls, repeats)
    if worst is None:
        return Score(value=1.0, verdict="pass", reason="No call was repeated without a reason.")
    return Score(
        value=round(0.5 * (1 - len(worst.again) / len(calls)), 4),
        verdict="fail",
        reason=_reason(worst),
        evidence=tuple(_evidence(conversation, call) for call in worst.again[:_QUOTES]),
    )


def wasted_by_looping(conversation: Conversation, repeats: int = 3) -> Waste:
    """Return what the model calls that asked for the repeats of the worst loop used."""
    calls = [call for call in conversation.tool_calls if call.requestor == "agent"]
    worst = _worst(conversation, calls, repeats) if calls else None
    return wasted(conversation, worst.again if worst else ())


def _worst(conversation: Conversation, calls: Sequence[ToolCall], repeats: int) -> _Loop | None:
    return _longest(_loop(stretch, repeats) for stretch in _stretches(conversation, calls))


def _in_words(conversation: Conversation, repeats: int) -> Score | None:
    """Judge what the agent says: the same again, or that it was stopped."""
    messages = conversation.messages
    if stopped := stopped_at_limit(conversation):
        index, words = stopped
        shown = Evidence(message=index, quote=words)
        reason = "The agent went on until it was stopped at its limit of steps."
        return Score(value=0.0, verdict="fail", reason=reason, evidence=(shown,))
    again = repeated_message(conversation, repeats)
    if not again:
        return None
    return Score(
        value=round(0.5 / len(again), 4),
        verdict="fail",
        reason=f"The agent said the same {len(again)} times.",
        evidence=tuple(
            Evidence(message=index, quote=messages[index].text[:_QUOTE_CHARS])
            for index in again[:_QUOTES]
        ),
    )


class _Loop(msgspec.Struct, frozen=True, kw_only=True):
    """The calls that brought nothing new, in order."""

    again: tuple[ToolCall, ...]
    names: tuple[str, ...]
    failing: bool
    reworded: bool = False


class _Seen(msgspec.Struct):
    """What is known of one call by its arguments, in one stretch."""

    failures: int = 0
    results: set[str] = msgspec.field(default_factory=set)
    again: list[ToolCall] = msgspec.field(default_factory=list)
    last_asked: int = -1


def _stretches(conversation: Conversation, calls: Sequence[ToolCall]) -> Iterator[list[ToolCall]]:
    """Cut the calls where the user spoke between them; agents are told to do things again."""
    spoken = [i for i, m in enumerate(conversation.messages) if m.role == "user"]
    spoken.reverse()
    stretch: list[ToolCall] = []
    for call in calls:
        new = False
        while spoken and 0 <= spoken[-1] < call.asked_at:
            spoken.pop()
            new = True
        if new and stretch:
            yield stretch
            stretch = []
        stretch.append(call)
    yield stretch


def _loop(stretch: Sequence[ToolCall], repeats: int) -> _Loop | None:
    """Return the loop in a stretch of calls, if there is one."""
    least = min(repeats, _rounds(repeats)) + 1
    keys = _keys_of_repeated(stretch, least)
    if not keys:
        return _reworded(stretch, repeats)
    found: list[_Loop | None] = []
    seen: dict[_Key, _Seen] = {}
    for position, call in enumerate(stretch):
        key = keys.get(position)
        known = None if key is None else seen.setdefault(key, _Seen())
        fresh = known is None or _note(known, call)
        if fresh and len(seen) > (known is not None) and _changes(call):
            found.append(_found(seen, repeats))
            seen = {} if key is None or known is None else {key: known}
    found.append(_found(seen, repeats))
    return _longest(found) or _reworded(stretch, repeats)


def _reworded(stretch: Sequence[ToolCall], repeats: int) -> _Loop | None:
    again = reworded(stretch, repeats) if len(stretch) > repeats + 1 else []
    if not again:
        return None
    return _Loop(again=tuple(again), names=(again[0].name,), failing=False, reworded=True)


def _longest(loops: Iterable[_Loop | None]) -> _Loop | None:
    return max((one for one in loops if one), key=lambda one: len(one.again), default=None)


def _keys_of_repeated(stretch: Sequence[ToolCall], least: int) -> dict[int, _Key]:
    """Return the keys of the calls that occur at least so often, by position.

    Names are counted first, so that most conversations never pay for comparing arguments.
    """
    names = Counter(call.name for call in stretch)
    keys = {
        position: (call.name, signature(call.arguments))
        for position, call in enumerate(stretch)
        if names[call.name] >= least and call.result is not None
    }
    counts = Counter(keys.values())
    return {position: key for position, key in keys.items() if counts[key] >= least}


def _rounds(repeats: int) -> int:
    """Return how many rounds of alternating calls are a loop; each round wastes two calls."""
    return max(2, repeats - 1)


def _note(known: _Seen, call: ToolCall) -> bool:
    """Take a call down and say whether it brought anything new."""
    together = known.last_asked == call.asked_at >= 0
    known.last_asked = call.asked_at
    failed = outcome_of(call).kind == "error"
    result = "" if failed else answer_digest(call.result or "")
    if failed:
        known.failures += 1
    fresh = result not in known.results
    known.results.add(result)
    # calls asked for in one breath could not learn from each other
    if not fresh and not together:
        known.again.append(call)
    return fresh or together


def _changes(call: ToolCall) -> bool:
    return effect_of(call.name) == "write" and outcome_of(call).kind != "error"


def _found(seen: Mapping[_Key, _Seen], repeats: int) -> _Loop | None:
    """Return the loop among the calls seen since something last changed."""
    worst = max(seen.values(), key=lambda one: len(one.again), default=None)
    if worst is None:
        return None
    turning = [one for one in seen.values() if len(one.again) >= _rounds(repeats)]
    if len(turning) < 2:
        if len(worst.again) < repeats:
            return None
        turning = [worst]
    again = sorted((c for one in turning for c in one.again), key=lambda c: c.asked_at)
    return _Loop(
        again=tuple(again),
        names=tuple(dict.fromkeys(call.name for call in again)),
        failing=len(turning) == 1 and worst.failures > len(worst.again),
    )


def _reason(loop: _Loop) -> str:
    count = len(loop.again)
    if loop.reworded:
        return f"The agent asked {loop.names[0]} the same {count} times more in other words, and the answer was the same."
    if len(loop.names) > 1:
        return f"The agent went round between {' and '.join(loop.names[:3])}: {count} of the calls told it nothing new."
    if loop.failing:
        return (
            f"The agent repeated the failing call {loop.names[0]} {count} times without a change."
        )
    return f"The agent repeated the call {loop.names[0]} {count} times and got the same result."


def _evidence(conversation: Conversation, call: ToolCall) -> Evidence:
    at = call.answered_at
    if 0 <= at < len(conversation.messages):
        quote = conversation.messages[at].text[:_QUOTE_CHARS]
        return Evidence(message=at, tool_call_id=call.id, span_id=call.span_id, quote=quote)
    return Evidence(tool_call_id=call.id, span_id=call.span_id, quote=call.name)
