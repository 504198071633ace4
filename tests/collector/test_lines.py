"""Test the streaming of a blocking iterator."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator

from collector.lines import CHUNK_BYTES, Lines


def test_lines_are_sent_together() -> None:
    """Lines are joined into chunks, end with a newline, and all come."""

    async def run() -> list[bytes]:
        lines = Lines(iter([b"x" * 1_000] * 150))
        chunks = []
        while chunk := await lines.chunk():
            chunks.append(chunk)
        lines.stop()
        return chunks

    chunks = asyncio.run(run())

    assert b"".join(chunks) == (b"x" * 1_000 + b"\n") * 150
    assert [len(chunk) >= CHUNK_BYTES for chunk in chunks] == [True, True, False]


def test_one_thread_from_first_to_last() -> None:
    """The iterator runs in one thread, not the event loop's, and is closed there when stopped."""
    threads: set[int] = set()
    closed = threading.Event()

    def endless() -> Iterator[bytes]:
        try:
            while True:
                threads.add(threading.get_ident())
                yield b"x" * CHUNK_BYTES
        finally:
            threads.add(threading.get_ident())
            closed.set()

    async def run() -> None:
        lines = Lines(endless())
        await lines.chunk()
        await lines.chunk()
        lines.stop()

    asyncio.run(run())

    assert closed.wait(timeout=30)
    assert len(threads) == 1
    assert threading.get_ident() not in threads
