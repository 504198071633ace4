"""A real process receives over gRPC what it receives over HTTP, and stops without losing any of it."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Sequence
from pathlib import Path

import grpc

from collector.replay import Request
from tests.collector.receivers.grpc_desk import TRACES, code
from tests.collector.receivers.http2_wire import begin, connect, data, message
from tests.e2e.checks import check_counts, check_exports
from tests.e2e.served import PATIENCE_S, Served, eventually, free_ports, summed
from tests.e2e.traffic import synthetic
from tests.faults.books import check_balance, planned

CALLS = 60
PAUSE_S = 0.05
RETRYABLE = (grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.CANCELLED)
"""What a server answers that stops: before it has looked at a call, or amid it."""


class Sender(threading.Thread):
    """Send requests over gRPC, and each again on an answer that OTLP's specification calls retryable."""

    def __init__(self, address: str, requests: Sequence[Request]) -> None:
        super().__init__()
        self._address = address
        self._requests = requests
        self.acknowledged = 0
        self.failure: grpc.RpcError | None = None

    def run(self) -> None:
        """Send all of them in order."""
        with grpc.insecure_channel(self._address, [("grpc.enable_retries", 0)]) as channel:
            export: grpc.UnaryUnaryMultiCallable[bytes, bytes] = channel.unary_unary(TRACES)
            for request in self._requests:
                self._send(export, request.body)
                if self.failure:
                    return

    def _send(self, export: grpc.UnaryUnaryMultiCallable[bytes, bytes], body: bytes) -> None:
        deadline = time.monotonic() + PATIENCE_S
        while self.failure is None:
            try:
                export(
                    body,
                    compression=grpc.Compression.Gzip,
                    timeout=PATIENCE_S,
                    wait_for_ready=True,
                )
            except grpc.RpcError as error:
                if code(error) not in RETRYABLE or time.monotonic() > deadline:
                    self.failure = error
                time.sleep(PAUSE_S)
            else:
                self.acknowledged += 1
                return

    def done(self) -> None:
        """Wait for the end; all must have been taken."""
        self.join(PATIENCE_S * 2)
        assert not self.is_alive()
        assert self.failure is None
        assert self.acknowledged == len(self._requests)


def test_told_to_stop_under_load_it_loses_nothing(tmp_path: Path) -> None:
    """SIGTERM amid calls: exit 0, and the sender's next calls reach the next process."""
    conversations = synthetic(20, seed=501)
    requests = planned(conversations)
    (port,) = free_ports(1)
    address = f"127.0.0.1:{port}"
    with Served(tmp_path / "data", RECEIVE__GRPC=address) as served:
        sender = Sender(address, requests)
        sender.start()
        eventually(lambda: sender.acknowledged > len(requests) // 3, "a third was sent")
        served.signal()
        assert served.ended() == 0
        served.start()
        sender.done()
        series = served.settled(len(conversations))
        check_exports(served.export, conversations)
        check_counts(lambda name: summed(series, name), conversations)
        served.signal()
        assert served.ended() == 0
        check_balance(served.data_dir)


def test_noise_does_not_fill_the_log(tmp_path: Path) -> None:
    """Calls that break the rules of gRPC are counted and not logged one by one."""
    (port,) = free_ports(1)
    address = f"127.0.0.1:{port}"
    broken = (
        begin(grpc_encoding="snappy") + data(message(b"x" * 50, flag=1), end=True),
        begin() + data(message(b"x" * 50)[:20]),
        begin() + data(b"\x00\xff\xff\xff\xff"),
        b"\xff" * 300,
    )
    with Served(tmp_path / "data", RECEIVE__GRPC=address) as served:
        eventually(lambda: _listens(port), "the port is open")
        for number in range(CALLS):
            with connect(address) as wire:
                wire.sendall(broken[number % len(broken)])
        eventually(
            lambda: served.value("requests_rejected_total", receiver="otlp_grpc") >= CALLS // 2,
            "the calls are counted",
        )
        served.signal()
        assert served.ended() == 0
        assert len(served.errors.read_text().splitlines()) < CALLS // 4


def _listens(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0
