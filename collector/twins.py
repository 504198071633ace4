"""Recognise the span of a client that stands beside the framework's, and not below it.

A framework that does not make its span the current one leaves the client's own in a trace of its
own. That one says nothing but what was counted; it is the same call where it was made within
the framework's, by the same program, and nothing that both of them count differs.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import OrderedDict, deque
from collections.abc import Callable, Iterable
from typing import TypeAlias

import msgspec

from collector.message_keys import digest
from collector.model import Facts, Identity, Usage

SCOPES = 256
"""Programs whose latest calls are remembered."""
LATEST = 64
"""Calls of a program that may be under way at once."""
_LONGEST_MODEL = 256
"""Characters of a model's name that are compared."""


class Call(msgspec.Struct, frozen=True, kw_only=True):
    """What is compared of a call."""

    start_ns: int
    end_ns: int
    model: str
    usage: Usage | None
    failed: bool


def is_bare(fact: Facts) -> bool:
    """Say whether a span tells of a model call, and of nothing that was said in it."""
    return fact.role == "llm" and not (fact.partial or fact.input or fact.output)


def call_of(fact: Facts) -> Call:
    """Return what is compared of a span's call."""
    return Call(
        start_ns=fact.start_ns,
        end_ns=fact.end_ns,
        model=fact.model[:_LONGEST_MODEL],
        usage=fact.usage,
        failed=bool(fact.error),
    )


def is_within(bare: Call, told: Call) -> bool:
    """Say whether a call without content can be the very call that another span tells of."""
    return (
        0 < told.start_ns <= bare.start_ns <= bare.end_ns <= told.end_ns
        and bare.failed <= told.failed
        and _agree(bare, told)
    )


def _agree(bare: Call, told: Call) -> bool:
    """Say whether no count differs; what is nothing was not counted.

    Where not all was counted the models must be one. Else it may be called by another name.
    """
    mine, theirs = bare.usage or Usage(), told.usage or Usage()
    counts = [(mine.input, theirs.input), (mine.output, theirs.output)]
    known = [(one, other) for one, other in counts if one and other]
    if any(one != other for one, other in known):
        return False
    return len(known) == len(counts) or bare.model in told.model or told.model in bare.model


def paired(groups: Iterable[list[Facts]]) -> list[list[Facts]]:
    """Put groups of spans, each of one call, together where one is the bare twin of another."""
    told: list[list[Facts]] = []
    bare: list[list[Facts]] = []
    whole: list[list[Facts]] = []
    for group in groups:
        kinds = {is_bare(fact) for fact in group}
        (whole if len(kinds) > 1 else bare if True in kinds else told).append(group)
    if not bare:
        return [*whole, *told]
    told.sort(key=_start)
    starts = [_start(group) for group in told]
    free = [True] * len(told)
    for group in bare:
        call = call_of(group[0])
        last = bisect_right(starts, call.start_ns)
        around = range(last - 1, max(-1, last - 1 - LATEST), -1)
        inside = range(last, min(last + LATEST, bisect_right(starts, call.end_ns, lo=last)))
        for place in (*around, *inside):
            other = told[place][0]
            # Records tell of a call while it is made.
            one, two = (call_of(other), call) if place >= last else (call, call_of(other))
            if free[place] and (place < last or not other.span_id) and is_within(one, two):
                free[place] = False
                told[place] = [*told[place], *group]
                break
        else:
            whole.append(group)
    return [*whole, *told]


def _start(group: list[Facts]) -> int:
    return group[0].start_ns


_Calls: TypeAlias = "deque[tuple[Call, str]]"
"""Calls of one program, newest last, each with the key of its conversation."""


class Twins:
    """Remember the latest calls of each program until their twins come, if they do."""

    def __init__(self) -> None:
        self._programs: OrderedDict[bytes, tuple[_Calls, _Calls]] = OrderedDict()
        """Those without content, and those with it."""

    def of_bare(self, fact: Facts, key: str) -> str:
        """Return the conversation where the call of a bare span is told of; else remember it.

        Args:
            fact: A span without content.
            key: Of the conversation that it makes by itself.
        """
        bare, told = self._latest(fact.identity)
        call = call_of(fact)
        found = _taken(told, lambda other: is_within(call, other))
        if not found:
            bare.append((call, key))
        return found

    def of_told(self, fact: Facts, key: str) -> str:
        """Return the conversation of the bare span of a call; else remember where it is told of."""
        bare, told = self._latest(fact.identity)
        call = call_of(fact)
        found = _taken(bare, lambda other: is_within(other, call))
        if not found:
            told.append((call, key))
        return found

    def _latest(self, who: Identity) -> tuple[_Calls, _Calls]:
        names = (who.tenant, who.agent, who.environment, who.variant, who.credential_hash)
        program = digest("\x1f".join(names).encode("utf-8", "surrogatepass"))
        latest = self._programs.setdefault(program, (deque(maxlen=LATEST), deque(maxlen=LATEST)))
        self._programs.move_to_end(program)
        if len(self._programs) > SCOPES:
            self._programs.popitem(last=False)
        return latest


def _taken(calls: _Calls, is_it: Callable[[Call], bool]) -> str:
    """Take the newest call that is the one; return its key, or nothing."""
    for place in range(len(calls) - 1, -1, -1):
        call, key = calls[place]
        if is_it(call):
            del calls[place]
            return key
    return ""
