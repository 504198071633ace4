"""Cut JSON text into the values it holds, without reading it whole.

A stream may be one long list, several documents over many lines, or both; a value that is
broken does not hide the next one as long as its brackets close.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

_TOKENS = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+(?:(")|\\?\Z)|[{}\[\]\n]', re.DOTALL)
"""A string, whole or as far as it is there; a bracket; a line's end."""
PIECE_BYTES = 256 * 1024
"""Looked at together, so that a value of many short lines is not begun again with each."""


def values(pieces: Iterable[bytes]) -> Iterator[tuple[int, bytes]]:
    """Yield every object, and the objects of every outermost list, with the line it begins on.

    What stands outside of objects is left out, but a list in a list is one value. Text that
    ends inside a value is yielded as far as it goes.
    """
    cutter = Cutter()
    gathered = bytearray()
    for piece in pieces:
        gathered += piece
        if len(gathered) >= PIECE_BYTES:
            yield from cutter.take(gathered)
            gathered.clear()
    yield from cutter.take(gathered)
    yield from cutter.rest()


class Cutter:
    """Follow the brackets; hold what was begun and has not ended."""

    def __init__(self) -> None:
        self._held = bytearray()
        self._scanned = 0
        self._line = 1
        self._depth = 0
        self._base = 0
        self._start = -1
        self._started_at = 0

    def take(self, piece: bytes | bytearray) -> Iterator[tuple[int, bytes]]:
        """Take in more of the text and yield the values that end in it."""
        self._held += piece
        found: list[tuple[int, bytes]] = []
        scanned, cut = self._scan(found)
        self._let_go(cut if self._start < 0 else self._start, scanned)
        yield from found

    def _scan(self, found: list[tuple[int, bytes]]) -> tuple[int, int]:
        """Return up to where the text was looked at, and where the last value ended."""
        cut = 0
        for match in _TOKENS.finditer(self._held, self._scanned):
            token = match[0]
            if token.startswith(b'"'):
                if not match[1]:
                    return match.start(), cut
                self._line += token.count(b"\n")
            elif token == b"\n":
                self._line += 1
            elif token in b"{[":
                self._open(token, match.start())
            else:
                value = self._close(match.end())
                if value is not None:
                    found.append(value)
                    cut = match.end()
        return len(self._held), cut

    def _open(self, bracket: bytes, at: int) -> None:
        if bracket == b"[" and self._depth == 0:
            self._base = 1
        if self._start < 0 and (bracket == b"{" or self._depth > 0):
            self._start, self._started_at = at, self._line
        self._depth += 1

    def _close(self, end: int) -> tuple[int, bytes] | None:
        self._depth = max(0, self._depth - 1)
        value = None
        if self._start >= 0 and self._depth <= self._base:
            value = (self._started_at, bytes(self._held[self._start : end]))
            self._start = -1
        if self._depth == 0:
            self._base = 0
        return value

    def _let_go(self, before: int, scanned: int) -> None:
        before = min(before, scanned)
        del self._held[:before]
        self._scanned = scanned - before
        if self._start >= 0:
            self._start -= before

    def rest(self) -> Iterator[tuple[int, bytes]]:
        """Yield the value that never ended, if there is one."""
        if self._start >= 0:
            yield self._started_at, bytes(self._held[self._start :])
