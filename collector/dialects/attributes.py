"""Look things up in attributes: the first synonym that says something wins.

Content that an instrumentation masked counts as absent.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import TypeAlias, cast

import msgspec

from collector.model import JsonValue
from collector.telemetry import Attributes, AttributeValue

Keys: TypeAlias = tuple[str, ...]
"""Synonyms of one fact, best first."""

Value: TypeAlias = "AttributeValue | JsonValue"
"""An attribute, or what was parsed out of one."""

MASKS = frozenset({"__REDACTED__", "<REDACTED>"})
"""What OpenInference and Claude Code write in place of content they hide."""
MAX_DEPTH = 64
"""Deeper JSON stays text, so that nothing behind us can run out of stack."""
Group: TypeAlias = tuple[tuple[str, AttributeValue], ...]
"""The (rest of the key, value) pairs of one message, tool or document."""
NUMBERED = re.compile(r"(.*?\.)([0-9]{1,6})\.(.+)", re.DOTALL).fullmatch
LONGEST_KEY = 256
NOWHERE = ("", 0, "")
ABSENT = frozenset({"", *MASKS})
LONGEST_MASK = max(map(len, MASKS))


def first(attributes: Attributes, keys: Keys) -> AttributeValue:
    """Return the first value that is neither missing, empty nor masked."""
    for key in keys:
        if key in attributes:
            value = attributes[key]
            # The length is asked first because a set would hash the whole of a long history.
            if value is not None and (
                type(value) is not str or len(value) > LONGEST_MASK or value not in ABSENT
            ):
                return value
    return None


def text(attributes: Attributes, keys: Keys) -> str:
    """Return the first value as text; empty when there is none."""
    for key in keys:
        if key in attributes:
            value = attributes[key]
            if type(value) is not str:
                found = plain(value)
                if found:
                    return found
            elif len(value) > LONGEST_MASK or value not in ABSENT:
                return value
    return ""


def plain(value: Value) -> str:
    """Write a scalar as text; lists and maps are not text and give an empty string."""
    if isinstance(value, str):
        return "" if value in MASKS else value
    if isinstance(value, bool) or value is None or isinstance(value, (list, dict, bytes)):
        return ""
    return str(value)


def number(attributes: Attributes, keys: Keys) -> float | None:
    """Return the first value that is a number, or a string that spells one."""
    for key in keys:
        if key in attributes:
            value = attributes[key]
            found = value if type(value) is int else as_number(value)
            if found is not None:
                return found
    return None


def as_number(value: Value) -> float | None:
    """Read a finite number; ``None`` when the value is none."""
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        return None
    try:
        found = float(value)
    except (ValueError, OverflowError):
        return None
    return found if abs(found) < float("inf") else None


def is_true(value: AttributeValue) -> bool:
    """Tell whether a flag is set; older SDKs write it as text."""
    return value is True or value in ("true", "True")


def decoded(value: Value) -> JsonValue:
    """Parse JSON text; a value that is no JSON, or no text, is returned as it is."""
    if not isinstance(value, str):
        return as_json(value)
    try:
        found: JsonValue = msgspec.json.decode(value)
    except (msgspec.DecodeError, RecursionError, UnicodeEncodeError):
        return value
    suspect = value.count("[") + value.count("{") > MAX_DEPTH
    return value if suspect and _is_deep(found) else found


def _is_deep(value: JsonValue) -> bool:
    level: list[JsonValue] = [value]
    for _ in range(MAX_DEPTH):
        level = [
            inner
            for node in level
            if isinstance(node, (list, dict))
            for inner in (node.values() if isinstance(node, dict) else node)
        ]
        if not level:
            return False
    return True


def as_json(value: Value) -> JsonValue:
    """Drop what JSON cannot say: bytes become ``None``."""
    if isinstance(value, list):
        return [as_json(item) for item in value]
    if isinstance(value, dict):
        return {key: as_json(item) for key, item in value.items()}
    return None if isinstance(value, bytes) else value


def attributes_of(value: JsonValue) -> Attributes:
    """Take a JSON object for attributes; everything that JSON says, attributes may hold."""
    return cast("Attributes", value) if isinstance(value, dict) else {}


def grouped(attributes: Attributes) -> dict[str, list[Group]]:
    """Collect ``stem.N.rest`` attributes: by stem (with its dot), one group for each N in order."""
    found: dict[str, dict[int, list[tuple[str, AttributeValue]]]] = {}
    for key, value in attributes.items():
        stem, index, rest = _place(key) if len(key) <= LONGEST_KEY else NOWHERE
        if not stem:
            continue
        groups = found.get(stem)
        if groups is None:
            groups = found[stem] = {}
        group = groups.get(index)
        if group is None:
            group = groups[index] = []
        group.append((rest, value))
    return {
        stem: [tuple(groups[index]) for index in sorted(groups)] for stem, groups in found.items()
    }


@lru_cache(maxsize=8192)
def _place(key: str) -> tuple[str, int, str]:
    """Split a key at its first number; remembered, because a convention has few keys."""
    numbered = NUMBERED(key)
    return (numbered[1], int(numbered[2]), numbered[3]) if numbered else NOWHERE


def unflattened(pairs: Iterable[tuple[str, AttributeValue]]) -> dict[str, JsonValue]:
    """Rebuild what dotted keys took apart: names become maps, numbers become lists."""
    tree: dict[str, JsonValue] = {}
    for path, value in pairs:
        node = tree
        *parents, leaf = path.split(".")[:12]
        for parent in parents:
            inner = node.get(parent)
            if not isinstance(inner, dict):
                inner = node[parent] = {}
            node = inner
        node.setdefault(leaf, as_json(value))
    return {key: _listed(value) for key, value in tree.items()}


def _listed(value: JsonValue) -> JsonValue:
    if not isinstance(value, dict):
        return value
    inner = {key: _listed(item) for key, item in value.items()}
    if inner and all(key.isdecimal() for key in inner):
        return [inner[key] for key in sorted(inner, key=int)]
    return inner
