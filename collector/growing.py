"""Recognise a JSON array that repeats an earlier one and adds to it.

Each call of a chat sends the history of the one before and a message or two. What the
earlier array came to is remembered by how it begins, so that only the rest is read.
"""

from __future__ import annotations

from typing import Generic, TypeVar

Value = TypeVar("Value")

HEAD = 512
"""Characters by which an array is found again; a shorter one is quickly read as a whole."""
ENTRY_BYTES = 400


class Growing(Generic[Value]):
    """A bounded table from JSON array texts to what they came to.

    Two generations, as in ``Memo``: what the old one held and nobody asked for is forgotten.
    Of arrays that begin alike the last one is remembered.
    """

    def __init__(self, limit: int) -> None:
        self._half = limit // 2
        self._size = 0
        self._young: dict[str, tuple[str, Value]] = {}
        self._old: dict[str, tuple[str, Value]] = {}

    def split(self, text: str) -> tuple[Value | None, str]:
        """Return what a known beginning came to, and the rest as an array of its own.

        The text is a JSON array if and only if the rest is one, and not an empty one;
        ``None`` and the whole text where no beginning is known.
        """
        if len(text) < HEAD:
            return None, text
        head = text[:HEAD]
        known = self._young.get(head) or self._old.get(head)
        if known is None:
            return None, text
        earlier, value = known
        end = len(earlier) - 1
        if text[end : end + 1] != "," or text[:end] != earlier[:end]:
            return None, text
        return value, "[" + text[end + 1 :]

    def keep(self, text: str, value: Value) -> None:
        """Remember what a text came to that is an array and not an empty one."""
        size = 2 * len(text) + ENTRY_BYTES
        # After white space the last character would not be the one that closes the array.
        if len(text) < HEAD or text[-1] != "]" or size > self._half:
            return
        head = text[:HEAD]
        replaced = self._young.get(head)
        if replaced is not None:
            self._size -= 2 * len(replaced[0]) + ENTRY_BYTES
        if self._size + size > self._half:
            self._old, self._young, self._size = self._young, {}, 0
        self._young[head] = (text, value)
        self._size += size
