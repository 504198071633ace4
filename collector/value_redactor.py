"""Replace secrets and personal data in texts, JSON and attribute values by ``[kind]``."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from operator import is_
from typing import Any

import msgspec

from collector.glance import Glance, glance
from collector.growing import Growing
from collector.loose_json import dumps, loads, spelled, strings
from collector.memo import Memo
from collector.replacer import Replacer
from collector.sensitive import KINDS, custom, name_kind

SLICE_FROM = 512
"""JSON arrays from this length are redacted element by element, so that repeats are looked up."""
MAX_DEPTH = 48
"""Values nested deeper than this are redacted as one text."""
MAX_LEVELS = 4
"""JSON inside the strings of JSON that is taken apart; what is further in is redacted as text."""
MAX_FIELDS = 4096
LONGEST_FIELD = 256
"""Field names that are remembered: so many, and so long."""
_SMALLEST, _LARGEST = 10**6, 10**19
"""Bounds of the numbers that may be a phone's or card's."""
_DIGITS = {"phone": (7, 15), "national_id": (5, 18)}
"""Digits of the values that are taken for what their field's name says they are."""
_BACKSLASHES = re.compile(r"(\\+)")
_CODE = re.compile(r"u([0-9a-fA-F]{4})")


def unescaped(text: str) -> str:
    r"""Resolve the ``\uXXXX`` in a text that is no JSON, or no longer; all but quotes and controls.

    It goes from the end to the beginning, so that an escape within another is resolved before it.
    """
    behind: list[str] = []
    """The characters that were gone through, the last one first."""
    for piece in reversed(_BACKSLASHES.split(text)):
        code = _CODE.fullmatch("".join(behind[:-6:-1])) if piece[:1] == "\\" else None
        character = chr(int(code[1], 16)) if code else ""
        if code and character.isprintable() and character not in "\"'\\":
            behind[-5:] = [character]
        else:
            behind.extend(reversed(piece))
    behind.reverse()
    return "".join(behind)


def _octets(text: str) -> bytes:
    try:
        return text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return text.encode("utf-8", "backslashreplace")


class ValueRedactor:
    """Redact texts and values; idempotent, never raises, and one thread's at a time.

    A repeated text or message costs a look-up. Text that is JSON is redacted leaf by leaf
    and stays JSON; where it cannot be read as JSON it is redacted as plain text.

    Args:
        kinds: names of ``sensitive.KINDS``.
        patterns: a user's own kinds, name to regular expression.
        memo_bytes: budget of the memory of earlier texts.

    Raises:
        KeyError: a kind does not exist.
        re.error: a pattern is not a regular expression.
    """

    def __init__(
        self,
        kinds: Sequence[str],
        patterns: Mapping[str, str] | None = None,
        *,
        memo_bytes: int = 16 * 1024 * 1024,
    ) -> None:
        own = {name: custom(name, pattern) for name, pattern in (patterns or {}).items()}
        self._names = frozenset(kinds)
        # "a@b.io" is the shortest thing that any shipped kind finds.
        self._shortest = 1 if own else 6
        self._replacer = Replacer([*(KINDS[name] for name in kinds), *own.values()])
        self._texts: Memo[str] = Memo(memo_bytes // 2)
        self._slices: Memo[bytes] = Memo(memo_bytes // 4)
        self._arrays: Memo[str] = Memo(memo_bytes // 8)
        self._histories: Growing[tuple[bool, list[bytes]]] = Growing(memo_bytes // 8)
        """Whether an array was clean as it came, and its elements redacted."""
        self._fields: dict[str, tuple[str, str]] = {}
        """Field name to the kind its value must be, and the name redacted where it has to be."""
        self._harmless: set[str] = set()
        """The field names that say nothing and stay."""
        self._level = 0
        """How many JSON texts are being taken apart, one inside the other."""
        self._cut_short = 0
        """How often a text was too far in to be taken apart; such results are not remembered."""
        self._array = msgspec.json.Decoder(list[msgspec.Raw])

    @property
    def redactions(self) -> Counter[str]:
        """Replacements made of each kind; a remembered text's are not made again."""
        return self._replacer.replacements

    def text(self, text: str) -> str:
        """Return the text without anything sensitive; JSON stays JSON."""
        if len(text) < self._shortest:
            return text
        if len(text) >= SLICE_FROM and text[0] == "[":
            sliced = self._array_text(text)
            if sliced is not None:
                return sliced
        return self._remembered(text)

    def value(self, value: Any, name: str = "") -> Any:
        """Return the value in the same shape, every text in it redacted.

        The name of the field that holds it counts: ``password`` gives even ``hunter`` away.
        """
        return self._walk(value, name, 0)

    def mapping(self, value: dict[str, Any], depth: int = 0) -> dict[str, Any]:
        """Return a mapping redacted, keys included; the very same where nothing was to replace."""
        harmless, shortest, texts = self._harmless, self._shortest, self._texts.young
        changed: dict[str, Any] = {}
        renamed = False
        for key, item in value.items():
            kind = ""
            if key not in harmless:
                kind, safe_key = self._fields.get(key) or self._field(key)
                renamed = renamed or safe_key != ""
            shape = type(item)
            if shape is dict and depth < MAX_DEPTH - 1:
                new: Any = self.mapping(item, depth + 1)
            elif shape is not str:
                new = self._walk(item, key, depth + 1)
            elif kind:
                new = self._leaf(item, key)
            elif len(item) < shortest:
                continue
            elif len(item) < SLICE_FROM and item in texts:
                # What was seen a moment ago, without a call.
                new = item if texts[item] == item else texts[item]
            else:
                new = self.text(item)
            if new is not item:
                changed[key] = new
        if not renamed:
            return {**value, **changed} if changed else value
        return self._renamed(value | changed)

    def _remembered(self, text: str) -> str:
        clean = self._texts.get(text)
        if clean is None:
            cut_short = self._cut_short
            clean = self._fresh(text)
            if cut_short == self._cut_short:
                self._texts.put(text, clean)
        return text if clean == text else clean

    def _fresh(self, text: str) -> str:
        look = glance(text)
        likely = self._replacer.likely(look)
        if not likely and not self._replacer.hidden(look):
            return text
        if not text.startswith(("[", "{")):
            return self._plain(text, look, likely)
        written = self._written(text)
        if written is not None:
            return written.decode() if written else text
        clean = self._plain(text, look, likely)
        # Without what was replaced it may have become JSON.
        return clean if clean == text else self._fresh(clean)

    def _plain(self, text: str, look: Glance, likely: list[int]) -> str:
        clean = self._replacer.replaced(text, look, likely)
        if "\\u" in clean:
            bare = unescaped(clean)
            if bare != clean:
                look = glance(bare)
                safe = self._replacer.replaced(bare, look, self._replacer.likely(look))
                if safe != bare:
                    return safe
        return clean

    def _written(self, text: str | bytes) -> bytes | None:
        """Redact a JSON text leaf by leaf, and return how it is written then.

        Empty where nothing is to be replaced, ``None`` where it cannot be read.
        """
        if self._level >= MAX_LEVELS:
            self._cut_short += 1
            return None
        try:
            value = loads(text)
        except (ValueError, RecursionError):
            return None
        self._level += 1
        try:
            clean = self._walk(value, "", 0)
        finally:
            self._level -= 1
        written = dumps(clean)
        if clean is value:
            raw = text if isinstance(text, bytes) else _octets(text)
            # A field that stands twice was read once: the other one is not passed on unread.
            if written == raw or strings(written) == strings(raw):
                return b""
        return written

    def _array_text(self, text: str) -> str | None:
        """Redact a JSON array element by element; ``None`` where it cannot be."""
        known, rest = self._histories.split(text)
        if known is None:
            clean = self._arrays.get(text)
            if clean is not None:
                return text if clean == text else clean
        pure, before = known or (True, [])
        cut_short = self._cut_short
        try:
            pieces = [bytes(raw) for raw in self._array.decode(rest)]
        except (msgspec.DecodeError, RecursionError, UnicodeEncodeError):
            return None
        cleaned: list[bytes] = []
        for piece in pieces:
            safe = self._slices.get(piece) or self._slice(piece)
            if safe is None:
                return None
            cleaned.append(safe)
        if not pieces:
            return None
        pure = pure and cleaned == pieces
        cleaned = before + cleaned
        clean = text if pure else (b"[" + b",".join(cleaned) + b"]").decode()
        if cut_short == self._cut_short:
            self._histories.keep(text, (pure, cleaned))
            if known is None:
                # A history that grew will grow on and not come again.
                self._arrays.put(text, clean)
        return clean

    def _slice(self, piece: bytes) -> bytes | None:
        # A message is taken apart at once: its text comes again in other places by itself.
        cut_short = self._cut_short
        written = self._written(piece)
        if written is None:
            return None
        clean = written or piece
        if cut_short == self._cut_short:
            self._slices.put(piece, clean)
        return clean

    def _walk(self, value: Any, name: str, depth: int) -> Any:
        """Return the value redacted; the very same object where nothing had to be replaced."""
        clean = value
        if isinstance(value, str):
            clean = self._leaf(value, name)
        elif isinstance(value, (dict, list)) and depth >= MAX_DEPTH:
            clean = self.text(spelled(value))
        elif isinstance(value, dict):
            clean = self.mapping(value, depth)
        elif isinstance(value, list):
            items = [self._walk(item, name, depth + 1) for item in value]
            clean = value if all(map(is_, items, value)) else items
        elif isinstance(value, bytes):
            text = value.decode("utf-8", "surrogateescape")
            safe = self.text(text)
            clean = value if safe == text else _octets(safe)
        elif (type(value) is int or type(value) is float) and _SMALLEST <= abs(value) < _LARGEST:
            clean = self._number(value, name)
        return clean

    def _number(self, value: float, name: str) -> float | str:
        """Redact what may be the number of a card or phone."""
        if value != int(value):
            return value
        text = str(int(value))
        safe = self._leaf(text, name)
        return value if safe == text else safe

    def _renamed(self, value: dict[str, Any]) -> dict[str, Any]:
        clean: dict[str, Any] = {}
        for key, item in value.items():
            safe_key = self._field(key)[1] or key
            while safe_key in clean:
                safe_key += "_"
            clean[safe_key] = item
        return clean

    def _leaf(self, text: str, name: str) -> str:
        kind = (self._fields.get(name) or self._field(name))[0] if name else ""
        if not kind and len(text) < self._shortest:
            return text
        if not kind or not text or self._replacer.is_placeholder(text):
            return self.text(text)
        fewest, most = _DIGITS.get(kind, (0, 0))
        if most and not fewest <= sum(map(str.isdigit, text)) <= most:
            clean = self.text(text)
            # What is left may have as few digits as such a number.
            return clean if clean == text else self._leaf(clean, name)
        self.redactions[kind] += 1
        return f"[{kind}]"

    def _field(self, name: str) -> tuple[str, str]:
        known = self._fields.get(name)
        if known is None:
            cut_short = self._cut_short
            kind, safe = name_kind(name), self.text(name)
            known = (kind if kind in self._names else "", "" if safe is name else safe)
            if cut_short != self._cut_short:
                return known
            if len(self._fields) >= MAX_FIELDS:
                self._fields.clear()
                self._harmless.clear()
            if len(name) <= LONGEST_FIELD:
                self._fields[name] = known
                if known == ("", ""):
                    self._harmless.add(name)
        return known
