"""Test how callers come in through TLS, over real sockets."""

from __future__ import annotations

import asyncio
import socket
import ssl
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
import uvloop
from starlette.types import Receive, Scope, Send

from collector.connections import Bounds
from collector.doorway import Doorway
from collector.servers import Listening, run_all
from collector.tls import server_context
from tests.collector.receivers.authority import Authority

GET = b"GET / HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n"
LOOPS = [asyncio.new_event_loop, uvloop.new_event_loop]
Talk = Callable[[str, int, ssl.SSLContext], Awaitable[Any]]


async def _hello(scope: Scope, receive: Receive, send: Send) -> None:
    body = b""
    while True:
        message = await receive()
        body += message.get("body", b"")
        if not message.get("more_body"):
            break
    said = b"%s %d" % (scope["scheme"].encode(), len(body))
    length = (b"content-length", b"%d" % len(said))
    await send({"type": "http.response.start", "status": 200, "headers": [length]})
    await send({"type": "http.response.body", "body": said})


def serve(tmp_path: Path, talk: Talk, *, most: int = 8, loop: Any = None) -> tuple[Any, int]:
    """Serve while talking; return what came of it and how many connections were refused."""
    authority = Authority(tmp_path)
    trust = ssl.create_default_context(cafile=authority.file)
    refused: list[None] = []

    async def run() -> Any:
        server = Listening(
            "here",
            "127.0.0.1:0",
            _hello,
            bounds=Bounds(most=most),
            refused=lambda: refused.append(None),
            tls=server_context(authority.server(), section="here.tls"),
        )
        host, _, port = server.address.partition(":")
        serving = asyncio.create_task(run_all([server]))
        try:
            return await talk(host, int(port), trust)
        finally:
            server.stop()
            await serving

    with asyncio.Runner(loop_factory=loop) as runner:
        return runner.run(run()), len(refused)


async def say(host: str, port: int, trust: ssl.SSLContext | None, said: bytes = GET) -> bytes:
    """Send something and read until the other side closes, whichever way it does."""
    try:
        reader, writer = await asyncio.open_connection(
            host, port, ssl=trust, server_hostname="localhost" if trust else None
        )
        writer.write(said)
        await writer.drain()
        answer = await reader.read()
        writer.close()
    except (ConnectionError, ssl.SSLError):
        return b"reset"
    return answer


@pytest.mark.parametrize("loop", LOOPS)
@pytest.mark.parametrize("version", [ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3])
def test_calls_come_through(tmp_path: Path, version: ssl.TLSVersion, loop: Any) -> None:
    """Calls are answered, many at once and with bodies of megabytes, and are told to be HTTPS."""

    async def talk(host: str, port: int, trust: ssl.SSLContext) -> list[bytes]:
        trust.maximum_version = version
        size = 3_000_000
        large = (
            b"POST / HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\ncontent-length: %d\r\n\r\n"
            % size
        ) + bytes(size)
        return [
            *await asyncio.gather(*(say(host, port, trust) for _ in range(5))),
            await say(host, port, trust, large),
        ]

    answers, refused = serve(tmp_path, talk, loop=loop)
    assert [answer.rpartition(b"\r\n\r\n")[2] for answer in answers] == [
        *[b"https 0"] * 5,
        b"https 3000000",
    ]
    assert refused == 0


@pytest.mark.parametrize("loop", LOOPS)
def test_a_request_that_comes_with_the_handshakes_end(tmp_path: Path, loop: Any) -> None:
    """What a caller sends at once with its last word of the handshake is not lost."""

    async def talk(host: str, port: int, trust: ssl.SSLContext) -> bytes:
        incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        tls = trust.wrap_bio(incoming, outgoing, server_hostname="localhost")
        reader, writer = await asyncio.open_connection(host, port)
        while True:
            try:
                tls.do_handshake()
                break
            except ssl.SSLWantReadError:
                writer.write(outgoing.read())
                incoming.write(await reader.read(65_536))
        tls.write(GET)
        writer.write(outgoing.read())
        answer = b""
        while data := await reader.read(65_536):
            incoming.write(data)
            try:
                answer += tls.read(65_536)
            except ssl.SSLWantReadError:
                continue
        writer.close()
        return answer

    answer, _ = serve(tmp_path, talk, loop=loop)
    assert answer.startswith(b"HTTP/1.1 200")


@pytest.mark.parametrize("loop", LOOPS)
def test_those_who_never_finish_a_handshake_count(tmp_path: Path, loop: Any) -> None:
    """Connections that say nothing take the places of a port, and no more; the rest is turned away."""

    async def talk(host: str, port: int, trust: ssl.SSLContext) -> list[bytes]:
        held = [await asyncio.open_connection(host, port) for _ in range(3)]
        above = [await say(host, port, None, b"") for _ in range(4)]
        for _, writer in held:
            writer.close()
            await writer.wait_closed()
        answer = b""
        while not answer.endswith(b"https 0"):
            answer = await say(host, port, trust)
        return above

    above, refused = serve(tmp_path, talk, most=3, loop=loop)
    assert set(above) <= {b"", b"reset"}
    assert refused >= 4


def test_a_handshake_has_its_time(tmp_path: Path) -> None:
    """A handshake that is not over in time is given up, and so is what is none."""
    authority = Authority(tmp_path)
    context = server_context(authority.server(), section="here.tls")
    assert context is not None

    async def run() -> list[bytes]:
        with socket.create_server(("127.0.0.1", 0)) as listening:
            host, port = listening.getsockname()
            doorway = Doorway(
                listening,
                asyncio.Protocol,
                context,
                has_room=lambda _: True,
                refused=lambda: None,
                within_s=0.05,
            )
            said = (b"", b"GET / HTTP/1.1\r\n\r\n")
            answers = [await say(host, port, None, one) for one in said]
            doorway.close()
            await doorway.wait_closed()
            return answers

    # Some of them are told by an alert of TLS what is wrong.
    assert all(b"HTTP" not in answer for answer in asyncio.run(run()))


@pytest.mark.timeout(20)
@pytest.mark.parametrize("loop", LOOPS)
def test_who_is_on_the_way_in_does_not_hold_up_a_stop(tmp_path: Path, loop: Any) -> None:
    """A stop lets go of the socket and of callers amid their handshake, and leaves nothing running."""
    authority = Authority(tmp_path)
    context = server_context(authority.server(), section="here.tls")
    assert context is not None

    async def run() -> bytes:
        listening = socket.create_server(("127.0.0.1", 0))
        host, port = listening.getsockname()
        there = asyncio.Event()

        def has_room(_: int) -> bool:
            there.set()
            return True

        doorway = Doorway(
            listening,
            asyncio.Protocol,
            context,
            has_room=has_room,
            refused=lambda: None,
            within_s=600.0,
        )
        reader, writer = await asyncio.open_connection(host, port)
        await there.wait()
        # Some turns of the loop later the handshake waits for the caller.
        for _ in range(5):
            await asyncio.sleep(0)
        doorway.close()
        await doorway.wait_closed()
        assert listening.fileno() < 0
        assert asyncio.all_tasks() == {asyncio.current_task()}
        left = await reader.read()
        writer.close()
        return left

    with asyncio.Runner(loop_factory=loop) as runner:
        assert runner.run(run()) == b""
