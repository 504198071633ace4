"""Stream the lines of a blocking iterator without blocking the event loop."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from concurrent.futures import ThreadPoolExecutor

from starlette.responses import StreamingResponse
from starlette.types import Receive, Scope, Send

CHUNK_BYTES = 64 * 1024
"""Lines are sent together until this many bytes are ready."""


class Lines:
    """Read an iterator of lines from one thread of its own, the same from first to last."""

    def __init__(self, lines: Iterator[bytes]) -> None:
        self._lines = lines
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="export")

    async def chunk(self) -> bytes:
        """Wait for the next lines, each ended by a newline; empty at the end."""
        return await asyncio.get_running_loop().run_in_executor(self._thread, self._chunk)

    def stop(self) -> None:
        """Close the iterator once its current step is over, without waiting; call it once."""
        self._thread.submit(self._close)
        self._thread.shutdown(wait=False)

    def _chunk(self) -> bytes:
        parts: list[bytes] = []
        size = 0
        for line in self._lines:
            parts.append(line + b"\n")
            size += len(parts[-1])
            if size >= CHUNK_BYTES:
                break
        return b"".join(parts)

    def _close(self) -> None:
        close = getattr(self._lines, "close", None)
        if close is not None:
            close()


class LinesResponse(StreamingResponse):
    """Send lines as they come; stop their iterator at the end and when the caller leaves."""

    media_type = "application/x-ndjson"

    def __init__(self, lines: Lines, first: bytes) -> None:
        """Begin with the chunk ``first``, which was already taken from ``lines``."""
        super().__init__(_chunks(lines, first))
        self._lines = lines

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve the response as an ASGI application."""
        try:
            await super().__call__(scope, receive, send)
        finally:
            self._lines.stop()


async def _chunks(lines: Lines, chunk: bytes) -> AsyncIterator[bytes]:
    while chunk:
        yield chunk
        chunk = await lines.chunk()
