"""Test that bytes pass through unchanged, both ways."""

from __future__ import annotations

import gzip
import socket
import threading

import pytest

from tests.collector.proxy.provider import LAST, STREAM, Provider, chunk, event, plain
from tests.collector.proxy.standing import KEY, Standing, post

ASK = b'{"model": "m-1",   "messages":[{"role":"user","content":"h\\u00e9"}]}'


def talk(at: tuple[str, int], data: bytes) -> bytes:
    """Send a request that asks to close, and return the answer as it came."""
    with socket.create_connection(at, timeout=20) as client:
        client.sendall(data)
        got = b""
        while more := client.recv(65536):
            got += more
        return got


@pytest.mark.parametrize(
    "answer",
    [
        plain(b'{"a":1.0,\n "b":"\\u00e9"}', "X-Odd-CASE: kept", "anthropic-ratelimit-x: 7"),
        plain(gzip.compress(b'{"zipped": true}', mtime=0), "Content-Encoding: gzip"),
        plain(b'{"type":"error"}', "retry-after: 7", "x-should-retry: true", status="529 Busy"),
        plain(b"", status="500 Internal Server Error"),
        b"HTTP/1.1 204 No Content\r\nrequest-id: 9\r\n\r\n",
        STREAM + chunk(event({"n": 1})) + chunk(event({"n": 2}) + b": ping\n\n") + LAST,
        STREAM + b"5;ext=1\r\nhello\r\n0\r\nX-Trailer: yes\r\n\r\n",
        b"HTTP/1.1 100 Continue\r\n\r\n" + plain(b"{}"),
        b"HTTP/1.1 103 Early Hints\r\nlink: x\r\n\r\n" + plain(b"{}"),
    ],
)
def test_answers_are_the_same_as_without_us(answer: bytes) -> None:
    """Status line, headers, their order and spelling, body and frames come as the upstream sent them."""
    with Provider() as provider, Standing(provider.url) as proxy:
        provider.script("/v1/messages", answer, close=True)
        request = post("/v1/messages", ASK, "Connection: close")
        direct = talk(("127.0.0.1", provider.port), request)
        passed = talk(proxy.at, request)

    assert passed.replace(b"\r\nConnection: close\r\n\r\n", b"\r\n\r\n") == direct == answer


def test_requests_are_the_same_as_without_us() -> None:
    """Only the host, the path's prefix, our own headers and those of the connection differ."""
    with Provider() as provider, Standing(f"{provider.url}/base") as proxy:
        provider.script("/base/v1/messages", plain(b"{}"))
        talk(
            proxy.at,
            post(
                "/anthropic/v1/messages?beta=true",
                ASK,
                f"X-Api-Key: {KEY}",
                "anthropic-Version:2026-10-21",
                "Accept-Encoding: gzip, br",
                "X-Outrider-Agent: desk",
                "X-Outrider-Token: t",
                "Keep-Alive: 5",
                "X-Mine: 1",
                "Connection: close, X-Mine",
            ),
        )

    (asked,) = provider.asked
    assert asked.body == ASK
    assert asked.head.decode().split("\r\n") == [
        "POST /base/v1/messages?beta=true HTTP/1.1",
        f"Host: 127.0.0.1:{provider.port}",
        f"X-Api-Key: {KEY}",
        "anthropic-Version:2026-10-21",
        "Accept-Encoding: gzip, br",
        f"Content-Length: {len(ASK)}",
        "Connection: close",
    ]


def test_a_chunked_request_keeps_its_chunks() -> None:
    """A body whose length nobody told goes on with the frames it came with."""
    framed = chunk(b'{"messages":') + b"3;x=y\r\n[]}\r\n" + LAST
    with Provider() as provider, Standing(provider.url) as proxy:
        provider.script("/v1/messages", plain(b"{}"))
        head = b"POST /v1/messages HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
        talk(proxy.at, head + b"Transfer-Encoding: chunked\r\n\r\n" + framed)

    assert provider.asked[0].body == framed


def test_chunks_come_when_they_come() -> None:
    """The first event is with the client while the upstream still holds back the second."""
    on = threading.Event()
    with Provider() as provider, Standing(provider.url) as proxy:
        provider.script("/v1/messages", STREAM + chunk(b"one"), on, chunk(b"two") + LAST)
        with socket.create_connection(proxy.at, timeout=20) as client:
            client.sendall(post("/v1/messages", ASK))
            got = b""
            while not got.endswith(chunk(b"one")):
                got += client.recv(65536)
            on.set()
            while not got.endswith(LAST):
                got += client.recv(65536)

    assert got == STREAM + chunk(b"one") + chunk(b"two") + LAST


def test_one_connection_serves_many_calls() -> None:
    """A client that keeps its connection keeps the one behind it too."""
    with Provider() as provider, Standing(provider.url) as proxy:
        provider.script("/v1/messages", plain(b'{"n":1}'))
        with socket.create_connection(proxy.at, timeout=20) as client:
            for _ in range(5):
                client.sendall(post("/v1/messages", ASK))
                assert client.recv(65536) == plain(b'{"n":1}')

    assert (len(provider.asked), provider.connections) == (5, 1)


def test_requests_sent_ahead_are_answered_in_order() -> None:
    """A client that does not wait gets its answers one after another."""
    with Provider() as provider, Standing(provider.url) as proxy:
        for n in range(3):
            provider.script("/v1/messages", 0.02, plain(b'{"n":%d}' % n))
        got = talk(
            proxy.at,
            post("/v1/messages", b"{}") * 2 + post("/v1/messages", b"{}", "Connection: close"),
        )

    assert [line for line in got.split(b"\r\n") if b'"n"' in line] == [
        b'{"n":0}HTTP/1.1 200 OK',
        b'{"n":1}HTTP/1.1 200 OK',
        b'{"n":2}',
    ]


@pytest.mark.parametrize(
    ("path", "headers", "target"),
    [
        ("/v1/models", (), "/v1/models"),
        ("/v1/messages/count_tokens", ("x-api-key: k",), "/v1/messages/count_tokens"),
        ("/v1/messages/batches", (), "/v1/messages/batches"),
        ("/openai/v1/responses", (), "/v1/responses"),
        ("/v1/realtime?model=m", (), "/v1/realtime?model=m"),
    ],
)
def test_every_other_path_passes(path: str, headers: tuple[str, ...], target: str) -> None:
    """What we do not read is passed on all the same, and not captured."""
    with Provider() as provider, Standing(provider.url) as proxy:
        provider.script(target.partition("?")[0], plain(b'{"x":2}'))
        line = f"GET {path} HTTP/1.1"
        raw = "\r\n".join([line, "Host: localhost", "Connection: close", *headers, "", ""])
        assert talk(proxy.at, raw.encode()).endswith(b'{"x":2}')

    assert provider.asked[0].target == target
    assert not proxy.spans


@pytest.mark.parametrize(
    ("path", "captured"),
    [
        ("/anthropic/v1/chat/completions", True),
        ("/openai/v1/messages", True),
        ("/openai/api/v1/messages", True),
        ("/openai/v1/threads/t_1/messages", False),
        ("/anthropic/v1/messages/count_tokens", False),
        ("/anthropic/v1/messages/batches", False),
    ],
)
def test_each_upstream_may_speak_the_others_words(path: str, captured: bool) -> None:
    """Gateways, and providers themselves, answer both providers' APIs; a thread's messages are none."""
    with Provider() as provider, Standing(provider.url) as proxy:
        target = "/" + path.split("/", 2)[2]
        provider.script(target, plain(b'{"id":"r-1","choices":[]}'))
        proxy.raw(post(path, b'{"model":"m","messages":[]}', "Connection: close"))
        proxy.stop()

    assert provider.asked[0].target == target
    assert len(proxy.spans) == captured
    assert not proxy.dropped()


def test_sockets_are_tunnelled() -> None:
    """After the upstream switched protocols, bytes pass both ways as they are."""
    switch = (
        b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n"
    )
    with Provider() as provider, Standing(provider.url) as proxy:
        provider.script("/v1/responses", switch + b"\x81\x02hi", close=True)
        got = talk(
            proxy.at,
            b"GET /v1/responses HTTP/1.1\r\nHost: localhost\r\n"
            b"Connection: Upgrade\r\nUpgrade: websocket\r\n\r\n",
        )

    assert got == switch + b"\x81\x02hi"
    assert proxy.dropped() == {"websocket": 1}
    assert provider.asked[0].header("upgrade") == "websocket"


def test_a_large_body_passes_while_one_side_is_slow() -> None:
    """Neither side's slowness makes us hold or lose anything."""
    large = bytes(range(256)) * 8_000
    with Provider() as provider, Standing(provider.url) as proxy:
        provider.script("/v1/files", 0.1, plain(large))
        got = talk(proxy.at, post("/v1/files", large, "Connection: close"))

    assert provider.asked[0].body == large
    assert got.endswith(large)
