"""Test how the OTLP/HTTP receiver turns requests away, against the OTLP specification."""

from __future__ import annotations

import asyncio
import gc
import gzip
import tracemalloc
from typing import Any

import httpx
import pytest

from collector.errors import JournalFullError, RetryableError
from collector.journal_records import Entry
from collector.otlp import failure
from tests.collector.receivers.desk import JSON, PROTO, TWO, Desk, send


@pytest.mark.parametrize(
    ("body", "type_"), [(b"\xff\xff\xff", PROTO), (b"{", JSON), (b"[1]", JSON)]
)
def test_malformed(body: bytes, type_: str) -> None:
    """Bytes that are no request get 400 with a status that says why, in their own encoding."""
    desk = Desk()
    answer = send(desk.app(), body, type_=type_)

    assert (answer.status_code, answer.headers["content-type"]) == (400, type_)
    if type_ == JSON:
        assert answer.json()["code"] == 3
        assert answer.json()["message"]
    else:
        assert answer.content.startswith(b"\x08\x03\x12")
    assert desk.rejected() == {"malformed": 1}


def test_malformed_compression() -> None:
    """A body that is not compressed as it says gets 400."""
    answer = send(Desk().app(), TWO, content_encoding="gzip")

    assert answer.status_code == 400


@pytest.mark.parametrize("method", ["GET", "PUT", "DELETE", "HEAD", "OPTIONS"])
def test_other_methods(method: str) -> None:
    """Anything but POST gets 405, which names POST."""
    desk = Desk()
    answer = send(desk.app(), method=method)

    assert (answer.status_code, answer.headers["allow"]) == (405, "POST")
    assert desk.rejected() == {"method": 1}


@pytest.mark.parametrize(
    "headers", [{"type_": "text/plain"}, {"type_": ""}, {"content_encoding": "br"}]
)
def test_unsupported(headers: dict[str, str]) -> None:
    """A content type or encoding we do not speak gets 415, which names those we do."""
    desk = Desk()
    answer = send(desk.app(), TWO, **headers)

    assert answer.status_code == 415
    assert b"is not supported; send" in answer.content
    assert desk.rejected() == {"unsupported": 1}


def test_unknown_path() -> None:
    """A path that is not OTLP gets 404, which names those that are, and is counted."""
    desk = Desk()
    for path in ("/", "/v2/traces", "/v1/traces/v1/traces"):
        answer = send(desk.app(), b"{}", path=path, type_=JSON)
        assert (answer.status_code, answer.json()["code"]) == (404, 5)
        assert answer.json()["message"] == f"{path!r} is none of /v1/traces, /v1/logs, /v1/metrics"
    assert desk.rejected() == {"path": 3}


def test_announced_too_large() -> None:
    """A body announced as too large gets 413 before it is read."""
    read = False

    async def body() -> Any:
        nonlocal read
        read = True
        yield b"x"

    desk = Desk()
    answer = send(desk.app(max_body=100), body(), content_length="101")

    assert answer.status_code == 413
    assert not read
    assert desk.rejected() == {"oversized": 1}


def test_streamed_too_large() -> None:
    """A body of unknown length gets 413 as soon as it is too large, and is not read on."""
    chunks = 0

    async def body() -> Any:
        nonlocal chunks
        for _ in range(1_000):
            chunks += 1
            yield b"x" * 60

    answer = send(Desk().app(max_body=100), body())

    assert answer.status_code == 413
    assert chunks < 5


@pytest.mark.parametrize("size", [50_000, 50_000_000])
def test_too_large_when_decompressed(size: int) -> None:
    """A small body that becomes too large gets 413, whether it is worked on beside the loop or not."""
    desk = Desk()
    answer = send(
        desk.app(max_decompressed=40_000), gzip.compress(bytes(size)), content_encoding="gzip"
    )

    assert answer.status_code == 413
    assert desk.rejected() == {"oversized": 1}


def test_bad_length() -> None:
    """A length that is not a number gets 400."""
    assert send(Desk().app(), TWO, content_length="-1").status_code == 400


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (JournalFullError("full", retry_after_s=2.5), "journal_full"),
        (RetryableError("disk", retry_after_s=3), "unavailable"),
    ],
)
def test_not_now(error: RetryableError, reason: str) -> None:
    """What may work later gets 503, when to try again, and a status that says why."""

    async def fail(entry: Entry) -> None:
        raise error

    desk = Desk(fail)
    answer = send(desk.app(), TWO)

    assert (answer.status_code, answer.headers["retry-after"]) == (503, "3")
    assert answer.content == failure("proto", code=14, message=str(error))
    assert desk.rejected() == {reason: 1}


def test_a_bug_is_not_the_senders_loss(caplog: pytest.LogCaptureFixture) -> None:
    """An error nobody foresaw gets 503, is counted each time and logged once."""

    async def fail(entry: Entry) -> None:
        raise ZeroDivisionError

    desk = Desk(fail)
    app = desk.app()
    answers = [send(app, TWO, type_=PROTO) for _ in range(3)]

    assert {answer.status_code for answer in answers} == {503}
    assert answers[0].headers["retry-after"] == "2"
    assert desk.rejected() == {"internal": 3}
    assert len(caplog.records) == 1


def test_bodies_in_flight_are_bounded() -> None:
    """Over the limit of bodies in memory a sender is told to wait, and is served afterwards."""

    async def run() -> list[int]:
        held, gate = asyncio.Event(), asyncio.Event()

        async def hold(entry: Entry) -> None:
            held.set()
            await gate.wait()

        desk = Desk(hold)
        transport = httpx.ASGITransport(desk.app(max_in_flight=len(TWO) + 10))
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:

            async def post() -> int:
                headers = {"content-type": PROTO}
                return (await client.post("/v1/traces", content=TWO, headers=headers)).status_code

            first = asyncio.create_task(post())
            await held.wait()
            second = await post()
            gate.set()
            assert desk.rejected() == {"unavailable": 1}
            return [await first, second, await post()]

    assert asyncio.run(run()) == [200, 503, 200]


def test_token() -> None:
    """With a token set, only who shows it is served; its hash goes with the request."""
    desk = Desk()
    token = "a long phrase"  # noqa: S105  # a test's, not a secret
    app = desk.app(token=token)
    refused = send(app, TWO, authorization="Bearer wrong")

    assert (refused.status_code, refused.headers["www-authenticate"]) == (401, "Bearer")
    assert send(app, TWO, authorization=f"Bearer {token}").status_code == 200
    assert len(desk.entries[0].credential) == 16
    assert desk.rejected() == {"unauthenticated": 1}


@pytest.mark.parametrize(
    "headers", [{"host": "evil.example"}, {"origin": "https://evil.example"}, {"origin": "null"}]
)
def test_pages_of_strangers(headers: dict[str, str]) -> None:
    """Without a token, a page that a browser shows cannot put telemetry in."""
    desk = Desk()
    answer = send(desk.app(), TWO, **headers)

    assert answer.status_code == 403
    assert answer.content.startswith(b"\x08\x07\x12")
    assert desk.rejected() == {"forbidden": 1}


def test_names_of_containers() -> None:
    """A receiver bound beyond loopback is found by any name."""
    app = Desk().app(http="0.0.0.0:4318")

    assert send(app, TWO, host="outrider:4318").status_code == 200


def test_the_sender_leaves() -> None:
    """A sender that leaves in the middle of its body is counted and harms nobody."""
    desk = Desk()
    messages = iter(
        [
            {"type": "http.request", "body": TWO[:5], "more_body": True},
            {"type": "http.disconnect"},
        ]
    )

    async def receive() -> Any:
        return next(messages)

    async def ignore(message: Any) -> None:
        pass

    scope = {
        "type": "http",
        "method": "POST",
        "path": "/v1/traces",
        "query_string": b"",
        "headers": [(b"host", b"localhost"), (b"content-type", PROTO.encode())],
    }
    asyncio.run(desk.app()(scope, receive, ignore))

    assert desk.rejected() == {"disconnected": 1}
    assert desk.entries == []


@pytest.mark.parametrize(
    ("size", "status"),
    [(1_000_000, 400), (20_000_000, 400), (50_000_000, 413)],
    ids=["parsed beside the loop", "unpacked beside the loop", "not unpacked"],
)
def test_refused_bodies_leave_nothing_behind(size: int, status: int) -> None:
    """What a refused body was unpacked to is gone at once, without the garbage collector."""
    bomb = gzip.compress(b"\xff" * size, 9)
    desk = Desk()

    async def run() -> int:
        transport = httpx.ASGITransport(desk.app(max_decompressed=40_000_000))
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
            headers = {"content-type": PROTO, "content-encoding": "gzip"}
            before = tracemalloc.get_traced_memory()[0]
            for _ in range(3):
                answer = await client.post("/v1/traces", content=bomb, headers=headers)
                assert answer.status_code == status
            kept = size
            for _ in range(200):  # the worker's thread lets go a moment after its answer is here
                kept = tracemalloc.get_traced_memory()[0] - before
                if kept < size // 2:
                    break
                await asyncio.sleep(0.01)
            return kept

    gc.collect()
    gc.disable()
    tracemalloc.start()
    try:
        assert asyncio.run(run()) < size // 2
    finally:
        tracemalloc.stop()
        gc.enable()
