"""Run a proxy in this process, between a client and a provider that the test wrote."""

from __future__ import annotations

import asyncio
import functools
import socket
import ssl
import threading
from collections import Counter
from collections.abc import Callable
from concurrent.futures import Future
from types import TracebackType
from typing import Any, Self

import httpx
import msgspec
import uvloop

from collector.config import AuthConfig
from collector.journal_records import Entry
from collector.otlp import Batch
from collector.proxy.about import Names
from collector.proxy.capture import Capture, Export, Span, SpanWriter
from collector.proxy.recorder import Recorded, Recorder
from collector.proxy.server import ProxyServer, Settings
from collector.proxy.shadow import Shadow, ShadowOrders
from collector.proxy.upstream import Routes
from collector.servers import bound
from collector.telemetry import Span as ReadSpan

SECRET = b"s" * 32
KEY = "sk-ant-a-key-that-must-not-be-kept"


class Standing:
    """A proxy, and what it captured."""

    def __init__(
        self,
        url: str,
        *,
        token: str = "",
        write: Callable[[Recorded], Span] | None = None,
        export: Export | None = None,
        shadow: ShadowOrders | None = None,
        max_call: int = 1 << 20,
        max_held: int = 1 << 24,
        max_waiting: int = 100,
        **settings: Any,
    ) -> None:
        self.counts: Counter[tuple[str, ...]] = Counter()
        self.entries: list[Entry] = []
        self.spans: list[ReadSpan] = []
        self._time = 0
        self._ids = 0
        self.recorder = Recorder(
            max_call=max_call,
            max_held=max_held,
            max_waiting=max_waiting,
            clock_ns=self._tick,
            count=self._count,
        )
        writer = SpanWriter(limit=1 << 20, version="1", secret=SECRET, random_bytes=self._bytes)
        self._capture = Capture(
            self.recorder, write=write or writer, keep=self._keep, export=export
        )
        listening = bound("proxy.address", "127.0.0.1:0", listen=True)
        self.at: tuple[str, int] = listening.getsockname()
        self.url = f"http://127.0.0.1:{self.at[1]}"
        context = trusted()
        self.server = ProxyServer(
            Settings(
                address=f"127.0.0.1:{self.at[1]}",
                auth=settings.pop("auth", AuthConfig(token=token)),
                secret=SECRET,
                names=settings.pop("names", Names()),
                drain_timeout_s=settings.pop("drain_timeout_s", 0.2),
                **settings,
            ),
            listening=listening,
            routes=Routes(anthropic=url, openai=url),
            recorder=self.recorder,
            context=context,
            count=self._count,
            shadow=None
            if shadow is None
            else Shadow(
                shadow,
                recorder=self.recorder,
                context=context,
                count=self._count,
                random=lambda: 0.5,
                random_bytes=self._bytes,
            ),
        )
        self._stop = threading.Event()
        self._threads = [
            threading.Thread(target=self._serve, daemon=True),
            threading.Thread(target=self._capture.run, args=(self._stop,), daemon=True),
        ]

    def __enter__(self) -> Self:
        """Start."""
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Stop."""
        self.stop()

    def stop(self) -> None:
        """Finish the calls under way, then the capture of all that ended."""
        self.server.stop()
        self._threads[0].join(20)
        assert not self._threads[0].is_alive()
        self._stop.set()
        self._threads[1].join(5)

    def raw(self, data: bytes, *, until_closed: bool = True) -> bytes:
        """Send bytes and return all that comes back."""
        with socket.create_connection(self.at, timeout=20) as client:
            client.sendall(data)
            got = b""
            while more := client.recv(65536):
                got += more
                if not until_closed:
                    break
            return got

    def dropped(self) -> dict[str, int]:
        """Return the calls that were not captured, by reason."""
        return {k[1]: n for k, n in self.counts.items() if k[0] == "proxy_capture_dropped_total"}

    def shadows(self) -> dict[str, int]:
        """Return what became of the calls chosen to be asked again."""
        return {k[1]: n for k, n in self.counts.items() if k[0] == "proxy_shadow_total"}

    def refused(self) -> dict[str, int]:
        """Return the requests turned away, by reason."""
        return {k[2]: n for k, n in self.counts.items() if k[0] == "requests_rejected_total"}

    def said(self, key: str, span: int = -1) -> Any:
        """Return an attribute of a captured span; JSON text is opened."""
        value: Any = self.spans[span].attributes.get(key)
        return msgspec.json.decode(value) if str(value)[:1] in ("[", "{") else value

    def _serve(self) -> None:
        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            runner.run(self.server.serve())

    def _keep(self, entry: Entry, batch: Batch) -> Future[None]:
        self.entries.append(entry)
        self.spans += batch.spans()
        kept: Future[None] = Future()
        kept.set_result(None)
        return kept

    def _count(self, name: str, amount: float, labels: dict[str, str]) -> None:
        self.counts[name, *labels.values()] += int(amount)

    def _tick(self) -> int:
        self._time += 1_000_000
        return 2_000_000_000_000_000_000 + self._time

    def _bytes(self, size: int) -> bytes:
        self._ids += 1
        return self._ids.to_bytes(size, "big")


@functools.cache
def trusted() -> ssl.SSLContext:
    """Read the usual authorities, which takes a while, once."""
    return httpx.create_ssl_context()


def post(path: str, body: bytes, *headers: str) -> bytes:
    """Write a request."""
    lines = [
        f"POST {path} HTTP/1.1",
        "Host: localhost",
        *headers,
        f"Content-Length: {len(body)}",
    ]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body
