"""Send prepared requests over a few connections, and time every acknowledgement."""

from __future__ import annotations

import http.client
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from urllib.parse import urlsplit

import msgspec

from bench.failure import BenchError
from bench.load import Body

RETRYABLE = frozenset({429, 502, 503, 504})
PATIENCE_S = 300.0
"""How long one request is tried."""
_FIRST_PAUSE_S = 0.1
_LONGEST_PAUSE_S = 5.0
_TIMEOUT_S = 120.0


class Endpoint(msgspec.Struct, frozen=True, kw_only=True):
    """Where a system takes OTLP over HTTP."""

    url: str
    headers: Mapping[str, str] = {}


class Sent(msgspec.Struct, frozen=True, kw_only=True):
    """What sending a load came to."""

    seconds: float
    """From the first byte to the last acknowledgement."""
    acknowledged_s: Sequence[float]
    """For each request: from its first byte to its acknowledgement, the last try alone."""
    retries: int


def send(
    bodies: Sequence[Body],
    endpoint: Endpoint,
    *,
    senders: int,
    seconds: Callable[[], float] = time.perf_counter,
    sleep: Callable[[float], None] = time.sleep,
) -> Sent:
    """Send every request once it is its turn, over ``senders`` connections.

    Raises:
        BenchError: a request got a final error, or none for too long.
    """
    run = _Run(bodies, endpoint, seconds=seconds, sleep=sleep)
    threads = [threading.Thread(target=run.work, daemon=True) for _ in range(senders)]
    began = seconds()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    took = seconds() - began
    if run.problem:
        raise BenchError(run.problem)
    return Sent(seconds=took, acknowledged_s=run.times, retries=run.retries)


class _Run:
    """Share the requests among the threads that send them."""

    def __init__(
        self,
        bodies: Sequence[Body],
        endpoint: Endpoint,
        *,
        seconds: Callable[[], float],
        sleep: Callable[[float], None],
    ) -> None:
        self.times: list[float] = []
        self.retries = 0
        self.problem = ""
        self._bodies: Iterator[Body] = iter(bodies)
        self._lock = threading.Lock()
        parts = urlsplit(endpoint.url)
        self._address = (parts.hostname or "", parts.port or 80)
        self._path = parts.path
        self._headers = {"content-type": "application/x-protobuf", **endpoint.headers}
        self._seconds = seconds
        self._sleep = sleep

    def work(self) -> None:
        """Send one request after another until there are no more."""
        connection = http.client.HTTPConnection(*self._address, timeout=_TIMEOUT_S)
        try:
            while (body := self._next()) is not None:
                self._deliver(connection, body)
        except (OSError, http.client.HTTPException, BenchError) as error:
            self.problem = self.problem or f"{type(error).__name__}: {error}"
        finally:
            connection.close()

    def _next(self) -> Body | None:
        with self._lock:
            return None if self.problem else next(self._bodies, None)

    def _deliver(self, connection: http.client.HTTPConnection, body: Body) -> None:
        until = self._seconds() + PATIENCE_S
        tries = 0
        while True:
            began = self._seconds()
            wait = min(_FIRST_PAUSE_S * 2**tries, _LONGEST_PAUSE_S)
            try:
                connection.request("POST", self._path, body.data, self._headers)
                answer = connection.getresponse()
                said = answer.read()
            except ConnectionError as error:
                # As an exporter does: whoever hung up may be there again in a moment.
                connection.close()
                what = f"{type(error).__name__}: {error}"
            else:
                if answer.status < 300:
                    self._note(self._seconds() - began, tries)
                    return
                what = f"HTTP {answer.status}: {said[:200].decode('utf-8', 'replace')}"
                if answer.status not in RETRYABLE:
                    raise BenchError(what)
                wait = float(answer.headers.get("retry-after") or wait)
            if self._seconds() > until:
                raise BenchError(what)
            self._sleep(wait)
            tries += 1

    def _note(self, took: float, retries: int) -> None:
        with self._lock:
            self.times.append(took)
            self.retries += retries
