"""Join histories of which somebody cut the ends.

A limit on the length of values leaves the beginning of each call's history and the beginning of
its reply; what one call has half of, another may have whole.
"""

from __future__ import annotations

from collections.abc import Sequence

from collector.dialects.mending import MARK
from collector.message_keys import canonical
from collector.model import JsonValue, Message


def is_cut(message: Message) -> bool:
    """Tell whether something of a message was cut: its text, or an argument of a call."""
    return message.text.endswith(MARK) or any(
        _is_cut_value(request.arguments) for request in message.tool_requests
    )


def joined(
    known: Sequence[Message], given: Sequence[Message], reply: Sequence[Message], *, cut: bool
) -> list[Message] | None:
    """Put a call behind what is known; ``None`` where it does not go on from there.

    ``cut`` says that something of this call was cut, so that it may have been given everything
    although less is there.
    """
    if given and not (given[-1].text or given[-1].tool_requests):
        given = given[:-1]
    if not given or not all(map(are_same, known, given)):
        return None
    both = [fuller(*pair) for pair in zip(known, given, strict=False)]
    following = known[len(given) :]
    if not following:
        return [*both, *given[len(known) :], *reply]
    if not cut:
        return None
    if reply and len(reply) <= len(following) and all(map(are_same, following, reply)):
        return [*both, *map(fuller, following, reply), *following[len(reply) :]]
    return [*both, *following, *reply]


def are_same(one: Message, other: Message) -> bool:
    """Tell whether two messages say the same, as far as neither was cut."""
    if one.role != other.role or not _is_same_text(one.text, other.text):
        return False
    if is_cut(one) or is_cut(other):
        asked = zip(one.tool_requests, other.tool_requests, strict=False)
        return all(a.name == b.name for a, b in asked)
    return [(r.name, canonical(r.arguments)) for r in one.tool_requests] == [
        (r.name, canonical(r.arguments)) for r in other.tool_requests
    ]


def fuller(one: Message, other: Message) -> Message:
    """Return the message of two equal ones of which less was cut."""
    return other if is_cut(one) and _size(other) > _size(one) else one


def _size(message: Message) -> tuple[bool, int, int]:
    return not is_cut(message), len(message.tool_requests), len(message.text)


def _is_same_text(one: str, other: str) -> bool:
    if one.endswith(MARK) or other.endswith(MARK):
        one, other = one.removesuffix(MARK), other.removesuffix(MARK)
        return one.startswith(other) or other.startswith(one)
    return one == other


def _is_cut_value(value: JsonValue) -> bool:
    if isinstance(value, str):
        return value.endswith(MARK)
    if isinstance(value, dict):
        return any(map(_is_cut_value, value.values()))
    return isinstance(value, list) and any(map(_is_cut_value, value))
