"""Find where the body of an HTTP/1 message ends, without changing or copying it (RFC 9112, 6)."""

from __future__ import annotations

import re
from typing import Protocol

from collector.errors import MalformedError
from collector.proxy.http_head import RequestHead, ResponseHead, first, words

MAX_LINE = 16 * 1024
"""Bytes of a chunk's size line, or of all trailers."""
_SIZE = re.compile(rb"([0-9A-Fa-f]{1,15})[ \t]*(?:;[^\r\n]*)?\r\n")
_DIGITS = re.compile(r"[0-9]{1,18}")


class Framing(Protocol):
    """Where one body ends."""

    @property
    def done(self) -> bool:
        """Return whether the body has ended."""

    def take(self, data: bytes) -> int:
        """Say how many of these bytes, from the first, belong to the body.

        Raises:
            MalformedError: They are not framed as the head said.
        """


class Sized:
    """A body of a length that its head told."""

    def __init__(self, length: int) -> None:
        self._left = length

    @property
    def done(self) -> bool:
        """Return whether all of it came."""
        return not self._left

    def take(self, data: bytes) -> int:
        """Take what belongs to the body."""
        taken = min(self._left, len(data))
        self._left -= taken
        return taken


class UntilClosed:
    """A response that ends with its connection."""

    done = False

    def take(self, data: bytes) -> int:
        """Take everything."""
        return len(data)


class Chunked:
    """A body in chunks; its frames count as part of it.

    ``into`` gathers what the chunks hold, for a reader who wants the body itself.
    """

    def __init__(self, into: list[bytes] | None = None) -> None:
        self.done = False
        self._into = into
        self._left = 0
        self._line = b""
        self._expects = "size"
        self._trailers = 0

    def take(self, data: bytes) -> int:
        """Take what belongs to the body, frames included."""
        at = 0
        while at < len(data) and not self.done:
            if self._left:
                step = min(self._left, len(data) - at)
                if self._into is not None:
                    self._into.append(data[at : at + step])
                self._left -= step
                at += step
                continue
            end = data.find(b"\n", at) + 1
            self._line += data[at : end or len(data)]
            if len(self._line) > MAX_LINE:
                raise MalformedError("a chunk's size line does not end")
            if not end:
                return len(data)
            at = end
            line, self._line = self._line, b""
            self._read(line)
        return at

    def _read(self, line: bytes) -> None:
        if self._expects == "size":
            size = _SIZE.fullmatch(line)
            if size is None:
                raise MalformedError("a chunk's size line is none")
            self._left = int(size[1], 16)
            self._expects = "end" if self._left else "trailers"
        elif self._expects == "end":
            if line != b"\r\n":
                raise MalformedError("a chunk does not end where it said")
            self._expects = "size"
        elif line == b"\r\n":
            self.done = True
        else:
            self._trailers += len(line)
            if self._trailers > MAX_LINE or not line.endswith(b"\r\n"):
                raise MalformedError("the trailers of a body are none")


def of_request(head: RequestHead) -> Framing:
    """Return how a request's body is framed.

    Raises:
        MalformedError: The head says two things, or one that we do not know.
    """
    names = {field.name for field in head.fields}
    if "transfer-encoding" not in names:
        return Sized(_length(first(head.fields, "content-length"), head))
    codings = words(head.fields, "transfer-encoding")
    if codings != ["chunked"] or "content-length" in names or not head.minor:
        raise MalformedError("Transfer-Encoding must be chunked and stand alone")
    return Chunked()


def of_response(head: ResponseHead, *, method: str) -> Framing:
    """Return how the body of the response to a method is framed.

    Raises:
        MalformedError: The head says two things, or one that we do not know.
    """
    if method == "HEAD" or head.status < 200 or head.status in (204, 304):
        return Sized(0)
    codings = words(head.fields, "transfer-encoding")
    length = first(head.fields, "content-length")
    if codings:
        if length:
            raise MalformedError("a response has a length and a transfer coding")
        return Chunked() if codings[-1] == "chunked" else UntilClosed()
    return Sized(_length(length, head)) if length else UntilClosed()


def _length(value: str, head: RequestHead | ResponseHead) -> int:
    if any(f.name == "content-length" and f.value != value for f in head.fields):
        raise MalformedError("two lengths")
    stated = any(f.name == "content-length" for f in head.fields)
    if stated and not _DIGITS.fullmatch(value):
        raise MalformedError("Content-Length is not a number")
    return int(value or 0)
