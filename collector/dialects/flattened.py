"""Read message lists that a convention took apart into one attribute a field.

``prefix.N.rest`` attributes of one N are one message; the group as a whole is looked up
first, because a chat repeats its history in every call.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import TypeAlias

from collector.dialects.attributes import grouped, unflattened
from collector.dialects.interning import Memory
from collector.dialects.messages import normal
from collector.model import Attributes, AttributeValue, JsonValue, Message, MessageRole

Shape: TypeAlias = Callable[[dict[str, JsonValue]], JsonValue]
"""Turn the rebuilt group into a message of a known shape."""


def messages(
    attributes: Attributes, prefix: str, shape: Shape, memory: Memory, default: MessageRole
) -> tuple[Message, ...]:
    """Read every message below ``prefix``, which ends in a dot."""
    table = memory.messages
    found: list[Message] = []
    for group in grouped(attributes, prefix):
        key, size = _key(default, group)
        known = table.get(key, size) if key is not None else None
        if known is None:
            known = normal(shape(unflattened(group)), default, encoded=True)
            if key is not None:
                table.put(key, known, size)
        found.extend(known)
    return tuple(found)


def _key(
    default: MessageRole, group: tuple[tuple[str, AttributeValue], ...]
) -> tuple[Hashable | None, int]:
    size = 0
    for _, value in group:
        if isinstance(value, str):
            size += len(value)
        elif isinstance(value, (list, dict)):
            return None, 0
    return (default, group), size
