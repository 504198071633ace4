"""Read and write JSON that a strict parser refuses: numbers past any range, lone surrogates.

What a producer sends is somebody else's, and nothing of it may be left unread because of a
number that no machine holds.
"""

from __future__ import annotations

import json
import math
import re
from typing import Any

import msgspec

BYTE_ORDER_MARK = b"\xef\xbb\xbf"
"""What Windows writes before a text."""
_LONGEST_INTEGER = 4_000
"""Digits; Python refuses to read more than 4,300."""
_SURROGATE = re.compile("[\ud800-\udfff]")
_ESCAPE = re.compile(
    rb"\\(?:u[dD][89abAB]..\\u[dD][c-fC-F]..|(?P<half>u[dD][89a-fA-F][0-9a-fA-F]{2})|.)", re.DOTALL
)
"""An escape, or the two of a character beyond the first 65,536."""
_STRICT = msgspec.json.Decoder()


class Number(str):
    """A number, as it was written, that no ``int`` or ``float`` holds."""

    __slots__ = ()


def loads(text: str | bytes) -> Any:
    """Read a JSON text, leniently where it must be.

    Raises:
        ValueError: it is not JSON.
        RecursionError: it is nested too deeply.
    """
    try:
        return _STRICT.decode(text)
    except (msgspec.DecodeError, UnicodeEncodeError):
        return _LENIENT.decode(text if isinstance(text, str) else text.decode())


def whole(text: bytes) -> Any:
    """Read a JSON text strictly, but for characters that were cut in half: each becomes U+FFFD.

    Raises:
        msgspec.DecodeError: it is not JSON, or not UTF-8.
        RecursionError: it is nested too deeply.
    """
    try:
        return _STRICT.decode(text)
    except msgspec.DecodeError:
        mended = whole_characters(text)
        if mended == text:
            raise
        return _STRICT.decode(mended)


def whole_characters(text: bytes) -> bytes:
    """Replace each half of a character, which a JSON text holds as an escape, by U+FFFD."""
    return _ESCAPE.sub(_whole_escape, text)


def dumps(value: Any) -> bytes:
    """Write a value without white space; unlike ``spelled`` bytes become base64."""
    try:
        return msgspec.json.encode(value)
    except (TypeError, ValueError, OverflowError, RecursionError, msgspec.MsgspecError):
        return spelled(value).encode()


def spelled(value: Any) -> str:
    """Write a value however deep it is; bytes become the text they hold.

    Every ``Number`` is written as it came, every lone surrogate as its escape.
    """
    parts: list[str] = []
    rest: list[tuple[bool, Any]] = [(False, value)]
    while rest:
        is_written, item = rest.pop()
        if is_written:
            parts.append(item)
        elif isinstance(item, dict):
            parts.append("{")
            rest.append((True, "}"))
            for place, (key, inner) in reversed(list(enumerate(item.items()))):
                rest.append((False, inner))
                rest.append((True, f"{',' if place else ''}{_scalar(str(key))}:"))
        elif isinstance(item, (list, tuple)):
            parts.append("[")
            rest.append((True, "]"))
            for place, inner in reversed(list(enumerate(item))):
                rest.append((False, inner))
                if place:
                    rest.append((True, ","))
        else:
            parts.append(_scalar(item))
    return "".join(parts)


def strings(text: bytes) -> int:
    r"""Weigh the strings of a JSON text, to tell whether another holds as many.

    Each counts two, or one where its last character is a backslash. Writing a text anew can
    only lower the weight (``\u005c`` becomes a backslash), and leaving a field out always does.
    """
    return text.count(b'"') - text.count(b'\\"')


def _whole_escape(escape: re.Match[bytes]) -> bytes:
    return b"\\ufffd" if escape["half"] else escape[0]


def _scalar(value: Any) -> str:
    if isinstance(value, Number):
        return str(value)
    if isinstance(value, bytes):
        value = value.decode("utf-8", "surrogateescape")
    if isinstance(value, int) and not isinstance(value, bool) and value.bit_length() > 10_000:
        # Decimal digits of so many are refused, and take quadratic time.
        value = hex(value)
    try:
        written = json.dumps(value, ensure_ascii=False)
    except TypeError:
        written = json.dumps(str(value), ensure_ascii=False)
    return _SURROGATE.sub(lambda found: f"\\u{ord(found[0]):04x}", written)


def _integer(digits: str) -> int | Number:
    return int(digits) if len(digits) <= _LONGEST_INTEGER else Number(digits)


def _real(digits: str) -> float | Number:
    value = float(digits)
    return value if math.isfinite(value) else Number(digits)


_LENIENT = json.JSONDecoder(
    parse_int=_integer, parse_float=_real, parse_constant=Number, strict=False
)
