"""Remember what was parsed before, within a number of bytes.

A call of a chat repeats the whole history, so nearly every message was seen a moment ago.
The table keeps two generations: when the young one holds half of the limit it becomes the
old one, and what the old one held and nobody asked for is forgotten.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Generic, TypeVar

from collector.growing import Growing
from collector.model import Message, ToolDefinition

Value = TypeVar("Value")
ENTRY_BYTES = 400
"""About what an entry costs beside its text: table slots and the records themselves."""


class Interned(Generic[Value]):
    """A bounded table from what arrived to what it means."""

    def __init__(self, limit: int) -> None:
        self._half = limit // 2
        self._size = 0
        self.young: dict[Hashable, Value] = {}
        """The young generation, to be read directly where a call would cost too much."""
        self._old: dict[Hashable, Value] = {}

    def get(self, key: Hashable, size: int) -> Value | None:
        """Return what was put for an equal key, or ``None``; ``size`` is the text's length."""
        value = self.young.get(key)
        if value is None:
            value = self._old.get(key)
            if value is not None:
                self.put(key, value, size)
        return value

    def put(self, key: Hashable, value: Value, size: int) -> None:
        """Keep the value of a text of ``size`` characters for as long as there is room."""
        cost = 2 * size + ENTRY_BYTES
        if cost > self._half:
            return
        if self._size + cost > self._half:
            self._old, self.young, self._size = self.young, {}, 0
        self.young[key] = value
        self._size += cost


class Memory:
    """The tables that the dialects share: messages, histories, tool definitions, system prompts."""

    def __init__(self, limit: int) -> None:
        self.messages: Interned[tuple[Message, ...]] = Interned(limit * 5 // 8)
        self.histories: Growing[tuple[Message, ...]] = Growing(limit // 8)
        self.tools: Interned[tuple[ToolDefinition, ...]] = Interned(limit // 8)
        self.prompts: Interned[str] = Interned(limit // 8)
