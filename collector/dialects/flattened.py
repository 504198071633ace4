"""Read message lists that a convention took apart into one attribute a field.

``prefix.N.rest`` attributes of one N are one message; the group as a whole is looked up
first, because a chat repeats its history in every call.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

from collector.dialects.attributes import Group, unflattened
from collector.dialects.interning import Memory
from collector.dialects.messages import normal
from collector.model import JsonValue, Message, MessageRole

Shape: TypeAlias = Callable[[dict[str, JsonValue]], JsonValue]
"""Turn the rebuilt group into a message of a known shape."""


def messages(
    groups: Sequence[Group], shape: Shape, memory: Memory, default: MessageRole
) -> tuple[Message, ...]:
    """Read the messages that attributes were grouped into."""
    table = memory.messages
    found: list[Message] = []
    for group in groups:
        key = (default, group)
        try:
            known = table.young.get(key) or table.get(key, _size(group))
        except TypeError:
            # A list or a map among the values, so the group cannot be a key.
            found += _read(group, shape, default)
            continue
        if known is None:
            known = _read(group, shape, default)
            table.put(key, known, _size(group))
        found += known
    return tuple(found)


def _read(group: Group, shape: Shape, default: MessageRole) -> tuple[Message, ...]:
    return normal(shape(unflattened(group)), default, encoded=True)


def _size(group: Group) -> int:
    return sum(len(value) for _, value in group if isinstance(value, str))
