"""Bring arguments and results to one spelling, so that trivial differences do not count."""

from __future__ import annotations

import hashlib
import json
import re

from collector.model import JsonValue

_BREAKS = re.compile(r"[\W_]+")
_NUMBER = re.compile(r"\s*[-+]?\d{1,15}(?:\.\d{1,15})?\s*\Z")
_MAX_DEPTH = 20
_LONG = 4_096
_MAX_JSON = 200_000


def plain(text: str) -> str:
    """Return the words of a text: case, punctuation and spacing do not tell two apart.

    A text of nothing but punctuation stays as it is. A number keeps only its value.
    """
    if _NUMBER.match(text):
        return _number(float(text))
    return _BREAKS.sub(" ", text.casefold()).strip() or text


def signature(arguments: JsonValue) -> str:
    """Return one string for all trivially different spellings of the same arguments.

    Key order, letter case, spacing, punctuation, number formatting and absent against empty
    values make no difference.
    """
    text = _canonical(arguments, 0)
    return text if len(text) < _LONG else digest(text)


def same_answer(one: str, other: str) -> bool:
    """Say whether two results say the same, spacing and the order of keys aside."""
    return one == other or answer_digest(one) == answer_digest(other)


def answer_digest(text: str) -> str:
    """Return a short name for a result that does not hang on its spacing or the order of its keys."""
    bare = text.strip()
    if bare[:1] in ("{", "[") and len(bare) < _MAX_JSON:
        try:
            return digest(json.dumps(json.loads(bare), sort_keys=True))
        except (ValueError, RecursionError):
            pass
    return digest(" ".join(bare.split()))


def digest(text: str) -> str:
    """Return a short name for a long text."""
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


def _canonical(value: JsonValue, depth: int) -> str:
    if isinstance(value, str):
        return plain(value)
    if isinstance(value, bool) or value is None:
        return {True: "true", False: "false", None: ""}[value]
    if isinstance(value, int | float):
        return _number(value)
    if depth == _MAX_DEPTH:
        return repr(value)
    if isinstance(value, list):
        inner = [_canonical(item, depth + 1) for item in value]
        return f"[{chr(31).join(inner)}]" if any(inner) else ""
    fields = ((plain(str(key)), _canonical(item, depth + 1)) for key, item in value.items())
    said = sorted(f"{key}={item}" for key, item in fields if item)
    return f"{{{chr(31).join(said)}}}" if said else ""


def _number(value: float) -> str:
    return str(int(value)) if value == value // 1 and abs(value) < 1e15 else repr(value)
