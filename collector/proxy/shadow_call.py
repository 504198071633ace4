"""Ask a candidate and read all of its answer; nobody is waiting for it."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Callable

import msgspec

from collector.errors import MalformedError, OversizedError
from collector.proxy.framing import Chunked, UntilClosed, of_response
from collector.proxy.http_head import HeadBuffer, ResponseHead, first, response_head
from collector.proxy.upstream import Upstream

LARGEST = 4 * 1024 * 1024
"""Bytes of an answer, as it comes."""
_READ = 64 * 1024
_PIECE = 64
"""Bytes that a piece takes beside what it holds."""


class Answer(msgspec.Struct, frozen=True, kw_only=True):
    """What a candidate said."""

    status: int
    encoding: str
    type: str
    """``Content-Type``."""
    chunked: bool
    pieces: tuple[bytes, ...]
    """The body as it came."""
    first_ns: int
    """When its first byte came; 0 when none did."""
    size: int
    whole: bool


async def ask(
    upstream: Upstream,
    request: bytes,
    *,
    context: ssl.SSLContext,
    clock_ns: Callable[[], int],
    largest: int = LARGEST,
) -> Answer:
    """Send a request on a connection of its own and return the answer.

    Raises:
        OSError: The candidate cannot be reached.
        MalformedError: It hung up without an answer, or does not speak HTTP/1.
        OversizedError: Its answer is too large.
    """
    reader, writer = await asyncio.open_connection(
        upstream.host,
        upstream.port,
        ssl=context if upstream.secure else None,
        server_hostname=upstream.host if upstream.secure else None,
    )
    try:
        writer.write(request)
        return await _answer(reader, clock_ns, largest)
    finally:
        writer.transport.abort()


async def _answer(
    reader: asyncio.StreamReader, clock_ns: Callable[[], int], largest: int
) -> Answer:
    head, data = await _head(reader)
    framing = of_response(head, method="POST")
    pieces: list[bytes] = []
    first_ns = size = 0
    more: bytes | None = data
    while not framing.done:
        if data:
            taken = data[: framing.take(data)]
            first_ns = first_ns or clock_ns()
            size += len(taken) + _PIECE
            if size > largest:
                raise OversizedError(f"the answer is larger than {largest} bytes")
            pieces.append(taken)
        if not framing.done:
            more = await _more(reader)
            if not more:
                break
            data = more
    return Answer(
        status=head.status,
        encoding=first(head.fields, "content-encoding").lower(),
        type=first(head.fields, "content-type").lower(),
        chunked=isinstance(framing, Chunked),
        pieces=tuple(pieces),
        first_ns=first_ns,
        size=size,
        whole=framing.done or (isinstance(framing, UntilClosed) and more is not None),
    )


async def _head(reader: asyncio.StreamReader) -> tuple[ResponseHead, bytes]:
    """Read the head of the answer that counts, and what of its body came along."""
    buffer = HeadBuffer()
    data = b""
    while True:
        found = buffer.add(data)
        if found is None:
            data = await _more(reader) or b""
            if not data:
                raise MalformedError("the candidate hung up")
            continue
        raw, data = found
        head = response_head(raw)
        if head.status == 101:
            raise MalformedError("the candidate would speak another protocol")
        if head.status >= 200:
            return head, data


async def _more(reader: asyncio.StreamReader) -> bytes | None:
    """Read what comes; nothing when the candidate is done, ``None`` when it was cut off."""
    try:
        return await reader.read(_READ)
    except OSError:
        return None
