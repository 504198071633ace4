"""Test what the proxy refuses by itself."""

from __future__ import annotations

import socket
import ssl
from contextlib import suppress
from pathlib import Path

import httpx
import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from collector.answer_headers import HEADERS
from collector.config import AuthConfig, TokenConfig
from collector.errors import MalformedError, OversizedError
from collector.proxy import client_side
from collector.proxy.framing import Chunked, of_request
from collector.proxy.http_head import MAX_HEAD, HeadBuffer, request_head, response_head
from tests.collector.proxy.provider import Provider, plain
from tests.collector.proxy.scripts import MESSAGE
from tests.collector.proxy.standing import Standing, post
from tests.collector.receivers.authority import Authority

SHOWN = "t-1"
ASK = b'{"model":"m","messages":[{"role":"user","content":"hi"}]}'
START = b"POST /v1/messages HTTP/1.1\r\nHost: localhost\r\n"


@pytest.mark.parametrize(
    "raw",
    [
        b"hello\r\n\r\n",
        b"GET http://evil.example/ HTTP/1.1\r\nHost: localhost\r\n\r\n",
        b"CONNECT evil.example:443 HTTP/1.1\r\nHost: localhost\r\n\r\n",
        b"GET / HTTP/2.0\r\nHost: localhost\r\n\r\n",
        b"GET / HTTP/1.1\r\n\r\n",
        START + b"Host: other\r\n\r\n",
        START + b"Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n",
        START + b"Content-Length:\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        START + b"Content-Length: 3\r\nTransfer-Encoding:\r\n\r\nabc",
        START + b"Content-Length: 3\r\nContent-Length: 4\r\n\r\n",
        START + b"Content-Length: +3\r\n\r\n",
        START + b"Content-Length:\r\n\r\n",
        START + b"Transfer-Encoding: gzip, chunked\r\n\r\n",
        START + b"Transfer-Encoding : chunked\r\n\r\n",
        START + b"X: a\r\n folded\r\n\r\n",
        START + b"X: a\nY: b\r\n\r\n",
        START + b"X: a\0b\r\n\r\n",
        START + b"Transfer-Encoding: chunked\r\n\r\n0x5\r\nhello\r\n0\r\n\r\n",
        START + b"Transfer-Encoding: chunked\r\n\r\n5\nhello\r\n0\r\n\r\n",
        START + b"Transfer-Encoding: chunked\r\n\r\n5\r\nhello0\r\n\r\n",
    ],
)
def test_requests_that_two_readers_could_read_differently(raw: bytes) -> None:
    """They are answered with 400, and never passed on whole."""
    with Provider() as provider, Standing(provider.url) as proxy:
        got = proxy.raw(raw)

    assert got.startswith(b"HTTP/1.1 400 Bad Request\r\n")
    assert proxy.refused() == {"malformed": 1}
    assert not provider.asked


def test_headers_without_end() -> None:
    """Headers over the limit get 431."""
    with Provider() as provider, Standing(provider.url) as proxy:
        got = proxy.raw(START + b"X: " + b"a" * (MAX_HEAD + 1))

    assert got.startswith(b"HTTP/1.1 431 ")
    assert proxy.refused() == {"oversized": 1}


def test_headers_that_drip(monkeypatch: pytest.MonkeyPatch) -> None:
    """The time for a head runs from its first byte, however often another one comes."""
    monkeypatch.setattr(client_side, "HEAD_S", 0.2)
    with Provider() as provider, Standing(provider.url) as proxy:
        with socket.create_connection(proxy.at, timeout=20) as client:
            client.settimeout(0.05)
            got = b""
            for _ in range(400):  # many times as long
                with suppress(OSError):
                    client.sendall(b"P")
                with suppress(TimeoutError):
                    got = client.recv(65536)
                    break
        assert got.startswith(b"HTTP/1.1 408 ")

    assert proxy.refused() == {"slow": 1}


def test_the_token() -> None:
    """With a token, a client must show it in our header; the provider never sees it."""
    with Provider() as provider, Standing(provider.url, token=SHOWN) as proxy:
        provider.script("/v1/messages", plain(b"{}"))
        without = proxy.raw(post("/v1/messages", b"{}", "Authorization: Bearer t-1"))
        wrong = proxy.raw(post("/v1/messages", b"{}", "X-Outrider-Token: t-2"))
        right = proxy.raw(post("/v1/messages", b"{}", "x-outrider-token: t-1", "Connection: close"))

    assert without.startswith(b"HTTP/1.1 401 ")
    assert wrong.startswith(b"HTTP/1.1 401 ")
    assert right.endswith(b"{}")
    assert proxy.refused() == {"unauthenticated": 2}
    (asked,) = provider.asked
    assert b"t-1" not in asked.head


def test_whose_call_it_is() -> None:
    """A call with a tenant's token is that tenant's; a token that may only read calls nothing."""
    auth = AuthConfig(
        tokens={
            "acme": TokenConfig(token="t-acme", tenant="acme"),  # noqa: S106 - invented, as below
            "reader": TokenConfig(token="t-reader", rights=("read",)),  # noqa: S106
        }
    )
    with Provider() as provider, Standing(provider.url, auth=auth) as proxy:
        provider.script("/v1/messages", plain(msgspec.json.encode(MESSAGE)))
        refused = proxy.raw(post("/v1/messages", ASK, "x-outrider-token: t-reader"))
        taken = proxy.raw(
            post("/v1/messages", ASK, "x-outrider-token: t-acme", "Connection: close")
        )

    assert refused.startswith(b"HTTP/1.1 403 ")
    assert b"no right to write" in refused
    assert taken.startswith(b"HTTP/1.1 200 ")
    assert proxy.refused() == {"forbidden": 1}
    assert [entry.tenant for entry in proxy.entries] == ["acme"]
    (asked,) = provider.asked
    assert b"t-acme" not in asked.head


@pytest.mark.parametrize("version", ["TLSv1_2", "TLSv1_3"])
def test_over_tls(tmp_path: Path, version: str) -> None:
    """The proxy speaks TLS, and lets nobody in whose certificate it does not trust."""
    authority = Authority(tmp_path)
    tls = msgspec.structs.replace(authority.server(client_ca=authority.file), instead_of_token=True)
    auth = AuthConfig(token=SHOWN)
    trust = ssl.create_default_context(cafile=authority.file)
    trust.maximum_version = ssl.TLSVersion[version]
    known = ssl.create_default_context(cafile=authority.file)
    known.maximum_version = ssl.TLSVersion[version]
    files = authority.client()
    known.load_cert_chain(files.cert, files.key)
    with Provider() as provider, Standing(provider.url, auth=auth, tls=tls) as proxy:
        provider.script("/v1/messages", plain(msgspec.json.encode(MESSAGE)))
        url = proxy.url.replace("http:", "https:")
        with httpx.Client(verify=known, trust_env=False) as client:
            for _ in range(2):
                answer = client.post(f"{url}/v1/messages", content=ASK)
                assert answer.json() == MESSAGE
            large = client.post(f"{url}/v1/messages", content=b" " * 1_000_000 + ASK)
            assert large.status_code == 200
        with httpx.Client(verify=trust, trust_env=False) as client, pytest.raises(httpx.HTTPError):
            client.post(f"{url}/v1/messages", content=ASK)
        assert b"HTTP/1.1 200" not in proxy.raw(post("/v1/messages", ASK))
    assert len(proxy.entries) == 3


def test_its_own_answers_are_no_pages() -> None:
    """What the proxy itself answers tells browsers to make nothing of it."""
    with Provider() as provider, Standing(provider.url, token=SHOWN) as proxy:
        got = proxy.raw(post("/v1/messages", b"{}"))
    for name, value in HEADERS.items():
        assert f"{name}: {value}\r\n".encode() in got


@pytest.mark.parametrize("host", ["evil.example", "evil.example:4320"])
def test_pages_of_strangers(host: str) -> None:
    """Without a token, a name that was made to point here is turned away."""
    with Provider() as provider, Standing(provider.url) as proxy:
        raw = f"GET /v1/models HTTP/1.1\r\nHost: {host}\r\n\r\n".encode()
        assert proxy.raw(raw).startswith(b"HTTP/1.1 403 ")
        raw = b"GET / HTTP/1.1\r\nHost: localhost\r\nOrigin: https://evil.example\r\n\r\n"
        assert proxy.raw(raw).startswith(b"HTTP/1.1 403 ")

    assert proxy.refused() == {"forbidden": 2}


def test_too_many_connections() -> None:
    """One above the limit is told so, and the others go on."""
    with Provider() as provider, Standing(provider.url, most=1) as proxy:
        provider.script("/v1/messages", plain(b"{}"))
        with socket.create_connection(proxy.at, timeout=20) as first:
            first.sendall(post("/v1/messages", b"{}"))
            assert first.recv(65536) == plain(b"{}")
            assert proxy.raw(b"").startswith(b"HTTP/1.1 503 ")
            first.sendall(post("/v1/messages", b"{}"))
            assert first.recv(65536) == plain(b"{}")

    assert proxy.refused() == {"too_many_connections": 1}


@pytest.mark.parametrize(
    "answer",
    [b"nonsense\r\n\r\n", b"HTTP/1.1 200 OK\r\nContent-Length: 1, 2\r\n\r\n"],
)
def test_an_answer_that_is_none(answer: bytes) -> None:
    """An upstream that speaks something else is a bad gateway."""
    with Provider() as provider, Standing(provider.url) as proxy:
        provider.script("/v1/messages", answer, close=True)
        got = proxy.raw(post("/v1/messages", b"{}"))

    assert got.startswith(b"HTTP/1.1 502 ")
    assert proxy.refused() == {"malformed_answer": 1}


@given(st.binary(max_size=300))
@settings(max_examples=200)
def test_heads_of_any_bytes(raw: bytes) -> None:
    """Whatever the bytes, a head is read or refused."""
    for read in (request_head, response_head):
        try:
            read(raw)
        except MalformedError:
            continue


@given(st.lists(st.binary(max_size=40), max_size=6), st.data())
@settings(max_examples=200)
def test_chunks_cut_anywhere(parts: list[bytes], data: st.DataObject) -> None:
    """Where the network cuts a chunked body makes no difference, and what follows is not taken."""
    raw = b"".join(b"%x\r\n%b\r\n" % (len(p), p) for p in parts if p) + b"0\r\nA: b\r\n\r\n"
    sent = raw + b"GET / "
    held: list[bytes] = []
    framing = Chunked(held)
    taken = 0
    while not framing.done:
        size = data.draw(st.integers(1, 30))
        taken += framing.take(sent[taken : taken + size])
    assert taken == len(raw)
    assert b"".join(held) == b"".join(parts)


@given(st.integers(1, 60))
def test_a_head_cut_anywhere(size: int) -> None:
    """Where the network cuts a head makes no difference."""
    raw = START + b"Content-Length: 4\r\n\r\nbody"
    buffer = HeadBuffer()
    at = 0
    found = None
    while found is None:
        found = buffer.add(raw[at : at + size])
        at += size
    head = request_head(found[0])
    assert (found[1] + raw[at:], of_request(head).take(b"bodymore")) == (b"body", 4)


def test_a_head_that_grows_too_large() -> None:
    """The limit holds for heads that come in one piece and for those that come in many."""
    with pytest.raises(OversizedError):
        HeadBuffer().add(b"a" * (MAX_HEAD + 5) + b"\r\n\r\n")
    buffer = HeadBuffer()
    piece = b"a: b\r\n" * 1000
    for _ in range(MAX_HEAD // len(piece)):
        assert buffer.add(piece) is None
    with pytest.raises(OversizedError):
        buffer.add(piece)
