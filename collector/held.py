"""Say what the spans of one episode say together."""

from __future__ import annotations

from collections.abc import Iterable

from collector.model import Facts
from collector.normalise import merge
from collector.talk import Held


def merged_facts(held: Iterable[Held]) -> list[Facts]:
    """Return one fact per span: what its span and its log records say together.

    Every item must have its content in memory.
    """
    facts: dict[tuple[str, str], Facts] = {}
    loose: list[Facts] = []
    for item in sorted(held, key=lambda h: (h.is_log, h.ref)):
        fact = item.facts
        if fact is None:
            raise ValueError("content is read again before facts are merged")
        key = (fact.trace_id, fact.span_id)
        if not fact.span_id:
            loose.append(fact)
        elif key in facts:
            facts[key] = merge(facts[key], fact)
        else:
            facts[key] = fact
    return [*facts.values(), *loose]
