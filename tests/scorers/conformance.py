"""Say what every scorer has to hold, whoever wrote it.

Each check takes a scorer and a conversation and asserts; ``test_conformance`` runs them over
every registered one.
"""

from __future__ import annotations

import json
import sys
from types import FrameType
from typing import Any

import msgspec

from collector.builder import conversation_of
from collector.model import Conversation, Evidence, Message, ToolCall, Turn
from scorers.result import Failure, Score, ScorerResult, Skip
from scorers.scorer import ScorerInfo

Target = Turn | ToolCall | None


def targets(info: ScorerInfo, conversation: Conversation) -> list[Target]:
    """Return what the scorer judges in a conversation; ``None`` stands for all of it."""
    if info.level == "turn":
        return list(conversation.turns)
    if info.level == "tool_call":
        return list(conversation.tool_calls)
    return [None]


def judge(info: ScorerInfo, conversation: Conversation, target: Target) -> ScorerResult:
    """Run the scorer on one target; whatever it raises comes through."""
    arguments = () if target is None else (target,)
    result: ScorerResult = info.function(conversation, *arguments, **info.options)
    return result


def judge_all(info: ScorerInfo, conversation: Conversation) -> list[ScorerResult]:
    """Run the scorer on every target."""
    return [judge(info, conversation, target) for target in targets(info, conversation)]


def check_result(info: ScorerInfo, conversation: Conversation) -> None:
    """Hold that results are sound: their type, range, words and evidence."""
    for result in judge_all(info, conversation):
        if isinstance(result, Skip):
            assert result.reason.isidentifier()
            assert result.reason == result.reason.lower()
            continue
        assert not isinstance(result, Failure), f"a rule does not fail: {result}"
        assert isinstance(result, Score)
        assert 0.0 <= result.value <= 1.0
        assert result.verdict in ("pass", "fail")
        assert result.reason
        assert len(result.reason) < 1_000
        if result.verdict == "fail":
            assert result.evidence, "a failing verdict shows where it looked"
        json.dumps(msgspec.to_builtins(result), allow_nan=False)
        for item in result.evidence:
            check_evidence(conversation, item)


def check_evidence(conversation: Conversation, item: Evidence) -> None:
    """Hold that a quote stands in the message it cites, and that the message is the episode's."""
    assert len(item.quote) <= 1_000
    if item.message < 0:
        assert item.tool_call_id or item.span_id or not item.quote
        return
    assert conversation.episode.first_message <= item.message < len(conversation.messages)
    assert any(item.quote in text for text in citable(conversation.messages[item.message]))


def citable(message: Message) -> list[str]:
    """Return the texts of a message that a quote may come from."""
    texts = [message.text]
    for request in message.tool_requests:
        texts += [request.name, json.dumps(request.arguments, ensure_ascii=False, default=str)]
        texts += _strings(request.arguments)
    return texts


def _strings(value: Any) -> list[str]:
    if isinstance(value, dict):
        inner = [text for item in value.values() for text in _strings(item)]
        return [*map(str, value), *inner]
    if isinstance(value, list):
        return [text for item in value for text in _strings(item)]
    return [str(value)]


def check_deterministic(info: ScorerInfo, conversation: Conversation) -> None:
    """Hold that the same conversation, also as an equal copy, is judged the same."""
    copy = msgspec.structs.replace(conversation, messages=tuple(conversation.messages))
    assert judge_all(info, conversation) == judge_all(info, copy)
    backwards = [judge(info, copy, one) for one in reversed(targets(info, copy))]
    assert judge_all(info, conversation) == backwards[::-1]


def check_prefix(info: ScorerInfo, conversation: Conversation) -> None:
    """Hold that a turn or call is judged the same when the conversation ends right after it.

    A call whose result comes later is left out: what is judged may depend on it.
    """
    for position, target in enumerate(targets(info, conversation)):
        if isinstance(target, Turn):
            end = target.end_message
        elif isinstance(target, ToolCall) and target.answered_at >= 0:
            end = target.answered_at + 1
        else:
            continue
        prefix = prefix_of(conversation, end)
        cut = targets(info, prefix)[position]
        if cut != target:
            # another call of the same id took the result; it is not the same target
            continue
        early = [c for c in conversation.tool_calls if c.asked_at < end <= c.answered_at]
        if early:
            continue
        assert judge(info, prefix, cut) == judge(info, conversation, target)


def prefix_of(conversation: Conversation, end: int) -> Conversation:
    """Return the conversation as it stood before the message ``end``."""
    return conversation_of(
        conversation.messages[:end],
        id=conversation.id,
        identity=conversation.identity,
        episode=conversation.episode,
        system_prompt=conversation.system_prompt,
        tools=conversation.tools,
        documents=conversation.documents,
    )


def calls_made(info: ScorerInfo, conversation: Conversation) -> int:
    """Count the Python and C functions that judging every target calls."""
    count = 0

    def profile(_frame: FrameType, event: str, _argument: object) -> None:
        nonlocal count
        if event in ("call", "c_call"):
            count += 1

    before = sys.getprofile()
    sys.setprofile(profile)
    try:
        judge_all(info, conversation)
    finally:
        sys.setprofile(before)
    return count
