"""Keep account of what an agent has done by the time it speaks."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

import msgspec

from collector.model import Conversation, JsonValue, ToolCall
from scorers.rules.acts import ACTS, Act, acts_of
from scorers.rules.earlier_calls import earlier_calls
from scorers.rules.tool_effect import effect_of
from scorers.rules.tool_outcome import ToolOutcome, outcome_of

_WORD = re.compile(r"#?\w[\w-]{3,}")
_DIGITS = re.compile(r"\d+")
_IDENTIFIER = re.compile(r"(?=[\w#-]*\d)(?=[\w#-]*[a-z#])")
_LETTERS = re.compile(r"[a-z]+")
_RECENT = 8


class Deed(msgspec.Struct, frozen=True, kw_only=True):
    """One call that may have changed something."""

    call: ToolCall
    acts: frozenset[Act]
    """What the tool can do; empty when unknown, and then it may be anything."""
    outcome: ToolOutcome

    @property
    def done(self) -> bool:
        """Say whether the call did not fail; an answer never seen counts as good."""
        return self.outcome.kind != "error"

    def could(self, act: Act) -> bool:
        """Say whether the call can be what a claim speaks of."""
        return act == "any" or not self.acts or act in self.acts


class Account:
    """Answer, message by message, what had been done so far; asked in order of messages."""

    def __init__(self, deeds: Sequence[Deed]) -> None:
        self._deeds = sorted(deeds, key=lambda deed: deed.call.asked_at)
        self._next = 0
        self._last: dict[Act, Deed] = {}
        self._done: dict[Act, list[Deed]] = {act: [] for act in ACTS}
        self._given: dict[Act, set[str]] = {act: set() for act in ACTS}
        self._forms: dict[Act, set[str]] = {act: set() for act in ACTS}
        self.latest: Deed | None = None
        """The last call made before the message."""
        self.any_done = False

    def advance(self, message: int) -> None:
        """Take in every call that was asked for before a message."""
        while self._next < len(self._deeds) and self._deeds[self._next].call.asked_at < message:
            self._enter(self._deeds[self._next])
            self._next += 1

    def fitting(self, act: Act, message: int) -> Deed | None:
        """Return the last call that can be what a claim speaks of.

        A call asked for beside the claim counts if it works; its failure is not yet known.
        """
        beside = (d for d in self._beside(message) if d.done and d.could(act))
        return next(beside, None) or self._last.get(act)

    def behind(self, act: Act, message: int) -> list[Deed]:
        """Return the last calls that worked and can be what a claim speaks of."""
        beside = [d for d in self._beside(message) if d.done and d.could(act)]
        return [*self._done[act][-_RECENT:], *beside]

    def concerns(self, act: Act, names: set[str], message: int) -> bool:
        """Say whether what was done can concern one of the things named, as far as names tell.

        Names of another form than those in the calls' arguments tell nothing.
        """
        beside = [d for d in self._beside(message) if d.done and d.could(act)]
        given = {name for deed in beside for name in names_in(_texts(deed.call.arguments))}
        forms = {_form(name) for name in given} | self._forms[act]
        told = {name for name in names if _form(name) in forms}
        if not told or told & (given | self._given[act]):
            return True
        done = (*self._done[act], *beside)
        return any(name in (deed.call.result or "").lower() for deed in done for name in told)

    def _beside(self, message: int) -> Iterator[Deed]:
        for deed in self._deeds[self._next :]:
            if deed.call.asked_at != message:
                return
            yield deed

    def _enter(self, deed: Deed) -> None:
        self.latest = deed
        self.any_done = self.any_done or deed.done
        names = names_in(_texts(deed.call.arguments)) if deed.done else set()
        for act in ACTS:
            if deed.could(act):
                self._last[act] = deed
                if deed.done:
                    self._done[act].append(deed)
                    self._given[act] |= names
                    self._forms[act].update(_form(name) for name in names)


def deeds_of(conversation: Conversation) -> list[Deed]:
    """Return the agent's calls that may have changed something, earlier episodes' first."""
    definitions = {tool.name: tool for tool in conversation.tools}
    deeds = []
    for call in (*earlier_calls(conversation), *conversation.tool_calls):
        definition = definitions.get(call.name)
        if call.requestor == "agent" and effect_of(call.name, definition) != "read":
            acts = acts_of(call.name, definition)
            deeds.append(Deed(call=call, acts=acts, outcome=outcome_of(call)))
    return deeds


def names_in(text: str) -> set[str]:
    """Return the identifiers in a text, lowercase: letters and digits together, as in ``#A1234``."""
    words = _WORD.findall(text.lower()) if any(map(text.__contains__, "0123456789")) else ()
    return {w for w in words if not w.isalpha() and _IDENTIFIER.match(w)}


def _form(name: str) -> str:
    """Return what identifiers of one kind have in common: ``#a1234`` -> ``#a9``."""
    return _LETTERS.sub("a", _DIGITS.sub("9", name))


def _texts(value: JsonValue) -> str:
    if isinstance(value, dict):
        return " ".join(_texts(v) for v in value.values())
    if isinstance(value, list):
        return " ".join(_texts(v) for v in value)
    return value if isinstance(value, str) else ""
