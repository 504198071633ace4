"""Walk through the values of a call's arguments."""

from __future__ import annotations

from collections.abc import Iterator

from collector.model import JsonValue

_MAX_LEAVES = 200
_MAX_DEPTH = 12


def leaves(arguments: JsonValue) -> Iterator[tuple[str, str | int | float]]:
    """Yield the texts and numbers with the nearest key over them, a bounded number.

    Truth values and nothing at all are left out. A key, a list and an object count towards the
    bound as well, so that hostile arguments cost no more than large ones.
    """
    pending: list[tuple[JsonValue, str, int]] = [(arguments, "", 0)]
    left = _MAX_LEAVES
    while pending and left:
        value, name, depth = pending.pop()
        left -= 1
        if isinstance(value, str | int | float) and not isinstance(value, bool):
            yield name, value
        elif depth == _MAX_DEPTH:
            continue
        elif isinstance(value, list):
            pending.extend((item, name, depth + 1) for item in reversed(value[:left]))
        elif isinstance(value, dict):
            items = list(value.items())[:left]
            pending.extend((item, str(key), depth + 1) for key, item in reversed(items))
