"""Find searches that were asked again in other words and brought the same."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from collector.model import ToolCall
from scorers.rules.spelling import answer_digest, signature
from scorers.rules.stems import EMPTY_WORDS, stem, words_of
from scorers.rules.tool_effect import effect_of
from scorers.rules.tool_outcome import outcome_of

_ALIKE = 0.5
"""Share of common words from which two searches are the same one."""
_FEW_WORDS = 2
_MAX_COMPARED = 50


def reworded(stretch: Sequence[ToolCall], repeats: int) -> list[ToolCall]:
    """Return the calls that ask again, in other words, what had the same answer before.

    They are of one tool that only looks, differ in one text alone, share at least half of its
    words with the first, and have one result, or none, or fail. Empty when there are not more
    of them than ``repeats``: one more than for calls that are equal.
    """
    names = Counter(call.name for call in stretch)
    for name, count in names.most_common():
        if count < repeats + 2:
            break
        if effect_of(name) == "write":
            continue
        calls = [c for c in stretch if c.name == name and c.result is not None][:_MAX_COMPARED]
        for answer, _ in Counter(map(_answer, calls)).most_common(1):
            again = _alike([call for call in calls if _answer(call) == answer])
            if len(again) > repeats:
                return again
    return []


def _answer(call: ToolCall) -> str:
    kind = outcome_of(call).kind
    return kind if kind in ("error", "empty") else answer_digest(call.result or "")


def _alike(calls: Sequence[ToolCall]) -> list[ToolCall]:
    if not calls:
        return []
    key, rest = _text_of(calls[0])
    words = _words(calls[0], key)
    if not key or len(words) < _FEW_WORDS:
        return []
    found = []
    seen = {signature(calls[0].arguments)}
    for call in calls[1:]:
        other, its_rest = _text_of(call)
        its_words = _words(call, other)
        union = words | its_words
        alike = other == key and its_rest == rest and len(words & its_words) >= _ALIKE * len(union)
        if alike and call.asked_at != calls[0].asked_at:
            found.append(call)
            seen.add(signature(call.arguments))
    # equal calls are looping's own matter
    return found if len(seen) > 1 else []


def _text_of(call: ToolCall) -> tuple[str, str]:
    """Return the name of the argument that holds most words, and all other arguments in one string."""
    arguments = call.arguments if isinstance(call.arguments, dict) else {}
    texts = [key for key, value in arguments.items() if isinstance(value, str) and " " in value]
    key = max(texts, key=lambda one: len(str(arguments[one])), default="")
    return key, signature({k: v for k, v in arguments.items() if k != key})


def _words(call: ToolCall, key: str) -> frozenset[str]:
    value = call.arguments.get(key) if isinstance(call.arguments, dict) else None
    words = words_of(value) if isinstance(value, str) else []
    return frozenset(stem(one) for one in words if one.lower() not in EMPTY_WORDS)
