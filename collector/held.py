"""Say what the spans of one episode say together."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeAlias

import msgspec

from collector.model import Facts
from collector.normalise import merge
from collector.talk import Held

_Span: TypeAlias = tuple[str, str]
"""Trace and span id."""


def merged_facts(held: Iterable[Held]) -> list[Facts]:
    """Return one fact per span: what its span and its log records say together.

    Every item must have its content in memory.
    """
    items = sorted(held, key=lambda h: (h.is_log, h.ref))
    around = _around_calls(items)
    facts: dict[_Span, Facts] = {}
    shares: dict[_Span, list[Facts]] = {}
    loose: list[Facts] = []
    for item in items:
        fact = item.facts
        if fact is None:
            raise ValueError("content is read again before facts are merged")
        key = (fact.trace_id, fact.span_id)
        if key in around:
            fact = _apart(fact, is_call=item.is_log)
        if not fact.span_id:
            loose.append(fact)
        elif fact.partial:
            shares.setdefault(key, []).append(fact)
        elif key in facts:
            facts[key] = merge(facts[key], fact)
        else:
            facts[key] = fact
    for key, told in shares.items():
        calls = _calls(told)
        own = facts.get(key)
        if len(calls) == 1 and (own is None or own.role == "llm"):
            facts[key] = calls[0] if own is None else merge(own, calls[0])
        else:
            loose += [_below(call, key[1]) for call in calls]
    return [*facts.values(), *loose]


def _calls(shares: Iterable[Facts]) -> list[Facts]:
    """Put the shares of one call after another together: what comes after a reply is the next."""
    calls: list[Facts] = []
    for share in shares:
        if calls and not (calls[-1].output and (share.input or share.system_prompt)):
            calls[-1] = merge(calls[-1], share)
            calls[-1] = msgspec.structs.replace(calls[-1], end_ns=share.start_ns)
        else:
            calls.append(share)
    return calls


def _below(call: Facts, span_id: str) -> Facts:
    """Let a call that records told of stand below the span that they name.

    That was the current one, where the call's own is not made so.
    """
    end = max(call.start_ns, call.end_ns)
    return msgspec.structs.replace(call, span_id="", parent_id=span_id, partial=False, end_ns=end)


def _around_calls(items: Iterable[Held]) -> set[tuple[str, str]]:
    """Return the spans that stand around several calls, each told by a log record of its own.

    Where the span of the call is suppressed, its record names the agent's.
    """
    first: dict[tuple[str, str], Facts] = {}
    around: set[tuple[str, str]] = set()
    for item in items:
        fact = item.facts
        if fact is not None and item.is_log and fact.span_id and _is_call(fact):
            key = (fact.trace_id, fact.span_id)
            if first.setdefault(key, fact).output != fact.output:
                around.add(key)
    return around


def _is_call(fact: Facts) -> bool:
    return fact.role == "llm" and not fact.partial and bool(fact.output)


def _apart(fact: Facts, *, is_call: bool) -> Facts:
    """Let a record be a call of its own, and the span around it an agent that says nothing."""
    if is_call and _is_call(fact):
        return msgspec.structs.replace(fact, span_id="", parent_id=fact.span_id)
    return msgspec.structs.replace(
        fact, role="agent", usage=None, cost_usd=None, finish_reason="", input=(), output=()
    )
