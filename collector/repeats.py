"""Give one object for a long text that comes again and again.

Tool definitions and instructions are sent with every call. Held once they take less memory,
and every later look-up knows them by identity.
"""

from __future__ import annotations

from collector.telemetry import Attributes

LONG = 1024
"""Characters from which a text is worth it."""
ENDS = 32


class Repeats:
    """A bounded table of long texts, in two generations as in ``Memo``."""

    def __init__(self, limit: int) -> None:
        self._half = limit // 2
        self._size = 0
        self._young: dict[tuple[int, str, str], str] = {}
        self._old: dict[tuple[int, str, str], str] = {}

    def share(self, attributes: Attributes) -> int:
        """Put known objects in place of equal long texts; return the size of all values."""
        size = 0
        for key, value in attributes.items():
            if type(value) is str:
                length = len(value)
                size += length
                if length >= LONG:
                    attributes[key] = self.one(value)
            else:
                size += 8
        return size

    def one(self, text: str) -> str:
        """Return an equal text that came before, else this one."""
        # Hashing all of it would cost as much as reading it.
        place = (len(text), text[:ENDS], text[-ENDS:])
        known = self._young.get(place)
        if known is None:
            known = self._old.get(place)
        elif known == text:
            return known
        if known != text:
            known = text
        cost = len(known)
        if cost <= self._half:
            if self._size + cost > self._half:
                self._old, self._young, self._size = self._young, {}, 0
            self._young[place] = known
            self._size += cost
        return known
