"""Read the head of an HTTP/1 message so that it can be sent on line by line, as it came.

Strict where two readers could disagree about where a message ends (RFC 9112): a line break is
CRLF, a line is never continued, a name is a token.
"""

from __future__ import annotations

import re

import msgspec

from collector.errors import MalformedError, OversizedError

MAX_HEAD = 256 * 1024
"""Bytes of a first line and its headers; providers' own limits are lower."""
END = b"\r\n\r\n"
_NAME = re.compile(rb"[!#$%&'*+\-.^_`|~0-9A-Za-z]+")
_METHOD = re.compile(rb"[A-Z]{1,32}")
_TARGET = re.compile(rb"/[\x21-\x7e\x80-\xff]*")
_STATUS = re.compile(rb"HTTP/1\.([01]) ([1-9][0-9][0-9])(?: ([^\r\n]*))?")


class Field(msgspec.Struct, frozen=True, kw_only=True):
    """One header."""

    name: str
    """Lower case."""
    value: str
    """Latin-1, without the white space around it."""
    line: bytes
    """As it came, without the line break."""


class RequestHead(msgspec.Struct, frozen=True, kw_only=True):
    """The head of a request."""

    method: str
    target: str
    """Path and query, as sent."""
    minor: int
    """0 or 1 of HTTP/1.0 and HTTP/1.1."""
    fields: tuple[Field, ...]


class ResponseHead(msgspec.Struct, frozen=True, kw_only=True):
    """The head of a response."""

    line: bytes
    """The status line as it came, without the line break."""
    status: int
    minor: int
    fields: tuple[Field, ...]


def first(fields: tuple[Field, ...], name: str) -> str:
    """Return the first value of a header; empty when it is not there."""
    return next((field.value for field in fields if field.name == name), "")


def words(fields: tuple[Field, ...], name: str) -> list[str]:
    """Return the comma-separated words of a header, in lower case."""
    values = ",".join(field.value for field in fields if field.name == name)
    return [word for part in values.split(",") if (word := part.strip().lower())]


def request_head(raw: bytes) -> RequestHead:
    """Read a request's head, which ends before its empty line.

    Raises:
        MalformedError: It is not one.
    """
    line, fields = _split(raw)
    parts = line.split(b" ")
    if (
        len(parts) != 3
        or not _METHOD.fullmatch(parts[0])
        or parts[2] not in (b"HTTP/1.0", b"HTTP/1.1")
    ):
        raise MalformedError("the first line is no HTTP/1 request")
    if not _TARGET.fullmatch(parts[1]):
        raise MalformedError("the request's target is no path")
    minor = int(parts[2][-1:])
    if sum(field.name == "host" for field in fields) != minor and minor:
        raise MalformedError("a request has one Host")
    return RequestHead(
        method=parts[0].decode(),
        target=parts[1].decode("latin-1"),
        minor=minor,
        fields=fields,
    )


def response_head(raw: bytes) -> ResponseHead:
    """Read a response's head, which ends before its empty line.

    Raises:
        MalformedError: It is not one.
    """
    line, fields = _split(raw)
    status = _STATUS.fullmatch(line)
    if status is None:
        raise MalformedError("the first line is no HTTP/1 response")
    return ResponseHead(line=line, status=int(status[2]), minor=int(status[1]), fields=fields)


def _split(raw: bytes) -> tuple[bytes, tuple[Field, ...]]:
    line, *lines = raw.split(b"\r\n")
    return line, tuple(map(_field, lines))


def _field(line: bytes) -> Field:
    name, colon, value = line.partition(b":")
    if not colon or not _NAME.fullmatch(name) or any(bad in value for bad in (0, 10, 13)):
        raise MalformedError("a header line is none")
    return Field(name=name.decode().lower(), value=value.strip(b" \t").decode("latin-1"), line=line)


class HeadBuffer:
    """Gather bytes until a head is complete."""

    def __init__(self) -> None:
        self._held = bytearray()

    def __len__(self) -> int:
        """Return how many bytes of an unfinished head are held."""
        return len(self._held)

    def add(self, data: bytes) -> tuple[bytes, bytes] | None:
        """Take bytes in; return a head without its empty line, and what came after it.

        Raises:
            OversizedError: The head has no end.
        """
        held = self._held
        if not held:
            end = data.find(END)
            if 0 <= end <= MAX_HEAD:
                return data[:end], data[end + len(END) :]
        searched = max(0, len(held) - len(END))
        held += data
        end = held.find(END, searched)
        if end > MAX_HEAD or (end < 0 and len(held) > MAX_HEAD):
            raise OversizedError(f"the headers are larger than {MAX_HEAD} bytes")
        if end < 0:
            return None
        head, rest = bytes(held[:end]), bytes(held[end + len(END) :])
        held.clear()
        return head, rest
