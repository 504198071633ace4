"""Answer every request with 200 and do nothing else: what the load generator itself can do.

``python -m bench.null_server PORT``
"""

from __future__ import annotations

import asyncio
import sys

_ANSWER = b"HTTP/1.1 200 OK\r\ncontent-type: application/x-protobuf\r\ncontent-length: 0\r\n\r\n"
_BUFFER = 4 * 1024 * 1024


async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Read requests that say their length, and acknowledge each."""
    try:
        while head := await reader.readuntil(b"\r\n\r\n"):
            await reader.readexactly(_length(head))
            writer.write(_ANSWER)
            await writer.drain()
    except (asyncio.IncompleteReadError, ConnectionError):
        pass
    finally:
        writer.close()


def _length(head: bytes) -> int:
    for line in head.lower().split(b"\r\n"):
        name, _, value = line.partition(b":")
        if name == b"content-length":
            return int(value)
    return 0


async def serve(port: int) -> None:
    """Serve on a loopback port until the process ends."""
    server = await asyncio.start_server(answer, "127.0.0.1", port, limit=_BUFFER)
    async with server:
        await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(serve(int(sys.argv[1])))
