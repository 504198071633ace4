"""Read the few fields of a tool's result that speak of the call itself."""

from __future__ import annotations

import re
from typing import Any

import msgspec

_FIELD = re.compile(
    r"""[,\s]*['"](\w+)['"]\s*:\s*(?:"((?:[^"\\]|\\.)*)(?:"|\Z)|'((?:[^'\\]|\\.)*)(?:'|\Z)|([\w.+-]+)|([\[{]))"""
)
_BRACKET = re.compile(r"""[\[{\]}]|"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'""")
_ALIASES = {
    "iserror": "is_error",
    "statuscode": "status_code",
    "http_status": "status_code",
    "error_message": "error",
    "errormessage": "error",
    "succeeded": "success",
    "detail": "message",
    "reason": "message",
    "info": "message",
    "msg": "message",
    "description": "message",
}


class _Envelope(msgspec.Struct, frozen=True):
    """The fields of a JSON result that speak of the call itself; all others are skipped unparsed."""

    error: Any = None
    errors: Any = None
    error_message: Any = None
    is_error: Any = None
    isError: Any = None  # noqa: N815 - the wire's spelling
    ok: Any = None
    success: Any = None
    status: Any = None
    status_code: Any = None
    statusCode: Any = None  # noqa: N815 - the wire's spelling
    message: Any = None
    detail: Any = None
    reason: Any = None
    text: Any = None
    content: Any = None
    result: Any = None
    output: Any = None
    results: Any = None
    data: Any = None
    matches: Any = None
    documents: Any = None
    records: Any = None
    rows: Any = None
    hits: Any = None


_ENVELOPE = msgspec.json.Decoder(_Envelope)


def fields_of(text: str) -> dict[str, Any]:
    """Return the fields of a result that speak of the call, whatever dialect of braces it is in.

    Python's repr and JSON that was cut off do not parse; their outermost scalars are read. Of a
    list only MCP's text parts count: its first record may hold an error that is mere content.
    """
    try:
        decoded = msgspec.structs.asdict(_ENVELOPE.decode(text))
    except (msgspec.DecodeError, UnicodeEncodeError, RecursionError):
        found = _head_fields(text)
        if text.startswith("["):
            found = {"text": found["text"]} if "type" in found and "text" in found else {}
    else:
        found = {name: value for name, value in decoded.items() if value is not None}
    for name in list(found):
        alias = _ALIASES.get(name.lower())
        if alias:
            found.setdefault(alias, found[name])
    return found


def _head_fields(text: str) -> dict[str, Any]:
    """Return the scalar fields of the outermost braces, nested values passed over."""
    found: dict[str, Any] = {}
    position = len(text) - len(text.lstrip("[{ \n"))
    while match := _FIELD.match(text, position):
        name, double, single, bare, nested = match.groups()
        if nested:
            position = _after_nested(text, match.start(5))
            found[name] = [] if position == match.end() + 1 else nested
        else:
            string = double if double is not None else single
            found[name] = _unescaped(string) if string is not None else _scalar(bare)
            position = match.end()
    return found


def _after_nested(text: str, position: int) -> int:
    """Return where the nested value that opens at ``position`` ends."""
    depth = 0
    for token in _BRACKET.finditer(text, position):
        bracket = token[0]
        if bracket in "[{":
            depth += 1
        elif bracket in "]}":
            depth -= 1
            if not depth:
                return token.end()
    return len(text)


def _unescaped(text: str) -> str:
    return text.replace("\\'", "'").replace('\\"', '"') if "\\" in text else text


def _scalar(text: str) -> bool | int | str | None:
    lowered = text.lower()
    if lowered in ("none", "null"):
        return None
    if lowered in ("true", "false"):
        return lowered == "true"
    return int(text) if text.isascii() and text.isdigit() and len(text) < 18 else text
