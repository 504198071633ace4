"""Know which open spans stand under which, whatever order they came in."""

from __future__ import annotations

from collections.abc import Sequence

from collector.model import Facts
from collector.realms import trace_of
from collector.talk import Held


def parent_key(facts: Facts) -> bytes:
    """Return the key of a span's parent."""
    return bytes.fromhex(trace_of(facts) + facts.parent_id)


def trace_key(trace: str) -> bytes:
    """Return the key by which a trace whose root has ended is remembered as decided."""
    return bytes.fromhex(trace) + bytes(8)


class Kinship:
    """Hold the children of each span, known or yet to come."""

    def __init__(self) -> None:
        self._children: dict[bytes, list[Held]] = {}

    def add(self, held: Held, facts: Facts) -> None:
        """Take in a span."""
        if held.parent_id:
            self._children.setdefault(parent_key(facts), []).append(held)

    def children(self, key: bytes) -> Sequence[Held]:
        """Return the children of a span."""
        return self._children.get(key, ())

    def drop(self, key: bytes, held: Held) -> None:
        """Forget a span whose episode is decided."""
        self._children.pop(key, None)
        # The trace id is the first part of a span's key.
        if held.parent_id:
            self._children.pop(key[:16] + bytes.fromhex(held.parent_id), None)
