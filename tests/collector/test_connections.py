"""Test what connections may take of a port, over real sockets."""

from __future__ import annotations

import asyncio
import resource
from collections.abc import Awaitable, Callable
from typing import Any

import msgspec
import pytest
from starlette.applications import Starlette
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from collector.connections import Bounds, allowed
from collector.servers import Listening, run_all

GET = b"GET / HTTP/1.1\r\nhost: localhost\r\n\r\n"
PATIENT = Bounds(most=100, head_s=60.0, body_s=60.0, unread_s=60.0, rest_s=60.0)
HASTE_S = 0.02

Talk = Callable[[str, int], Awaitable[Any]]


async def hello(request: Request) -> Response:
    """Read the body and answer."""
    try:
        await request.body()
    except ClientDisconnect:
        return Response("gone")
    return Response("hello")


async def unread(_request: Request) -> Response:
    """Answer without reading."""
    return Response("no")


async def endless(_request: Request) -> Response:
    """Answer more than anybody takes."""

    async def chunks() -> Any:
        while True:
            yield b"x" * 1_000_000
            await asyncio.sleep(0)

    return StreamingResponse(chunks())


def app() -> Starlette:
    """Build an application of each kind."""
    return Starlette(
        routes=[
            Route("/", hello, methods=["GET", "POST"]),
            Route("/unread", unread, methods=["POST"]),
            Route("/endless", endless),
        ]
    )


def serve(talk: Talk, bounds: Bounds) -> tuple[Any, int]:
    """Serve while talking; return what came of it and how many connections were refused."""
    refused: list[None] = []

    async def run() -> Any:
        server = Listening(
            "here", "127.0.0.1:0", app(), bounds=bounds, refused=lambda: refused.append(None)
        )
        host, _, port = server.address.partition(":")
        serving = asyncio.create_task(run_all([server]))
        try:
            return await talk(host, int(port))
        finally:
            server.stop()
            await serving

    return asyncio.run(run()), len(refused)


async def say(host: str, port: int, *parts: bytes) -> bytes:
    """Send parts and read until the other side closes, whichever way it does."""
    reader, writer = await asyncio.open_connection(host, port)
    try:
        for part in parts:
            writer.write(part)
            await writer.drain()
            await asyncio.sleep(0)
        return await reader.read()
    except ConnectionError:
        return b"reset"
    finally:
        writer.close()


async def knock(writer: asyncio.StreamWriter) -> None:
    """Write now and then until that fails."""
    while True:
        writer.write(b"x")
        await writer.drain()
        await asyncio.sleep(HASTE_S / 4)


def hasty(**fields: float) -> Bounds:
    """Build bounds that are patient but in one thing."""
    return msgspec.structs.replace(PATIENT, **fields)


@pytest.mark.parametrize(
    ("sent", "bounds"),
    [
        (b"", hasty(head_s=HASTE_S)),
        (b"GET / HTTP/1.1\r\nhost: loc", hasty(head_s=HASTE_S)),
        (b"POST / HTTP/1.1\r\ncontent-length: 9\r\n\r\nabc", hasty(body_s=HASTE_S)),
        (b"POST / HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\n9\r\nabc", hasty(body_s=HASTE_S)),
    ],
    ids=["nothing", "half a head", "half a body", "half a chunk"],
)
def test_what_never_ends(sent: bytes, bounds: Bounds) -> None:
    """A connection that sends no whole request is closed."""
    answer, _ = serve(lambda host, port: say(host, port, sent), bounds)

    assert b"200 OK" not in answer


def test_the_rest_of_an_unwanted_body() -> None:
    """A body that goes on after its answer does not hold the connection."""
    sent = b"POST /unread HTTP/1.1\r\nhost: x\r\ncontent-length: 99\r\n\r\nabc"
    answer, _ = serve(lambda host, port: say(host, port, sent), hasty(rest_s=HASTE_S))

    assert answer.endswith(b"no")


def test_nothing_after_an_answer() -> None:
    """Blank lines are not a request and do not keep a connection open."""
    answer, _ = serve(lambda host, port: say(host, port, GET, b"\r\n"), hasty(rest_s=HASTE_S))

    assert answer.count(b"200 OK") == 1


def test_requests_in_a_row() -> None:
    """Several requests on one connection are answered, sent one by one or all at once."""
    last = GET.replace(b"\r\n\r\n", b"\r\nconnection: close\r\n\r\n")
    answer, _ = serve(lambda host, port: say(host, port, GET, GET + GET, last), PATIENT)

    assert answer.count(b"hello") == 4


def test_an_answer_nobody_reads() -> None:
    """A reader that stops reading is given up, and the answer's end is not waited for."""

    async def talk(host: str, port: int) -> None:
        reader, writer = await asyncio.open_connection(host, port, limit=1)
        writer.write(GET.replace(b"/ ", b"/endless ", 1))
        await reader.readexactly(1)
        # Nothing more is read; that the port gave up is found out by writing.
        with pytest.raises(ConnectionError):
            await knock(writer)
        writer.close()

    serve(talk, hasty(unread_s=HASTE_S))


def test_a_head_without_end() -> None:
    """A head that grows too large gets 400."""
    head = b"GET / HTTP/1.1\r\n" + b"x: y\r\n" * 20_000
    answer, _ = serve(lambda host, port: say(host, port, head[:70_000]), PATIENT)

    assert answer.startswith(b"HTTP/1.1 400") or answer == b"reset"


def test_connections_above_the_bound() -> None:
    """Connections above the bound get 503 and are counted; once there is room, others are served."""

    async def talk(host: str, port: int) -> list[bytes]:
        held = [await asyncio.open_connection(host, port) for _ in range(2)]
        for reader, writer in held:
            writer.write(GET)
            await reader.readuntil(b"hello")
        above = [await say(host, port) for _ in range(3)]
        for _, writer in held:
            writer.close()
            await writer.wait_closed()
        last = b""
        while not last.endswith(b"hello"):
            last = await say(host, port, GET.replace(b"\r\n\r\n", b"\r\nconnection: close\r\n\r\n"))
        return above

    above, refused = serve(talk, hasty(most=2))

    assert all(answer.startswith(b"HTTP/1.1 503") for answer in above)
    assert refused >= 3


def test_one_port_full_leaves_another() -> None:
    """A port whose connections are used up does not touch another of the process."""

    async def run() -> bytes:
        full = Listening("full", "127.0.0.1:0", app(), bounds=hasty(most=1))
        free = Listening("free", "127.0.0.1:0", app(), bounds=hasty(most=1))
        serving = asyncio.create_task(run_all([full, free]))
        host, _, port = full.address.partition(":")
        held = [await asyncio.open_connection(host, int(port)) for _ in range(50)]
        host, _, port = free.address.partition(":")
        answer = await say(
            host, int(port), GET.replace(b"\r\n\r\n", b"\r\nconnection: close\r\n\r\n")
        )
        for _, writer in held:
            writer.close()
        full.stop()
        free.stop()
        await serving
        return answer

    assert asyncio.run(run()).endswith(b"hello")


@pytest.mark.parametrize(("files", "expected"), [(64, 8), (256, 32), (1_024, 416), (4_096, 1_000)])
def test_the_bound_follows_the_open_files(files: int, expected: int) -> None:
    """A port has a share of the files the process may yet open, and never more than it needs."""
    before, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard not in {-1, max(hard, files)}:
        pytest.skip("this machine allows fewer files")
    resource.setrlimit(resource.RLIMIT_NOFILE, (files, hard))
    try:
        assert allowed(share=1 / 2, at_most=1_000) == expected
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (before, hard))
