"""Read values that a framework wrote with Python's ``repr`` where others write JSON."""

from __future__ import annotations

import ast
import json

from collector.model import JsonValue

LONGEST = 100_000


def literal(text: str) -> JsonValue:
    """Return the value that a Python literal says; the text itself where it says none.

    Tuples become lists and keys text, as in JSON; what JSON cannot say is none.
    """
    if len(text) > LONGEST:
        return text
    try:
        found: JsonValue = json.loads(json.dumps(ast.literal_eval(text)))
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError, OverflowError):
        return text
    return found
