"""Look over a text once, cheaply, before anything is searched in it."""

from __future__ import annotations

import re
import string
from collections.abc import Iterator
from typing import TypeAlias

import msgspec

Extent: TypeAlias = tuple[int, int]
"""Half-open range of characters."""

_DIGITS = bytes(0x30 if 0x30 <= byte <= 0x39 else byte for byte in range(256))
_SEPARATORS = b" .()-/"
_SHAPES = bytes(
    ord("A")
    if chr(byte) in string.ascii_letters
    else ord("0")
    if chr(byte) in string.digits
    else byte
    if byte in b" -"
    else ord(".")
    for byte in range(256)
)
_RUN = re.compile(r"[0-9][0-9 .()/-]{5,}[0-9]")
_DATE = re.compile(r"(?:19|20)[0-9]{2}([-/.])[01][0-9]\1[0-3][0-9]")
_WORDS = (
    # A telephone is near
    *("phone", "mobil", "cell", "tel", "fax", "whatsapp", "handy", "celul", "móvil", "tél"),
    # or the number by which a country knows somebody.
    *(
        "ssn",
        "social",
        "steuer",
        "idnr",
        "tax id",
        "sécu",
        "secu",
        "nir",
        "nss",
        "dni",
        "nif",
        "bsn",
    ),
    *(
        "burgerservice",
        "rijksregister",
        "person",
        "cpr",
        "fødsels",
        "pesel",
        "cpf",
        "aadha",
        "uidai",
    ),
    *("ahv", "avs", "kimlik", "tfn", "tax file", "id number", "identity n"),
)
_WORD = re.compile("|".join(map(re.escape, _WORDS)))
_BEFORE, _BEHIND = 48, 24
"""Characters before and behind a number in which such a word is near it."""
_NAME = 28
"""Characters before a quoted number in which its name stands."""
_SHORTEST_CARD = 13
_FEWEST = 7
"""Digits of the shortest phone number."""


class Glance(msgspec.Struct, frozen=True, kw_only=True):
    """What one cheap look over a text tells."""

    text: str
    lower: str
    runs: tuple[Extent, ...]
    """Where seven digits or more follow each other, separators aside, and may be a person's
    number; plain short numbers, unless a word says what they are, and dates are left out."""
    digits: bool
    """Whether six digits follow each other anywhere, separators aside."""
    shape: bytes
    """The text with ``A`` for letters, ``0`` for digits, and ``.`` for all but blanks and hyphens."""


def glance(text: str) -> Glance:
    """Look over a text once."""
    octets = text.encode("utf-8", "replace")
    packed = octets.translate(_DIGITS, _SEPARATORS)
    digits = b"000000" in packed
    return Glance(
        text=text,
        lower=text.lower(),
        runs=tuple(_runs(text)) if digits and b"0000000" in packed else (),
        digits=digits,
        shape=octets.translate(_SHAPES),
    )


def _runs(text: str) -> Iterator[Extent]:
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
            # In quotes it is a value of JSON, and only its name says what it is.
            if text[start - 1 : start] in ("'", '"'):
                near = text[max(0, start - _NAME) : start].lower()
            else:
                near = text[max(0, start - _BEFORE) : end + _BEHIND].lower()
            if _WORD.search(near) is None:
                continue
        yield start, end
