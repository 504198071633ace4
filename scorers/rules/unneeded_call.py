"""Find calls that the agent could have done without."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from functools import lru_cache

from collector.model import Conversation, Evidence, JsonValue, ToolCall, ToolDefinition
from scorers.result import Score, ScorerResult, Skip
from scorers.rules.grounds import grounds_of
from scorers.rules.handover import is_handover
from scorers.rules.identity import Same
from scorers.rules.spelling import same_answer, signature
from scorers.rules.stems import EMPTY_WORDS, stem, words_of
from scorers.rules.tool_effect import effect_of
from scorers.rules.tool_effect import words_of as name_words
from scorers.rules.tool_outcome import outcome_of
from scorers.scorer import scorer

_QUOTE_CHARS = 160
_MAX_WORDS = 4_000
_ENGLISH = 3
"""Small English words that a user's text has to hold before its words are compared."""
_FEW_WORDS = 4
"""Words of its own that a tool has to have before it can be called unrelated."""
_POLLING = frozenset(
    "status state progress poll wait job task run build ping health watch monitor next time now random".split()  # noqa: SIM905 - a word list is read as prose
)
"""Tools that are asked again because the answer may change by itself."""
_ANY_TIME = frozenset(
    "think thought plan reason reflect note memo memory remember log todo calculate calculator calc compute math eval evaluate python code execute run shell bash search web browse date time day today now convert transcript answer finish final submit respond".split()  # noqa: SIM905 - a word list is read as prose
)
"""Tools that fit whatever is being talked about."""
_AGAIN = re.compile(
    r"\b(?:again|re-?check|re-?load|refresh|once more|double[- ]?check|still|updated?|now|latest|another look|retry|repeat|verify)\b",
    re.IGNORECASE,
)
_NEUTRAL = frozenset(map(stem, ("tool", "function", "return", "given", "get", "list", "string", "number", "value", "id", "name", "use", "call", "specify", "optional", "default", "required", "type", "input", "output", "parameter", "result", "user", "information", "data", "provide", "find", "search", "new", "example", "format")))  # fmt: skip


@scorer(level="tool_call", version="1")
def unneeded_call(conversation: Conversation, call: ToolCall) -> ScorerResult:
    """Fail a call for what the agent had in hand, or that nothing said so far has to do with.

    In hand: the same tool that only looks, asked the same with the same answer, though nothing
    was changed between and the user did not want another look; also one of two equal calls in
    one message. Unrelated: no word of the tool's declaration and none of the texts in its
    arguments, of which there are some, stands in what the user, the tools and the documents
    said. Tools that wait for something may be asked again, and tools to think, calculate,
    search, tell the time or hand over fit everywhere. Skips with ``no_position`` when it is not known where the call was made.
    """
    if call.requestor != "agent":
        return Skip(reason="not_the_agents")
    if not 0 <= call.asked_at < len(conversation.messages):
        return Skip(reason="no_position")
    before = _repeats(Same(conversation)).get(id(call))
    if before is not None:
        when = "in the same message" if before.asked_at == call.asked_at else "before"
        return _failed(
            call, f"The call of {call.name[:80]} was made {when} and its answer was the same."
        )
    definition = _definitions(Same(conversation.tools)).get(call.name)
    if definition is not None and _is_unrelated(conversation, call, definition):
        reason = (
            f"Nothing that was said before the call of {call.name[:80]} has to do with that tool."
        )
        return _failed(call, reason)
    return Score(value=1.0, verdict="pass", reason="The call asks for something new.")


@lru_cache(maxsize=2)
def _definitions(same: Same[tuple[ToolDefinition, ...]]) -> dict[str, ToolDefinition]:
    return {tool.name: tool for tool in same.record}


def _failed(call: ToolCall, reason: str) -> Score:
    quote = call.name or json.dumps(call.arguments, ensure_ascii=False)
    shown = Evidence(
        message=call.asked_at,
        tool_call_id=call.id,
        span_id=call.span_id,
        quote=quote[:_QUOTE_CHARS],
    )
    return Score(value=0.0, verdict="fail", reason=reason, evidence=(shown,))


def redundant_calls(conversation: Conversation) -> Counter[str]:
    """Count the calls for what the agent had in hand, by the name of their tool."""
    again = _repeats(Same(conversation))
    return Counter(call.name for call in conversation.tool_calls if id(call) in again)


@lru_cache(maxsize=2)
def _repeats(same: Same[Conversation]) -> dict[int, ToolCall]:
    """Return, by the identity of a call that brought nothing new, the call that had its answer."""
    conversation = same.record
    definitions = {tool.name: tool for tool in conversation.tools}
    again = [
        i for i, m in enumerate(conversation.messages) if m.role == "user" and _AGAIN.search(m.text)
    ]
    seen: dict[tuple[str, str], ToolCall] = {}
    found: dict[int, ToolCall] = {}
    for call in conversation.tool_calls:
        if call.requestor != "agent" or effect_of(call.name, definitions.get(call.name)) != "read":
            if outcome_of(call).kind != "error":
                seen.clear()
            continue
        if call.result is None or outcome_of(call).kind == "error":
            continue
        key = (call.name, signature(call.arguments))
        earlier = seen.get(key)
        seen[key] = call
        if earlier is None or not _POLLING.isdisjoint(name_words(call.name)):
            continue
        if any(earlier.asked_at < at < call.asked_at for at in again):
            continue
        if same_answer(earlier.result or "", call.result):
            found[id(call)] = earlier
    return found


def _is_unrelated(conversation: Conversation, call: ToolCall, definition: ToolDefinition) -> bool:
    values = [one for one in _values(call.arguments) if any(map(str.isalpha, one))]
    grounds = grounds_of(conversation)
    if not values or any(grounds.holds(one, call.asked_at) for one in values):
        return False
    if not _ANY_TIME.isdisjoint(name_words(call.name)) or is_handover(call.name, definition):
        return False
    words = _tool_words(Same(definition))
    if len(words) < _FEW_WORDS:
        return False
    spoken = _spoken(Same(conversation)).before(call.asked_at)
    return spoken is not None and not words & spoken


class _Spoken:
    """The words said so far, asked for later and later messages in turn."""

    def __init__(self, conversation: Conversation) -> None:
        self._messages = conversation.messages
        self._first = frozenset[str]().union(*(_stems(d.text) for d in conversation.documents))
        self._stems = set(self._first)
        self._small: set[str] = set()
        self._read = 0

    def before(self, message: int) -> set[str] | None:
        """Return the stems of what stands before a message; ``None`` when it is not English."""
        if message < self._read:
            self._stems, self._small, self._read = set(self._first), set(), 0
        for one in self._messages[self._read : message]:
            if one.role in ("user", "tool"):
                self._stems |= _stems(one.text)
            if one.role == "user":
                self._small.update(EMPTY_WORDS.intersection(one.text.lower().split()))
        self._read = max(self._read, message)
        return self._stems if len(self._small) >= _ENGLISH else None


@lru_cache(maxsize=2)
def _spoken(same: Same[Conversation]) -> _Spoken:
    return _Spoken(same.record)


@lru_cache(maxsize=512)
def _tool_words(same: Same[ToolDefinition]) -> frozenset[str]:
    definition = same.record
    texts = [" ".join(name_words(definition.name)), definition.description]
    texts += _texts(definition.parameters)
    return _stems(" ".join(texts)) - _NEUTRAL


def _texts(schema: JsonValue) -> Iterator[str]:
    """Yield the names and descriptions of the arguments, and the values they may take."""
    properties = schema.get("properties") if isinstance(schema, dict) else None
    for name, about in properties.items() if isinstance(properties, dict) else ():
        yield name.replace("_", " ")
        if isinstance(about, dict):
            yield str(about.get("description") or "")
            options = about.get("enum")
            yield " ".join(map(str, options)) if isinstance(options, list) else ""


def _values(arguments: JsonValue) -> Iterator[str]:
    for one in arguments.values() if isinstance(arguments, dict) else ():
        if isinstance(one, dict | list):
            yield from _values(one if isinstance(one, dict) else dict(enumerate(one)))  # type: ignore[arg-type]
        elif isinstance(one, str) and one:
            yield one


def _stems(text: str) -> frozenset[str]:
    words = words_of(text)[:_MAX_WORDS]
    return frozenset(stem(w) for w in words if len(w) > 2 and w.lower() not in EMPTY_WORDS)
