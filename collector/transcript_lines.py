"""Read the JSON objects of a file, one a line, and say which lines hold none."""

from __future__ import annotations

import itertools
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, TypeAlias

import msgspec

ErrorSink: TypeAlias = Callable[[int, str], None]
"""Take the number of a line that could not be read, from 1, and the reason."""

Row: TypeAlias = tuple[int, bytes, Mapping[str, Any]]
"""A line's number, its bytes and what they say."""

NOT_LINES = "expected JSON Lines, one object a line"


class _NotJsonError(Exception):
    """A line is not JSON; the text is the reason."""


def rows(file: Iterable[bytes], report: ErrorSink) -> Iterator[Row]:
    """Yield the objects; a file that is one JSON document over many lines is one error."""
    lines = _lines(file, report)
    head = list(itertools.islice(lines, 1))
    if head and _breaks_off(head[0][1]):
        start = head[0][1].strip()
        head += itertools.islice(lines, 1)
        if start == b"[" or len(head) == 1 or not _is_object(head[1][1]):
            make = "jq -c '.[]'" if start.startswith(b"[") else "jq -c ."
            report(head[0][0], f"{NOT_LINES}; `{make} FILE` makes lines of it")
            return
    for number, line in itertools.chain(head, lines):
        try:
            row = _decoded(line)
        except _NotJsonError as error:
            report(number, f"not valid JSON: {error}")
            continue
        if isinstance(row, dict):
            yield number, line, row
        elif isinstance(row, list) and row and all(isinstance(item, dict) for item in row):
            report(number, f"{NOT_LINES}; this one is a list, `jq -c '.[]' FILE` makes lines of it")
        else:
            report(number, "not a JSON object")


def _breaks_off(line: bytes) -> bool:
    """Tell a line after which a JSON document may go on."""
    text = line.strip()
    return text[:1] in (b"{", b"[") and text[-1:] in (b"{", b"[", b",")


def _is_object(line: bytes) -> bool:
    """Tell a line that is a row by itself, so that the one before it was a broken row."""
    try:
        return isinstance(_decoded(line), dict)
    except _NotJsonError:
        return False


def _decoded(line: bytes) -> Any:
    try:
        return msgspec.json.decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise _NotJsonError(str(error)) from error


def _lines(file: Iterable[bytes], report: ErrorSink) -> Iterator[tuple[int, bytes]]:
    """Yield lines that are not blank; a file that breaks off is an error of the line after."""
    number = 0
    try:
        for number, line in enumerate(file, start=1):
            if line.strip():
                yield number, line
    except (OSError, EOFError, zlib.error) as error:
        report(number + 1, f"cannot be read: {error}")
