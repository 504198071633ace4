"""Requests are sent until they are acknowledged, and their times are kept."""

import socket
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from bench.campaign import ceiling
from bench.failure import BenchError
from bench.load import Body, Load
from bench.senders import Endpoint, Sent, send

BODIES = tuple(Body(data=bytes([n]) * 100, spans=n) for n in range(1, 9))


class Receiver(ThreadingHTTPServer):
    """Answer with the given statuses in turn, then with 200; a 0 hangs up."""

    daemon_threads = True

    def __init__(self, statuses: Sequence[int]) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.statuses = list(statuses)
        self.received: list[bytes] = []
        self.headers: set[str] = set()


class Handler(BaseHTTPRequestHandler):
    """Take one request."""

    protocol_version = "HTTP/1.1"
    server: Receiver

    def do_POST(self) -> None:
        """Keep the body and answer."""
        body = self.rfile.read(int(self.headers["content-length"]))
        status = self.server.statuses.pop(0) if self.server.statuses else 200
        if not status:
            self.close_connection = True
            self.connection.shutdown(socket.SHUT_RDWR)
            return
        if status == 200:
            self.server.received.append(body)
            self.server.headers.add(self.headers["x-experiment"])
        self.send_response(status)
        self.send_header("content-length", "0")
        if status == 503:
            self.send_header("retry-after", "0.25")
        self.end_headers()

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@contextmanager
def receiving(*statuses: int) -> Iterator[Receiver]:
    """Run a receiver on loopback."""
    receiver = Receiver(statuses)
    thread = threading.Thread(target=receiver.serve_forever, daemon=True)
    thread.start()
    try:
        yield receiver
    finally:
        receiver.shutdown()
        thread.join()
        receiver.server_close()


def deliver(receiver: Receiver, *, senders: int = 2) -> tuple[Sent, list[float]]:
    """Send everything to a receiver; return the pauses too."""
    pauses: list[float] = []
    endpoint = Endpoint(
        url=f"http://127.0.0.1:{receiver.server_port}/v1/traces", headers={"x-experiment": "0"}
    )
    return send(BODIES, endpoint, senders=senders, sleep=pauses.append), pauses


def test_every_body_arrives_once_with_its_headers() -> None:
    """Each is acknowledged and timed."""
    with receiving() as receiver:
        sent, _ = deliver(receiver)
        assert sorted(receiver.received) == [body.data for body in BODIES]
        assert receiver.headers == {"0"}
    assert len(sent.acknowledged_s) == len(BODIES)
    assert sent.retries == 0


@pytest.mark.parametrize(("status", "pause"), [(503, 0.25), (429, 0.1), (0, 0.1)])
def test_a_request_is_sent_again_as_an_exporter_does(status: int, pause: float) -> None:
    """After the pause that the receiver asks for, also when it hung up; retries are counted."""
    with receiving(status) as receiver:
        sent, pauses = deliver(receiver, senders=1)
        assert len(receiver.received) == len(BODIES)
    assert sent.retries == 1
    assert pauses == [pause]


def test_a_final_error_ends_the_run() -> None:
    """Figures of a load that was not taken mean nothing."""
    with receiving(400) as receiver, pytest.raises(BenchError, match="HTTP 400"):
        deliver(receiver)


def test_the_ceiling_is_measured_against_a_server_that_does_nothing(tmp_path: Path) -> None:
    """The whole load passes through it."""
    load = Load(
        name="few",
        title="",
        story="",
        bodies=BODIES,
        conversations=1,
        span_bytes_mean=0,
        span_bytes_p95=0,
    )
    found = ceiling(load, senders=2, scratch=tmp_path, times=1)
    assert found.load == "few"
    assert found.spans_per_s.median > 0
