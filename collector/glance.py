"""Look over a text once, cheaply, before anything is searched in it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TypeAlias

import msgspec

Extent: TypeAlias = tuple[int, int]
"""Half-open range of characters."""

_DIGITS = bytes(0x30 if 0x30 <= byte <= 0x39 else byte for byte in range(256))
_SEPARATORS = b" .()-/"
_RUN = re.compile(r"[0-9][0-9 .()/-]{5,}[0-9]")
_DATE = re.compile(r"(?:19|20)[0-9]{2}([-/.])[01][0-9]\1[0-3][0-9]")
_PHONE_WORDS = ("phone", "mobile", "cell", "tel", "fax", "whatsapp")
_SHORTEST_CARD = 13
_FEWEST = 7
"""Digits of the shortest phone number."""


class Glance(msgspec.Struct, frozen=True, kw_only=True):
    """What one cheap look over a text tells."""

    text: str
    lower: str
    runs: tuple[Extent, ...]
    """Where seven digits or more follow each other, separators aside, and may be a number of
    a card or phone; plain short numbers and dates are left out."""


def glance(text: str) -> Glance:
    """Look over a text once."""
    packed = text.encode("utf-8", "replace").translate(_DIGITS, _SEPARATORS)
    lower = text.lower()
    runs = tuple(_runs(text, lower)) if b"0000000" in packed else ()
    return Glance(text=text, lower=lower, runs=runs)


def _runs(text: str, lower: str) -> Iterator[Extent]:
    named: bool | None = None
    for match in _RUN.finditer(text):
        start, end = match.span()
        date = _DATE.match(text, start)
        if date is not None:
            # A date and the hour after it make a run too, the commonest one.
            start = date.end()
            if end - start <= _FEWEST:
                continue
        run = text[start:end]
        digits = run.isdigit()
        if not digits and sum(map(str.isdigit, run)) < _FEWEST:
            continue
        if digits and len(run) < _SHORTEST_CARD and text[start - 1 : start] != "+":
            if len(run) < _FEWEST:
                continue
            if named is None:
                named = any(word in lower for word in _PHONE_WORDS)
            if not named:
                continue
        yield start, end
