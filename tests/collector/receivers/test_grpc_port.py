"""Test how the gRPC port starts, stops, says that it serves, and speaks TLS."""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import Iterator
from pathlib import Path

import grpc
import pytest
from grpc_health.v1.health_pb2 import HealthCheckRequest, HealthCheckResponse

from collector.config import ReceiveConfig
from collector.errors import ConfigError
from collector.journal_records import Entry
from collector.receivers.grpc_port import STREAMS, GrpcPort
from collector.receivers.otlp_grpc import OtlpGrpc
from collector.tls import certificates
from tests.collector.access import callers
from tests.collector.receivers.authority import Authority
from tests.collector.receivers.desk import TWO, Desk
from tests.collector.receivers.grpc_desk import (
    PATIENCE_S,
    TOKEN,
    TRACES,
    call,
    channel,
    code,
    later,
    refused,
    served,
)
from tests.collector.receivers.http2_wire import PREFACE, connect, frame

CHECK = "/grpc.health.v1.Health/Check"
WATCH = "/grpc.health.v1.Health/Watch"
SERVICE = TRACES[1:].partition("/")[0]


def port(address: str) -> GrpcPort:
    """Make a port that was not opened."""
    limits = ReceiveConfig()
    otlp = OtlpGrpc(Desk().admission(limits), limits=limits, callers=callers())
    return GrpcPort("receive.grpc", address, otlp, max_message=1_000)


def asked(service: str = "") -> bytes:
    """Ask for the health of a service."""
    message: bytes = HealthCheckRequest(service=service).SerializeToString()
    return message


def watching(through: grpc.Channel, body: bytes) -> Iterator[bytes]:
    """Watch the health of a service."""
    method: grpc.UnaryStreamMultiCallable[bytes, bytes] = through.unary_stream(WATCH)
    return iter(method(body, timeout=PATIENCE_S))


def status(answer: bytes) -> int:
    """Return the status in an answer."""
    found: int = HealthCheckResponse.FromString(answer).status
    return found


def test_a_taken_port() -> None:
    """A port that somebody listens on is an error that names the key, before anything starts."""
    with socket.create_server(("127.0.0.1", 0)) as other:
        address = f"127.0.0.1:{other.getsockname()[1]}"
        with pytest.raises(ConfigError, match=rf"^receive.grpc: cannot listen on {address} \("):
            port(address)


def test_a_port_that_is_served_already() -> None:
    """A second instance does not share the port of the first."""
    with served(Desk()) as serving, pytest.raises(ConfigError, match="cannot listen on"):
        port(serving.address)


def test_a_port_lost_before_it_opened() -> None:
    """A port that somebody took between the bind and the start is the same error."""
    late = port("127.0.0.1:0")
    first = port(late.address)

    async def both() -> None:
        await first.open()
        with pytest.raises(ConfigError, match=f"cannot listen on {late.address};"):
            await late.open()
        first.stop()
        await first.run()

    asyncio.run(both())


def test_a_port_that_never_opened() -> None:
    """A port that was bound and not used is let go of."""
    unused = port("127.0.0.1:0")
    unused.close()
    again = port(unused.address)
    again.close()


def test_stop_finishes_what_is_under_way() -> None:
    """A call that was being taken when the port was told to stop is taken and answered."""
    go, held = threading.Event(), threading.Event()

    async def slow(entry: Entry) -> None:
        held.set()
        await asyncio.to_thread(go.wait, PATIENCE_S)

    desk = Desk(slow)
    with served(desk) as serving, channel(serving) as through:
        watch = watching(through, asked())
        next(watch)
        first = later(through, TWO)
        assert held.wait(PATIENCE_S)
        serving.tell()
        next(watch)  # its second word: no more calls are taken
        go.set()
        assert first.result() == b""
        serving.stop()
        assert code(refused(through, TWO)) is grpc.StatusCode.UNAVAILABLE

    assert len(desk.entries) == 1


def test_more_calls_than_a_connection_carries() -> None:
    """A sender with many calls on one connection waits for its turn; none is refused."""
    desk = Desk()
    with served(desk) as serving, channel(serving) as through:
        calls = [later(through, TWO) for _ in range(4 * STREAMS)]
        failures = [call.exception() for call in calls]

    assert failures == [None] * len(calls)
    assert len(desk.entries) == len(calls)


def test_health() -> None:
    """The port says of itself and of its services that they serve, to anybody."""
    with served(Desk(), token=TOKEN) as serving, channel(serving) as through:
        for service in ("", SERVICE):
            answer = call(through, asked(service), method=CHECK)
            assert status(answer) == HealthCheckResponse.SERVING
        unknown = refused(through, asked("shop.Orders"), method=CHECK)
        assert code(unknown) is grpc.StatusCode.NOT_FOUND
        noise = refused(through, b"\xff\xff", method=CHECK)
        assert code(noise) is grpc.StatusCode.INVALID_ARGUMENT
        none = refused(through, b"", method="/grpc.health.v1.Health/List")
        assert code(none) is grpc.StatusCode.UNIMPLEMENTED


def test_those_who_watch_are_told_of_the_end() -> None:
    """Who watches hears that the port serves, that it stops, and does not delay the stop."""
    with served(Desk()) as serving, channel(serving) as through:
        watch = watching(through, asked(SERVICE))
        unknown = watching(through, asked("shop.Orders"))
        assert status(next(watch)) == HealthCheckResponse.SERVING
        assert status(next(unknown)) == HealthCheckResponse.SERVICE_UNKNOWN
        serving.stop()
        assert [status(answer) for answer in watch] == [HealthCheckResponse.NOT_SERVING]
        assert list(unknown) == []


def test_connections_are_bounded() -> None:
    """A connection above the bound is closed; those that are there are served."""
    desk = Desk()
    with served(desk, most=2) as serving, channel(serving) as through:
        call(through, TWO)
        with connect(serving.address) as second, connect(serving.address) as third:
            for wire in (second, third):
                wire.sendall(PREFACE + frame(0x4, 0, 0))
            assert second.recv(1)
            assert not _received(third)
            call(through, TWO)

    assert len(desk.entries) == 2


def _received(wire: socket.socket) -> bytes:
    try:
        return wire.recv(1)
    except ConnectionResetError:
        return b""


def test_tls(tmp_path: Path) -> None:
    """With a certificate the port speaks TLS, to whoever trusts it, and nothing else."""
    authority, stranger = Authority(tmp_path), Authority(_made(tmp_path / "other"))
    desk = Desk()
    with served(
        desk, certificates=certificates(authority.server(), section="receive.tls")
    ) as serving:
        with channel(serving, authority.credentials()) as through:
            call(through, TWO)
        with channel(serving) as through:
            assert code(refused(through, TWO)) is grpc.StatusCode.UNAVAILABLE
        with channel(serving, stranger.credentials()) as through:
            assert code(refused(through, TWO)) is grpc.StatusCode.UNAVAILABLE

    assert len(desk.entries) == 1


def test_mutual_tls(tmp_path: Path) -> None:
    """With an authority for clients, only those with its certificates get in."""
    authority, stranger = Authority(tmp_path), Authority(_made(tmp_path / "other"))
    desk = Desk()
    tls = authority.server(client_ca=authority.file)
    with served(desk, certificates=certificates(tls, section="receive.tls")) as serving:
        with channel(serving, authority.credentials(authority.client())) as through:
            call(through, TWO)
        for shown in (None, stranger.client()):
            with channel(serving, authority.credentials(shown)) as through:
                assert code(refused(through, TWO)) is grpc.StatusCode.UNAVAILABLE

    assert len(desk.entries) == 1


def _made(directory: Path) -> Path:
    directory.mkdir()
    return directory
