"""Hold what the agent had been told at each point of a conversation, for fast look-ups."""

from __future__ import annotations

import re
from functools import lru_cache

import msgspec

from collector.model import Conversation
from scorers.rules.figures import given_by
from scorers.rules.identifiers import identifiers_of
from scorers.rules.identity import Same
from scorers.rules.tool_outcome import outcome_of

_MAX_CHARS = 1_000_000
"""A look-up searches no further, so that its cost is bounded."""
_MAX_NEAR_MISSES = 200
_SEPARATORS = {ord(c): None for c in " \t\r\n-_.()/+#:,'\"*`"}


class Grounds:
    """Search what the user, the tools, the documents and the instructions have said so far.

    The agent's own words are left out: they ground nothing.
    """

    def __init__(self, conversation: Conversation) -> None:
        parts = [conversation.system_prompt, *(d.text for d in conversation.documents)]
        self._parts = ["\n".join(parts).lower()]
        self._parts.extend(
            "" if m.role == "assistant" else m.text.lower() for m in conversation.messages
        )
        self._spoken = _Text.of(self._parts)
        self._compact: _Text | None = None
        self._tools = conversation.tools
        self._declared: str | None = None
        self._calls = conversation.tool_calls
        self._proven: dict[str, int] | None = None
        self._figures: set[str] = set()
        self._read = 0
        self._first: dict[re.Pattern[str], int] = {}
        results = (i for i, m in enumerate(conversation.messages) if m.role == "tool")
        self._first_result = next(results, len(conversation.messages))
        unanswered = (call.asked_at for call in self._calls if call.result is None)
        self._unanswered = min(unanswered, default=len(conversation.messages))

    def nothing_said(self, before: int) -> bool:
        """Say whether no user and no tool had spoken before a message."""
        return self._spoken.ends[before] == len(self._parts[0]) + before

    def holds(self, value: str, before: int) -> bool:
        """Say whether a value stands in what was said before a message, spelling aside.

        A value of under five characters must stand as a word of its own; a longer one may be
        part of a longer word. Beyond a million characters the answer is always yes.
        """
        end = self._spoken.ends[before]
        if end > _MAX_CHARS:
            return True
        wanted = value.lower()
        return (
            _stands(self._spoken.text, wanted, end)
            or self._holds_compact(wanted, before)
            or _stands(self._declarations(), wanted, None)
        )

    def _holds_compact(self, wanted: str, before: int) -> bool:
        """Say whether the value was said with other spaces and punctuation."""
        joined = wanted.translate(_SEPARATORS)
        if len(joined) < 5:
            return False
        if self._compact is None:
            self._compact = _Text.of([part.translate(_SEPARATORS) for part in self._parts])
        return _stands(self._compact.text, joined, self._compact.ends[before])

    def has(self, pattern: re.Pattern[str], before: int) -> bool:
        """Say whether a pattern, written for small letters, matches in what was said before a message."""
        if pattern not in self._first:
            found = pattern.search(self._spoken.text, 0, _MAX_CHARS)
            self._first[pattern] = len(self._spoken.text) if found is None else found.start()
        return self._first[pattern] < self._spoken.ends[before]

    def has_results(self, before: int) -> bool:
        """Say whether a tool had answered before a message."""
        return self._first_result < before

    def figures(self, before: int) -> set[str]:
        """Return the numbers in what was said before a message.

        Asked for later and later messages in turn, it reads each message once.
        """
        end = self._spoken.ends[before]
        if end < self._read:
            self._read, self._figures = 0, set()
        if end > self._read:
            self._figures |= given_by(self._spoken.text[self._read : end])
            self._read = end
        return self._figures

    def incomplete(self, before: int) -> bool:
        """Say whether the result of a call that was asked for before a message is not known."""
        return self._unanswered < before

    def proven(self, identifier: str, before: int) -> bool:
        """Say whether a call asked for before a message has used the id and worked."""
        if self._proven is None:
            self._proven = {}
            for call in self._calls:
                if outcome_of(call).kind == "ok":
                    for one in identifiers_of(call.arguments):
                        self._proven.setdefault(one.value, call.asked_at)
        return self._proven.get(identifier, before) < before

    def _declarations(self) -> str:
        """Return the tools' descriptions and schemas: enums, defaults and examples stand there."""
        if self._declared is None:
            parts = [f"{tool.description}\n{tool.parameters}" for tool in self._tools]
            self._declared = "\n".join(parts).lower()[:_MAX_CHARS]
        return self._declared


class _Text(msgspec.Struct, frozen=True, kw_only=True):
    """Parts joined into one text, and how far it reaches before each message."""

    text: str
    ends: tuple[int, ...]

    @classmethod
    def of(cls, parts: list[str]) -> _Text:
        ends = []
        length = 0
        for part in parts:
            length += len(part) + 1
            ends.append(length - 1)
        return cls(text="\n".join(parts), ends=tuple(ends))


@lru_cache(maxsize=2)
def _grounds(same: Same[Conversation]) -> Grounds:
    return Grounds(same.record)


def grounds_of(conversation: Conversation) -> Grounds:
    """Return the grounds of a conversation; its calls and turns, judged in a row, share them."""
    return _grounds(Same(conversation))


def _stands(text: str, wanted: str, end: int | None) -> bool:
    """Say whether the text up to ``end`` holds the wanted characters."""
    if not wanted:
        return True
    stop = len(text) if end is None else end
    at = text.find(wanted, 0, stop)
    if len(wanted) >= 5:
        return at >= 0
    for _ in range(_MAX_NEAR_MISSES):
        if at < 0:
            return False
        after = at + len(wanted)
        if not (at and text[at - 1].isalnum()) and not (after < stop and text[after].isalnum()):
            return True
        at = text.find(wanted, at + 1, stop)
    return at >= 0
