"""Read the JSON objects of a file, one a line or in documents, and say what holds none."""

from __future__ import annotations

import itertools
import json
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, TypeAlias

import msgspec

from collector import loose_json
from collector.json_documents import values

ErrorSink: TypeAlias = Callable[[int, str], None]
"""Take the number of a line that could not be read, from 1, and the reason."""

Row: TypeAlias = tuple[int, bytes, Mapping[str, Any]]
"""The number of the line that an object begins on, its bytes and what they say."""


NO_NUMBERS = (b"NaN", b"Infinity")
"""What Python's JSON writes for missing cells of a data frame; JSON has no words for them."""


class _NotJsonError(Exception):
    """A text is not JSON; the reason is its own."""


def rows(file: Iterable[bytes], report: ErrorSink) -> Iterator[Row]:
    """Yield the objects of a file that is read in lines, or in pieces of long ones.

    A file that begins with a list, or with an object over many lines, is read as documents:
    each object, and each object of a list, is a row.
    """
    pieces = _read(file, report)
    head = _first(pieces)
    if not head:
        return
    begun = b"".join(head).strip()
    whole = itertools.chain(head, pieces)
    if _may_be_document(begun):
        head += _next_line(pieces) if begun.startswith(b"{") or begun == b"[" else []
        whole = itertools.chain(head, pieces)
        if not (begun.startswith(b"{") and _is_object(_last_line(head))):
            yield from _objects(values(whole), report)
            return
    yield from _objects(_lines(whole), report)


def _objects(texts: Iterable[tuple[int, bytes]], report: ErrorSink) -> Iterator[Row]:
    for number, text in texts:
        try:
            row = _decoded(text)
        except _NotJsonError as error:
            report(number, f"not valid JSON: {error}")
            continue
        if isinstance(row, dict):
            yield number, text, row
        elif isinstance(row, list) and row and all(isinstance(item, dict) for item in row):
            for item in row:
                yield number, msgspec.json.encode(item), item
        else:
            report(number, "not a JSON object")


def _read(file: Iterable[bytes], report: ErrorSink) -> Iterator[bytes]:
    """Yield the pieces; a file that breaks off is an error of the line after."""
    number = 1
    try:
        for piece in file:
            yield piece
            number += piece.endswith(b"\n")
    except (OSError, EOFError, zlib.error) as error:
        report(number, f"cannot be read: {error}")


def _first(pieces: Iterator[bytes]) -> list[bytes]:
    """Return the blank lines at the start and the first piece that is none."""
    head: list[bytes] = []
    for number, read in enumerate(pieces):
        piece = read if number else read.removeprefix(loose_json.BYTE_ORDER_MARK)
        head.append(piece)
        if piece.strip():
            return head
    return []


def _next_line(pieces: Iterator[bytes]) -> list[bytes]:
    found: list[bytes] = []
    for piece in pieces:
        found.append(piece)
        if piece.strip() and piece.endswith(b"\n"):
            break
    return found


def _last_line(head: list[bytes]) -> bytes:
    lines = [line for line in b"".join(head).splitlines() if line.strip()]
    return lines[-1] if len(lines) > 1 else b""


def _may_be_document(begun: bytes) -> bool:
    """Tell a first line that begins a list, or an object that goes on behind it."""
    if not begun.startswith((b"{", b"[")):
        return False
    try:
        found = _decoded(begun)
    except _NotJsonError:
        return begun.startswith(b"[") or begun.endswith((b"{", b"[", b","))
    return isinstance(found, list) and any(isinstance(item, dict) for item in found)


def _is_object(line: bytes) -> bool:
    """Tell a line that is a row by itself, so that the one before it was a broken row."""
    try:
        return isinstance(_decoded(line), dict)
    except _NotJsonError:
        return False


def _lines(pieces: Iterable[bytes]) -> Iterator[tuple[int, bytes]]:
    """Put long lines together again, and leave out blank ones."""
    number = 1
    begun: list[bytes] = []
    for piece in pieces:
        begun.append(piece)
        if piece.endswith(b"\n"):
            line = b"".join(begun)
            begun = []
            if line.strip():
                yield number, line
            number += 1
    rest = b"".join(begun)
    if rest.strip():
        yield number, rest


def _decoded(line: bytes) -> Any:
    try:
        return loose_json.whole(line)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        if not any(word in line for word in NO_NUMBERS):
            raise _NotJsonError(str(error)) from error
        return _decoded_loosely(line, error)


def _decoded_loosely(line: bytes, strictly: Exception) -> Any:
    """Read JSON as Python and pandas write it: what is no number stands in no quotes."""
    try:
        loose = json.loads(line, parse_constant=lambda _: None)
        # Once more the strict way: Python lets through what nobody behind us can write.
        return loose_json.whole(loose_json.dumps(loose))
    except (ValueError, OverflowError, RecursionError) as error:
        raise _NotJsonError(str(strictly)) from error
