"""Test the process that passes calls on: it outlives what captures, and is started again when it dies."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec

from collector.proxy.line import Arrivals, Orders
from collector.proxy.relay_port import RelayPort
from collector.proxy.server import Settings
from tests.collector.proxy.provider import Provider, plain
from tests.collector.proxy.scripts import MESSAGE
from tests.collector.proxy.standing import SECRET, post
from tests.e2e.served import eventually

ANSWER = plain(msgspec.json.encode(MESSAGE))
ASK = b'{"model":"m","messages":[{"role":"user","content":"hi"}]}'


class Running:
    """A port with its process."""

    def __init__(self, url: str, *, max_waiting: int = 100) -> None:
        self.counts: Counter[tuple[str, ...]] = Counter()
        self.arrivals = Arrivals(self._count)
        orders = Orders(
            settings=Settings(address="127.0.0.1:0", secret=SECRET, drain_timeout_s=1.0),
            anthropic=url,
            openai=url,
            ca_file="",
            max_call=1 << 22,
            max_held=1 << 26,
            max_waiting=max_waiting,
        )
        self.port = RelayPort(orders, self.arrivals)
        host, _, port = self.port.address.rpartition(":")
        self.at = (host, int(port))

    def call(self) -> bytes:
        """Make a call on a connection of its own."""
        with socket.create_connection(self.at, timeout=60) as client:
            client.sendall(post("/v1/messages", ASK, "Connection: close"))
            got = b""
            while more := client.recv(65536):
                got += more
            return got

    def _count(self, name: str, amount: float, labels: dict[str, str]) -> None:
        self.counts[name, *labels.values()] += int(amount)


@contextmanager
def running(url: str, *, max_waiting: int = 100) -> Iterator[Running]:
    """Run a port on a thread of its own."""
    made = Running(url, max_waiting=max_waiting)
    loops: list[asyncio.AbstractEventLoop] = []
    begun = threading.Event()

    async def serve() -> None:
        loops.append(asyncio.get_running_loop())
        begun.set()
        await made.port.run()

    thread = threading.Thread(target=lambda: asyncio.run(serve()))
    thread.start()
    begun.wait(20)
    try:
        yield made
    finally:
        loops[0].call_soon_threadsafe(made.port.stop)
        thread.join(60)
        assert not thread.is_alive()
        made.arrivals.close()


def children() -> set[int]:
    """Return the processes that this one started and that still run."""
    found = set()
    for folder in Path("/proc").iterdir():
        try:
            fields = (folder / "stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if folder.name.isdecimal() and fields[1] == str(os.getpid()) and fields[0] != "Z":
            found.add(int(folder.name))
    return found


def test_what_passes_arrives() -> None:
    """A call passes through the other process, and its copy comes back from there."""
    with Provider() as provider, running(provider.url) as made:
        provider.script("/v1/messages", ANSWER)
        assert made.call().endswith(ANSWER[-50:])
        recorded = made.arrivals.take(30.0)
        assert recorded is not None
        assert b"".join(recorded.request) == ASK
        assert recorded.ending == "complete"


def test_nobody_reads() -> None:
    """When the capturing side never reads, calls pass, and what does not fit is dropped and counted."""
    with Provider() as provider, running(provider.url, max_waiting=2) as made:
        large = plain(b"x" * 300_000)
        provider.script("/v1/messages", large)
        for _ in range(10):
            assert made.call().endswith(large[-300_000:])
        taken = 0
        while made.arrivals.take(1.0) is not None:
            taken += 1
        dropped = made.counts["proxy_capture_dropped_total", "queue_full"]

    assert dropped > 0
    assert taken + dropped == 10


def test_a_process_that_dies_is_started_again() -> None:
    """Callers wait in line for the next one."""
    before = children()
    with Provider() as provider, running(provider.url) as made:
        provider.script("/v1/messages", ANSWER)
        made.call()
        (own,) = children() - before
        os.kill(own, signal.SIGKILL)
        eventually(lambda: bool(children() - before - {own}), "another one runs")
        assert made.call().endswith(ANSWER[-50:])


def test_a_stop_ends_the_process() -> None:
    """Nothing is left behind, and nobody listens any more."""
    before = children()
    with Provider() as provider, running(provider.url) as made:
        provider.script("/v1/messages", ANSWER)
        made.call()

    assert children() == before
    with socket.socket() as probe:
        assert probe.connect_ex(made.at) != 0
