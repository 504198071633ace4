"""Test what the OTLP/gRPC receiver turns away, and how."""

from __future__ import annotations

import asyncio
import gzip
import threading
import time
from collections.abc import Callable, Iterator

import grpc
import pytest
from google.rpc.error_details_pb2 import RetryInfo
from google.rpc.status_pb2 import Status
from hypothesis import given, settings
from hypothesis import strategies as st

from collector.errors import JournalFullError, MalformedError, RetryableError
from collector.journal_records import Entry
from tests.collector.receivers.desk import TWO, Desk, traces
from tests.collector.receivers.grpc_desk import (
    LOGS,
    METRICS,
    PATIENCE_S,
    TOKEN,
    TRACES,
    call,
    channel,
    code,
    later,
    refused,
    said,
    served,
    trailing,
)
from tests.collector.receivers.http2_wire import (
    answer,
    begin,
    connect,
    data,
    message,
    reset,
)


def eventually(true: Callable[[], bool]) -> None:
    """Wait until something holds."""
    deadline = time.monotonic() + PATIENCE_S
    while not true():
        assert time.monotonic() < deadline
        time.sleep(0.01)


@pytest.mark.parametrize("shown", [{}, {"authorization": "Bearer other"}, {"authorization": TOKEN}])
def test_without_the_token(shown: dict[str, str]) -> None:
    """A call that does not show the token is UNAUTHENTICATED, whatever it brings."""
    desk = Desk()
    with served(desk, token=TOKEN, max_body=100) as serving, channel(serving) as through:
        error = refused(through, bytes(200), **shown)

    assert code(error) is grpc.StatusCode.UNAUTHENTICATED
    assert desk.rejected() == {"unauthenticated": 1}


def test_a_page_of_another_site() -> None:
    """Without a token, a call that a browser made for a page is PERMISSION_DENIED."""
    desk = Desk()
    with served(desk) as serving, channel(serving) as through:
        error = refused(through, TWO, origin="https://evil.example")

    assert code(error) is grpc.StatusCode.PERMISSION_DENIED
    assert desk.rejected() == {"forbidden": 1}


@pytest.mark.parametrize("body", [b"\xff\xff", b"\x1f\x8bnothing", b"\x78\x9cnothing"])
def test_bytes_that_are_no_request(body: bytes) -> None:
    """Bytes that are not an export request are INVALID_ARGUMENT, which no sender repeats."""
    desk = Desk()
    with served(desk) as serving, channel(serving) as through:
        assert code(refused(through, body)) is grpc.StatusCode.INVALID_ARGUMENT

    assert desk.rejected() == {"malformed": 1}
    assert desk.entries == []


def test_a_message_above_the_limit() -> None:
    """A message that is too large is RESOURCE_EXHAUSTED before it is read; the next is taken."""
    desk = Desk()
    with served(desk, max_body=1_000) as serving, channel(serving) as through:
        error = refused(through, traces(b"a" * 8, filler=1_000))
        assert code(error) is grpc.StatusCode.RESOURCE_EXHAUSTED
        assert "1000" in said(error)
        call(through, TWO)

    assert desk.rejected() == {"unread": 1}
    assert len(desk.entries) == 1


def test_a_bomb() -> None:
    """A small message that would become huge is RESOURCE_EXHAUSTED, and not unpacked."""
    desk = Desk()
    bomb = gzip.compress(bytes(32 * 1024 * 1024))
    with served(desk, max_decompressed=40_000) as serving, channel(serving) as through:
        error = refused(through, bomb)
        assert code(error) is grpc.StatusCode.RESOURCE_EXHAUSTED
        assert not trailing(error)

    assert desk.rejected() == {"oversized": 1}


@pytest.mark.parametrize("method", ["/shop.Orders/Place", f"{TRACES}s", "/"])
def test_a_wrong_method(method: str) -> None:
    """A method that is not there is UNIMPLEMENTED."""
    desk = Desk()
    with served(desk) as serving, channel(serving) as through:
        assert code(refused(through, TWO, method=method)) is grpc.StatusCode.UNIMPLEMENTED


@pytest.mark.parametrize(
    ("error", "reason", "seconds"),
    [
        (RetryableError("busy", retry_after_s=2.5), "unavailable", 2.5),
        (JournalFullError("full", retry_after_s=7), "journal_full", 7),
        (ZeroDivisionError("a bug"), "internal", 2),
    ],
)
def test_back_pressure(error: Exception, reason: str, seconds: float) -> None:
    """What can pass by itself is UNAVAILABLE, and says when to try again."""

    async def busy(entry: Entry) -> None:
        raise error

    desk = Desk(busy)
    with served(desk) as serving, channel(serving) as through:
        failure = refused(through, TWO)

    assert code(failure) is grpc.StatusCode.UNAVAILABLE
    metadata = trailing(failure)
    status = Status.FromString(metadata["grpc-status-details-bin"])
    retry = RetryInfo()
    assert status.details[0].Unpack(retry)
    assert (status.code, status.message) == (14, said(failure))
    assert retry.retry_delay.ToTimedelta().total_seconds() == seconds
    assert metadata["google.rpc.retryinfo-bin"] == retry.SerializeToString()
    assert desk.rejected() == {reason: 1}


def test_a_permanent_refusal_says_nothing_of_trying_again() -> None:
    """What cannot pass is INVALID_ARGUMENT without a time."""

    async def wrong(entry: Entry) -> None:
        raise MalformedError("wrong")

    desk = Desk(wrong)
    with served(desk) as serving, channel(serving) as through:
        failure = refused(through, TWO)

    assert code(failure) is grpc.StatusCode.INVALID_ARGUMENT
    assert not trailing(failure)


def test_too_much_in_flight() -> None:
    """Above the bytes that may be held, calls are UNAVAILABLE until some were taken."""
    go, held = threading.Event(), threading.Event()

    async def slow(entry: Entry) -> None:
        held.set()
        await asyncio.to_thread(go.wait, PATIENCE_S)

    desk = Desk(slow)
    with served(desk, max_in_flight=len(TWO) + 10) as serving, channel(serving) as through:
        first = later(through, TWO)
        assert held.wait(PATIENCE_S)
        assert code(refused(through, TWO)) is grpc.StatusCode.UNAVAILABLE
        go.set()
        first.result()
        call(through, TWO)

    assert desk.rejected() == {"unavailable": 1}
    assert len(desk.entries) == 2


def test_a_cancelled_call_is_taken_to_its_end() -> None:
    """A sender that goes away in the midst of a commit does not undo it."""
    go, held = threading.Event(), threading.Event()

    async def slow(entry: Entry) -> None:
        held.set()
        await asyncio.to_thread(go.wait, PATIENCE_S)

    desk = Desk(slow)
    with served(desk) as serving, channel(serving) as through:
        first = later(through, TWO)
        assert held.wait(PATIENCE_S)
        first.cancel()
        with channel(serving) as other:  # its answer says that the cancellation was seen before
            call(other, b"")
        go.set()

    assert len(desk.entries) == 1
    assert not desk.counts


@pytest.mark.parametrize("ending", [b"", reset()], ids=["closed", "reset"])
def test_a_broken_upload(ending: bytes) -> None:
    """A message that breaks off is counted, and the next one is taken."""
    desk = Desk()
    with served(desk) as serving:
        with connect(serving.address) as wire:
            wire.sendall(begin() + data(message(TWO)[:-5]) + ending)
            if ending:
                eventually(lambda: bool(desk.rejected()))
        eventually(lambda: desk.rejected() == {"unread": 1})
        with channel(serving) as through:
            call(through, TWO)

    assert len(desk.entries) == 1


@pytest.mark.parametrize("part", [b"", message(TWO)[:-5]], ids=["nothing", "half"])
def test_a_call_without_a_whole_message(part: bytes) -> None:
    """A call that ends before its message did is INVALID_ARGUMENT."""
    desk = Desk()
    with served(desk) as serving, connect(serving.address) as wire:
        wire.sendall(begin() + data(part, end=True))
        assert b"grpc-status\x013" in answer(wire, b"grpc-status\x01")

    assert desk.rejected() == {"malformed": 1}


def test_a_slow_sender() -> None:
    """A message that does not arrive in time is DEADLINE_EXCEEDED, which senders repeat."""
    desk = Desk()
    with served(desk, within_s=0.2) as serving, connect(serving.address) as wire:
        wire.sendall(begin() + data(message(TWO)[:-5]))
        assert b"grpc-status\x014" in answer(wire, b"grpc-status\x01")

    assert desk.rejected() == {"slow": 1}


def test_slow_senders_keep_nobody_out() -> None:
    """Senders that hold every place for long are told to try again when somebody else wants one."""
    desk = Desk()
    with (
        served(desk, patience_s=0.1, max_body=200, max_in_flight=600) as serving,
        channel(serving) as through,
    ):
        wires = [connect(serving.address) for _ in range(3)]
        for wire in wires:
            wire.sendall(begin() + data(message(TWO)[:-5]))
        for _ in range(10):
            call(through, TWO)
        # Those whose place nobody wanted go on.
        eventually(lambda: desk.rejected().get("slow", 0) > 0)
        for wire in wires:
            wire.close()

    assert len(desk.entries) == 10
    assert desk.rejected()["slow"] <= 3


def test_slow_senders_wait_for_each_other() -> None:
    """Only so many messages are read at a time as would fit into memory; others have their turn."""
    desk = Desk()
    with (
        served(desk, within_s=0.5, max_body=200, max_in_flight=399) as serving,
        connect(serving.address) as wire,
        channel(serving) as through,
    ):
        wire.sendall(begin() + data(message(TWO)[:-5]))
        call(through, TWO)
        assert b"grpc-status\x014" in answer(wire, b"grpc-status\x01")

    assert desk.rejected() == {"slow": 1}
    assert len(desk.entries) == 1


@pytest.mark.parametrize(
    ("noise", "until"),
    [
        (b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n", b"the end"),
        (b"\xff" * 500, b"the end"),
        (begin(grpc_encoding="snappy") + data(message(TWO, flag=1), end=True), b"grpc-status"),
        (begin() + data(message(TWO, flag=1), end=True), b"grpc-status"),
        (begin() + data(message(TWO, flag=9), end=True), b"grpc-status"),
    ],
    ids=["http", "bytes", "unknown compression", "compressed by nothing", "unknown flag"],
)
def test_noise(noise: bytes, until: bytes) -> None:
    """What is no gRPC, or breaks its rules, is answered or cut, and harms nobody else."""
    desk = Desk()
    with served(desk) as serving:
        with connect(serving.address) as wire:
            wire.sendall(noise)
            answer(wire, until)
        with channel(serving) as through:
            call(through, TWO)

    assert [entry.body for entry in desk.entries] == [TWO]


@pytest.fixture(scope="module")
def open_channel() -> Iterator[grpc.Channel]:
    """Serve one receiver for many calls."""
    with served(Desk(), max_decompressed=10_000) as serving, channel(serving) as through:
        yield through


_GRPC_CODES = {
    grpc.StatusCode.OK,
    grpc.StatusCode.INVALID_ARGUMENT,
    grpc.StatusCode.RESOURCE_EXHAUSTED,
}

_MANGLED = st.builds(
    lambda body, at, byte: body[:at] + bytes([byte]) + body[at + 1 :],
    st.sampled_from([TWO, gzip.compress(TWO), traces(b"short")]),
    st.integers(0, 120),
    st.integers(0, 255),
)


@settings(max_examples=150, deadline=None)
@given(
    st.one_of(st.binary(max_size=300), st.binary(max_size=100).map(gzip.compress), _MANGLED),
    st.sampled_from([TRACES, LOGS, METRICS]),
)
def test_any_bytes(open_channel: grpc.Channel, body: bytes, method: str) -> None:
    """Whatever the bytes, they are taken or the sender is told that they are wrong."""
    outcome = grpc.StatusCode.OK
    try:
        call(open_channel, body, method=method)
    except grpc.RpcError as error:
        outcome = code(error)
    assert outcome in _GRPC_CODES
