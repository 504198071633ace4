"""Read values that a framework wrote with Python's ``repr`` where others write JSON."""

from __future__ import annotations

import ast
import json
import re

from collector.loose_json import whole_characters
from collector.model import JsonValue

LONGEST = 100_000
MEMBER = re.compile(r"=<[A-Za-z_.]+: ('[^']*')>")
"""How a member of an enumeration is written, which is no expression."""


def literal(text: str) -> JsonValue:
    """Return the value that a Python literal says; the text itself where it says none.

    Tuples become lists and keys text, as in JSON; what JSON cannot say is none. Half a character
    becomes U+FFFD.
    """
    if len(text) > LONGEST:
        return text
    try:
        found = _json(ast.literal_eval(text))
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError, OverflowError):
        return text
    return found


def constructed(text: str) -> JsonValue:
    """Return what the ``repr`` of an object says: its fields as a dictionary, and theirs.

    The text itself where it is no constructor with named arguments. A member of an enumeration
    is its value.
    """
    if len(text) > LONGEST:
        return text
    try:
        found = _json(_value(ast.parse(MEMBER.sub(r"=\1", text), mode="eval").body))
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError, OverflowError):
        return text
    return found


def _json(value: object) -> JsonValue:
    found: JsonValue = json.loads(whole_characters(json.dumps(value).encode()))
    return found


def _value(node: ast.expr) -> JsonValue:
    if isinstance(node, ast.Call):
        return {word.arg: _value(word.value) for word in node.keywords if word.arg}
    if isinstance(node, ast.List | ast.Tuple):
        return [_value(item) for item in node.elts]
    if isinstance(node, ast.Dict):
        pairs = zip(node.keys, node.values, strict=True)
        return {str(_value(key)): _value(value) for key, value in pairs if key is not None}
    value = ast.literal_eval(node)
    return value if isinstance(value, bool | int | float | str) else None
