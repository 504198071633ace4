"""Read request bodies within the limits on one body and on all of them together."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager

from starlette.requests import Request

from collector.errors import MalformedError, OversizedError, RetryableError, SlowError

BODY_S = 30.0
"""Time for a body to arrive, in seconds; OTLP exporters give up after 10 to 30."""


class Allowance:
    """Count the bytes that one request holds in memory, out of what all requests may hold."""

    def __init__(self, intake: Intake) -> None:
        self._intake = intake
        self.held = 0

    def take(self, size: int) -> None:
        """Hold more bytes.

        Raises:
            RetryableError: All requests together would hold too many.
        """
        if self._intake.held + size > self._intake.limit:
            raise RetryableError("too many bodies are in flight")
        self.held += size
        self._intake.held += size


class Intake:
    """Bound the bodies held in memory before their acknowledgement; for one event loop."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.held = 0

    @contextmanager
    def allowance(self) -> Iterator[Allowance]:
        """Give a request its allowance for the length of a ``with`` block."""
        allowance = Allowance(self)
        try:
            yield allowance
        finally:
            self.held -= allowance.held


async def read_body(
    request: Request, *, limit: int, allowance: Allowance, within_s: float = BODY_S
) -> bytes:
    """Read a body as it was sent.

    Args:
        request: Whose body has not been read.
        limit: Largest body in bytes, as announced and as it comes.
        allowance: What its bytes are taken from, as they come.
        within_s: Longest time until all of it is there.

    Raises:
        MalformedError: The announced length is not a number.
        OversizedError: It is larger than the limit.
        RetryableError: Too many bodies are in flight.
        SlowError: It did not arrive in time.
        ClientDisconnect: The sender went away.
    """
    announced = request.headers.get("content-length", "0")
    if not (announced.isascii() and announced.isdigit()):
        raise MalformedError("Content-Length is not a number")
    if int(announced) > limit:
        raise OversizedError(f"the body is larger than {limit} bytes")
    try:
        async with asyncio.timeout(within_s):
            return await _read(request, limit, allowance)
    except TimeoutError:
        raise SlowError(f"the body did not arrive within {within_s:g} s") from None


async def _read(request: Request, limit: int, allowance: Allowance) -> bytes:
    chunks: list[bytes] = []
    size = 0
    async for chunk in request.stream():
        size += len(chunk)
        if size > limit:
            raise OversizedError(f"the body is larger than {limit} bytes")
        allowance.take(len(chunk))
        chunks.append(chunk)
    return b"".join(chunks)
