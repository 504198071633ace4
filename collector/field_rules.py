"""Drop, hash, mask or pseudonymise fields by their names, wherever in the traffic they stand.

A field is named by the last names of its path, joined by dots: ``user.id`` is an attribute,
``arguments.email`` an argument of any tool call, ``customer.email`` what a ``customer`` holds.
``*`` stands for any characters. JSON inside text is opened; the places in lists have no name.
"""

from __future__ import annotations

import fnmatch
import hashlib
import hmac
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import msgspec

from collector.configuration.keeping import FieldRule
from collector.loose_json import dumps, loads, spelled

MASK = "[masked]"
DROPPED = "[dropped]"
SHORTEST, LONGEST, MOST = 4, 256, 512
"""Characters of a value that is also looked for in what is said about it, and how many are."""
LONGEST_PATH = 256
"""Characters of a path, its last ones, that a rule is compared with."""
MAX_PATHS = 4096
"""Paths whose rule is remembered."""
MAX_DEPTH = 48
"""Levels that are gone into; what is nested deeper goes as a whole."""
SLICE_FROM = 512
"""JSON arrays from this length are gone through element by element, so that repeats are looked up."""
SLICE_BYTES = 8 * 1024 * 1024
APART = re.compile(r"(?:id|sha)-[0-9a-f]{16}")
"""What a rule leaves that is another for another value."""
_DONE = re.compile(rf"{APART.pattern}|\[masked\]|\[dropped\]")

Found = dict[str, str]
"""What stood in fields of a rule, and what stands there now."""


class FieldRules:
    """Apply a user's rules; the same value becomes the same pseudonym under one key."""

    def __init__(self, rules: Sequence[FieldRule], *, key: bytes) -> None:
        self._key = key
        self._rules = [(_pattern(rule.field), rule.action) for rule in rules]
        self._actions: dict[str, str] = {}
        self._pieces = msgspec.json.Decoder(list[msgspec.Raw])
        self._slices: dict[tuple[str, bytes], tuple[bytes, Found]] = {}
        """Elements of arrays by path, with what became of them and what stood in their fields."""
        self._used = 0
        """Bytes of these."""
        self.applied = 0
        """Fields that a rule changed; those of an element that is remembered are not counted again."""

    def mapping(self, value: Mapping[str, Any], path: str, found: Found) -> dict[str, Any]:
        """Return a mapping whose fields went through the rules; what they held goes to ``found``."""
        clean = self._walk(value, path, found, 0)
        return clean if isinstance(clean, dict) else {}

    def value(self, value: Any, path: str, found: Found) -> Any:
        """Return the value of the field at ``path``; the very same object where no rule is about it."""
        action = self._action(path)
        if action:
            new = self._changed(value, action, found)
            return None if new is _Gone else new
        return self._walk(value, path, found, 0)

    def text(self, text: str, path: str, found: Found) -> str:
        """Return a text, such as a tool's result, that may be JSON."""
        clean = self.value(text, path, found)
        return clean if isinstance(clean, str) else ""

    def _walk(self, value: Any, path: str, found: Found, depth: int) -> Any:
        if isinstance(value, str):
            return self._json(value, path, found, depth)
        if depth >= MAX_DEPTH and isinstance(value, (dict, list)):
            return MASK
        if isinstance(value, list):
            items = [self._walk(item, path, found, depth + 1) for item in value]
            return items if any(a is not b for a, b in zip(items, value, strict=True)) else value
        if not isinstance(value, dict):
            return value
        changed = False
        clean: dict[str, Any] = {}
        for name, item in value.items():
            inner = (f"{path}.{name}" if path else name)[-LONGEST_PATH:]
            action = self._action(inner)
            new = (
                self._changed(item, action, found)
                if action
                else self._walk(item, inner, found, depth + 1)
            )
            changed = changed or new is not item
            if new is not _Gone:
                clean[name] = new
        return clean if changed else value

    def _json(self, text: str, path: str, found: Found, depth: int) -> str:
        if text[:1] not in ("{", "["):
            return text
        if text[0] == "[" and len(text) >= SLICE_FROM:
            sliced = self._array(text, path, found, depth)
            if sliced is not None:
                return sliced
        try:
            value = loads(text)
        except (ValueError, RecursionError):
            return text
        clean = self._walk(value, path, found, depth + 1)
        return text if clean is value else dumps(clean).decode()

    def _array(self, text: str, path: str, found: Found, depth: int) -> str | None:
        """Go through a JSON array element by element; ``None`` where it cannot be read so.

        A history that comes again, and longer, is looked up.
        """
        try:
            pieces = [bytes(raw) for raw in self._pieces.decode(text)]
            slices = [self._slice(piece, path, depth) for piece in pieces]
        except (ValueError, RecursionError):
            return None
        for _, within in slices:
            if len(found) < MOST:
                found.update(within)
        clean = [new for new, _ in slices]
        return text if clean == pieces else (b"[" + b",".join(clean) + b"]").decode()

    def _slice(self, piece: bytes, path: str, depth: int) -> tuple[bytes, Found]:
        known = self._slices.get((path, piece))
        if known is None:
            value, within = loads(piece), Found()
            clean = self._walk(value, path, within, depth + 1)
            known = (piece if clean is value else dumps(clean), within)
            self._used += 2 * len(piece)
            if self._used > SLICE_BYTES:
                self._slices, self._used = {}, 0
            self._slices[path, piece] = known
        return known

    def _action(self, path: str) -> str:
        known = self._actions.get(path)
        if known is None:
            lower = path.lower()
            known = next((action for rule, action in self._rules if rule.fullmatch(lower)), "")
            if len(self._actions) >= MAX_PATHS:
                self._actions.clear()
            self._actions[path] = known
        return known

    def _changed(self, value: Any, action: str, found: Found) -> Any:
        if value is None or value == "":
            return value
        text = value if isinstance(value, str) else spelled(value)
        if _DONE.fullmatch(text):
            return value
        self.applied += 1
        new = self._spelled(text, action)
        again = SHORTEST <= len(text) <= LONGEST and len(found) < MOST
        if again and not isinstance(value, (dict, list, bool)):
            found[text] = new
        return _Gone if action == "drop" else new

    def _spelled(self, text: str, action: str) -> str:
        if action == "mask":
            return MASK
        if action == "drop":
            return DROPPED
        data = text.encode("utf-8", "surrogatepass")
        if action == "hash":
            return f"sha-{hashlib.sha256(data).hexdigest()[:16]}"
        return pseudonym(text, self._key)


class _Gone:
    """Stands for a field that is no longer there."""


def pseudonym(text: str, key: bytes) -> str:
    """Return ``id-`` and 16 hex digits: the same for the same text under one key (HMAC-SHA-256).

    Without a key it is a plain hash, which whoever can list what might have stood there can undo.
    """
    data = text.encode("utf-8", "surrogatepass")
    digest = hmac.new(key, data, hashlib.sha256) if key else hashlib.sha256(data)
    return f"id-{digest.hexdigest()[:16]}"


def replacing(found: Found) -> Callable[[str], str]:
    """Return what puts the new values into texts that repeat the old ones, as whole words."""
    if not found:
        return str
    words = sorted(found, key=len, reverse=True)

    def again(text: str) -> str:
        # Most texts repeat none, and looking for a word is quicker than matching all of them.
        here = [re.escape(word) for word in words if word in text]
        if not here:
            return text
        pattern = r"(?<![^\W_])(?:" + "|".join(here) + r")(?![^\W_])"
        return re.sub(pattern, lambda match: found[match[0]], text)

    return again


def _pattern(field: str) -> re.Pattern[str]:
    """Match a path that is the field, or ends with it behind a dot."""
    return re.compile(r"(?:.*\.)?" + fnmatch.translate(field.lower()), re.DOTALL)
