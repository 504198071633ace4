"""Read the fields of exported spans: ids, times, kinds and names, however an exporter writes them."""

from __future__ import annotations

import base64
import binascii
import hashlib
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import msgspec

from collector.dialects.attributes import as_number
from collector.transcript_formats.content import FormatError

HEX = re.compile(r"[0-9a-f]+").fullmatch
BASE64 = re.compile(r"[A-Za-z0-9+/]+={1,2}").fullmatch
"""How protobuf's own JSON writes ids, whose lengths make it end in ``=``."""
TRACE_DIGITS, SPAN_DIGITS = 32, 16
LATEST_NS = 1 << 63
_SCALES = ((10**11, 10**9), (10**14, 10**6), (10**17, 10**3), (LATEST_NS, 1))
"""Below what a number counts seconds, milliseconds, microseconds, nanoseconds: those of 1973 on."""
_KINDS = {"INTERNAL": 1, "SERVER": 2, "CLIENT": 3, "PRODUCER": 4, "CONSUMER": 5}
_STATUSES = {"OK": 1, "ERROR": 2}


def trace_id(value: Any) -> str:
    """Return 32 hex digits; empty when there is no id. Ids of another form are digested."""
    return _id(value, TRACE_DIGITS)


def span_id(value: Any) -> str:
    """Return 16 hex digits; empty when there is no id. Ids of another form are digested."""
    return _id(value, SPAN_DIGITS)


def _id(value: Any, digits: int) -> str:
    if isinstance(value, int) and not isinstance(value, bool):
        value = f"{value & ((1 << 4 * digits) - 1):x}"
    if not isinstance(value, str) or not value:
        return ""
    plain = value.lower().removeprefix("0x")
    if digits == TRACE_DIGITS:
        plain = plain.replace("-", "")
    if HEX(plain) and len(plain) <= digits and len(plain) >= digits // 2:
        found = plain.zfill(digits)
    elif len(value) in (12, 24) and BASE64(value):
        found = _decoded(value, digits)
    else:
        found = digest(value, digits)
    return found if found.strip("0") else ""


def _decoded(value: str, digits: int) -> str:
    try:
        found = base64.b64decode(value, validate=True).hex()
    except binascii.Error:
        found = ""
    return found if len(found) == digits else digest(value, digits)


def digest(value: str, digits: int) -> str:
    """Return an id that stands for any text."""
    raw = value.encode("utf-8", "surrogatepass")
    return hashlib.blake2b(raw, digest_size=digits // 2).hexdigest()


def nanoseconds(value: Any) -> int:
    """Read a time as Unix nanoseconds; 0 when there is none.

    Texts are ISO 8601, with a space or a ``T``, in UTC where they name no zone. Numbers are
    seconds, milliseconds, microseconds or nanoseconds by their size; a pair is JavaScript's
    seconds and nanoseconds.
    """
    if isinstance(value, list):
        pair = [v for v in value if isinstance(v, int) and not isinstance(v, bool)]
        value = pair[0] * 10**9 + pair[1] if len(pair) == len(value) == 2 else None
        return value if value is not None and 0 <= value < LATEST_NS else 0
    if isinstance(value, str):
        return _nanoseconds_of_text(value.strip())
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return 0
    return _scaled(value)


def _scaled(value: float) -> int:
    for below, scale in _SCALES:
        if 0 < value < below:
            return min(int(value * scale), LATEST_NS - 1)
    return 0


def _nanoseconds_of_text(text: str) -> int:
    try:
        return _scaled(int(text) if text.isdecimal() else float(text))
    except (ValueError, OverflowError):
        pass
    try:
        at = datetime.fromisoformat(text)
        at = at if at.tzinfo else at.replace(tzinfo=UTC)
        since = at - datetime.fromtimestamp(0, UTC)
    except (ValueError, OverflowError):
        return 0
    return max(0, ((since.days * 86_400 + since.seconds) * 10**6 + since.microseconds) * 1000)


def kind(value: Any) -> int:
    """Read a span kind of OTLP: a number, ``CLIENT``, ``SpanKind.CLIENT``, ``SPAN_KIND_CLIENT``."""
    if isinstance(value, str):
        return _KINDS.get(value.removeprefix("SPAN_KIND_").rpartition(".")[2].upper(), 1)
    known = (
        isinstance(value, int)
        and not isinstance(value, bool)
        and 0 <= value <= max(_KINDS.values())
    )
    return value if known else 1


def status(value: Any) -> int:
    """Read a status code: a number, ``ERROR``, ``StatusCode.ERROR``, ``STATUS_CODE_ERROR``."""
    if isinstance(value, str):
        return _STATUSES.get(value.removeprefix("STATUS_CODE_").rpartition(".")[2].upper(), 0)
    return value if isinstance(value, int) and value in _STATUSES.values() else 0


def mapping(value: Any) -> Mapping[str, Any]:
    """Return an object, or one that was written as JSON text; empty for everything else."""
    found = parsed(value)
    return found if isinstance(found, dict) else {}


def listing(value: Any) -> list[Any]:
    """Return a list, or one that was written as JSON text; empty for everything else."""
    found = parsed(value)
    return found if isinstance(found, list) else []


def parsed(value: Any) -> Any:
    """Parse a text that looks like a JSON object or list; everything else stays."""
    if not isinstance(value, str) or value[:1] not in ("{", "["):
        return value
    try:
        return msgspec.json.decode(value)
    except (msgspec.DecodeError, RecursionError, UnicodeEncodeError):
        return value


def as_text(value: Any) -> str:
    """Write content as live spans carry it: text as it is, everything else as JSON."""
    if isinstance(value, str):
        return value
    try:
        return msgspec.json.encode(value).decode()
    except RecursionError as error:
        raise FormatError("nests too deeply") from error


def first(row: Mapping[str, Any], *keys: str) -> Any:
    """Return the first value that is there and not ``null``."""
    return next((row[key] for key in keys if row.get(key) is not None), None)


def word(row: Mapping[str, Any], *keys: str) -> str:
    """Return the first value that is a text or a number, as text."""
    for key in keys:
        value = row.get(key)
        if isinstance(value, str) and value:
            return value
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            return str(value)
    return ""


def amount(row: Mapping[str, Any], *keys: str) -> float | None:
    """Return the first value that is a number, or a text that spells one."""
    return next((n for key in keys if (n := as_number(row.get(key))) is not None), None)
