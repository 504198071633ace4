"""Measure what the LLM proxy adds to the time to the first byte, against the same upstream.

An upstream that streams, `outrider serve` with its proxy, and the clients, each in processes of their own. Each of
the concurrent clients calls the upstream in turns directly and through the proxy, in one run, on
connections that are kept; so both meet the same machine in the same state.
"""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import msgspec

from bench.failure import UnavailableError
from bench.figures import quantile
from bench.outrider import ROOT, start
from collector import serve_file
from collector.config_file import PREFIX

STREAMS = 50
CALLS = 20
THINKS_S = 0.05
"""Time to the upstream's first byte."""
PIECES = 30
PAUSE_S = 0.02
"""Between two pieces, as a model that says 50 tokens a second."""
HISTORY = 8_000
"""Characters of each request's messages."""
_EVENT = (
    b'event: content_block_delta\ndata: {"type":"content_block_delta","index":0,'
    b'"delta":{"type":"text_delta","text":"some words "}}\n\n'
)
_START = (
    b'event: message_start\ndata: {"type":"message_start","message":{"id":"msg_%d","role":'
    b'"assistant","model":"m","content":[],"usage":{"input_tokens":9,"output_tokens":1}}}\n\n'
    b'event: content_block_start\ndata: {"type":"content_block_start","index":0,'
    b'"content_block":{"type":"text","text":""}}\n\n'
)
_END = (
    b'event: message_delta\ndata: {"type":"message_delta","delta":{"stop_reason":"end_turn"},'
    b'"usage":{"output_tokens":30}}\n\nevent: message_stop\ndata: {"type":"message_stop"}\n\n'
)


def _chunk(data: bytes) -> bytes:
    return b"%x\r\n%b\r\n" % (len(data), data)


async def upstream() -> None:
    """Serve streams until killed; print the port."""
    number = 0

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal number
        while True:
            try:
                head = await reader.readuntil(b"\r\n\r\n")
            except (asyncio.IncompleteReadError, ConnectionError):
                writer.close()
                return
            length = next(
                int(line.partition(b":")[2])
                for line in head.split(b"\r\n")
                if line.lower().startswith(b"content-length")
            )
            await reader.readexactly(length)
            await asyncio.sleep(THINKS_S)
            number += 1
            writer.write(
                b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"
                b"Transfer-Encoding: chunked\r\n\r\n" + _chunk(_START % number)
            )
            for _ in range(PIECES):
                await asyncio.sleep(PAUSE_S)
                writer.write(_chunk(_EVENT))
            writer.write(_chunk(_END) + b"0\r\n\r\n")

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    sys.stdout.write(f"{server.sockets[0].getsockname()[1]}\n")
    sys.stdout.flush()
    await server.serve_forever()


class Caller(asyncio.Protocol):
    """Make one call at a time on a kept connection, and note when its first byte came."""

    def __init__(self) -> None:
        self.transport: asyncio.Transport
        self.first_ns = 0
        self.tail = b""
        self.over: asyncio.Future[None]

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Begin."""
        self.transport = transport  # type: ignore[assignment]  # what create_connection gives

    def data_received(self, data: bytes) -> None:
        """Note the first byte and the last."""
        self.first_ns = self.first_ns or time.perf_counter_ns()
        self.tail = (self.tail + data)[-5:]
        if self.tail == b"0\r\n\r\n" and not self.over.done():
            self.over.set_result(None)

    async def call(self, request: bytes) -> float:
        """Make a call; return the seconds to its first byte."""
        self.first_ns, self.tail = 0, b""
        self.over = asyncio.get_running_loop().create_future()
        began = time.perf_counter_ns()
        self.transport.write(request)
        async with asyncio.timeout(60):
            await self.over
        return (self.first_ns - began) / 1e9


async def measure(
    direct: int, proxied: int, *, streams: int, calls: int
) -> tuple[list[float], list[float]]:
    """Return the times to the first byte, direct and through the proxy, pair by pair."""
    loop = asyncio.get_running_loop()
    pairs: list[tuple[float, float]] = []

    async def client(number: int) -> None:
        sides = [
            (await loop.create_connection(Caller, "127.0.0.1", port))[1]
            for port in (direct, proxied)
        ]
        for turn in range(calls + 1):
            body = json.dumps(
                {
                    "model": "m",
                    "stream": True,
                    "messages": [
                        {"role": "user", "content": f"{number} {turn} " + "word " * (HISTORY // 5)}
                    ],
                }
            ).encode()
            head = f"POST /v1/messages HTTP/1.1\r\nHost: localhost\r\nContent-Length: {len(body)}"
            request = head.encode() + b"\r\n\r\n" + body
            order = (0, 1) if (number + turn) % 2 else (1, 0)
            times = {side: await sides[side].call(request) for side in order}
            if turn:  # the first one opens the connection behind the proxy
                pairs.append((times[0], times[1]))
        for side in sides:
            side.transport.close()

    async with asyncio.TaskGroup() as group:
        for number in range(streams):
            group.create_task(client(number))
            await asyncio.sleep((THINKS_S + PIECES * PAUSE_S) / streams)
    return [pair[0] for pair in pairs], [pair[1] for pair in pairs]


class Added(msgspec.Struct, frozen=True, kw_only=True):
    """What was measured."""

    streams: int
    """Calls under way at once."""
    direct_s: list[float]
    """Times to the first byte, in seconds."""
    proxied_s: list[float]
    """The same through the proxy, in the same order."""

    def added_s(self, share: float) -> float:
        """Return how much longer a quantile is through the proxy."""
        return quantile(self.proxied_s, share) - quantile(self.direct_s, share)


def added_latency(scratch: Path, *, streams: int = STREAMS, calls: int = CALLS) -> Added:
    """Start the processes, call, and stop them.

    Raises:
        UnavailableError: Outrider does not start.
    """
    directory = Path(tempfile.mkdtemp(prefix="proxy-", dir=scratch))
    behind = subprocess.Popen(
        [sys.executable, "-m", "bench.proxy_latency"], stdout=subprocess.PIPE, cwd=ROOT
    )
    assert behind.stdout is not None  # noqa: S101 - a pipe was asked for
    try:
        direct = int(behind.stdout.readline())
        data = directory / "data"
        settings = {
            "PROXY__ADDRESS": "127.0.0.1:0",
            "PROXY__ANTHROPIC": f"http://127.0.0.1:{direct}",
        }
        served = start(
            data, directory, {f"{PREFIX}{key}": value for key, value in settings.items()}
        )
        try:
            served.wait_until(lambda: serve_file.read(data) is not None)
            running = serve_file.read(data)
            if running is None:
                raise UnavailableError("it announced itself and was gone")
            proxied = int(running.proxy.rpartition(":")[2])
            without, through = asyncio.run(measure(direct, proxied, streams=streams, calls=calls))
        finally:
            served.stop()
    finally:
        behind.kill()
        behind.wait()
        behind.stdout.close()
    return Added(streams=streams, direct_s=without, proxied_s=through)


if __name__ == "__main__":
    asyncio.run(upstream())
