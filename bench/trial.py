"""Measure one instance of a system on one load after another."""

from __future__ import annotations

import os
import shutil
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import msgspec

from bench.failure import BenchError
from bench.figures import quantile
from bench.load import Load
from bench.senders import Sent, send
from bench.system import System
from bench.usage import cpu_seconds, disk_bytes, forget_peak, peak_bytes

DURABLE_S = 300.0
"""How long a system may take after the last acknowledgement."""
_POLL_S = 0.1
WARM_UP_SENDERS = 8
"""More connections than are measured on, so that every worker process has its first request."""


class Trial(msgspec.Struct, frozen=True, kw_only=True):
    """What one run came to."""

    system: str
    load: str
    spans: int
    size: int
    """Bytes of all bodies."""
    acknowledged_s: float
    """From the first byte sent to the last acknowledgement."""
    durable_s: float
    """From the first byte sent until every span was durable and all work on it done."""
    cpu_s: float
    """CPU time of all its processes meanwhile."""
    peak_bytes: int
    """Peak resident memory meanwhile, summed over its processes."""
    disk_bytes: int
    """All its files afterwards, those of the warm-up and of the load before included."""
    ack_p50_s: float
    ack_p99_s: float
    retries: int
    """Requests that it turned away for a while and that were sent again."""
    load_average: float
    """Of the machine, one minute, before it started."""


class Session:
    """One instance on an empty directory, warmed up, on which loads are measured in turn."""

    def __init__(
        self,
        system: System,
        warm_up: Load,
        *,
        senders: int,
        scratch: Path,
        seconds: Callable[[], float] = time.perf_counter,
    ) -> None:
        """Start it and warm it up.

        Raises:
            UnavailableError: it does not start.
            BenchError: it does not take the warm-up.
        """
        self._system = system
        self._senders = senders
        self._seconds = seconds
        self._directory = Path(tempfile.mkdtemp(prefix=f"{system.name.lower()}-", dir=scratch))
        self._running = system.start(self._directory)
        self._spans = 0
        try:
            self._deliver(warm_up, senders=WARM_UP_SENDERS)
        except BaseException:
            self._running.stop()
            raise

    def measure(self, load: Load) -> Trial:
        """Send a load and wait until it is done.

        Raises:
            BenchError: it refuses a request, or takes too long.
        """
        load_average = os.getloadavg()[0]
        forget_peak(self._running.pid)
        cpu_before = cpu_seconds(self._running.pid)
        began = self._seconds()
        sent = self._deliver(load, senders=self._senders)
        durable_s = self._seconds() - began
        return Trial(
            system=self._system.name,
            load=load.name,
            spans=load.spans,
            size=load.size,
            acknowledged_s=sent.seconds,
            durable_s=durable_s,
            cpu_s=cpu_seconds(self._running.pid) - cpu_before,
            peak_bytes=peak_bytes(self._running.pid),
            disk_bytes=disk_bytes(self._directory),
            ack_p50_s=quantile(sent.acknowledged_s, 0.5),
            ack_p99_s=quantile(sent.acknowledged_s, 0.99),
            retries=sent.retries,
            load_average=load_average,
        )

    def close(self) -> None:
        """Stop it and hold that its database has every span.

        Raises:
            BenchError: spans are missing, or there are too many.
        """
        self._running.stop()
        stored = self._system.stored(self._directory)
        if stored != self._spans:
            raise BenchError(f"{stored} spans are stored, {self._spans} were acknowledged")
        shutil.rmtree(self._directory)

    def abandon(self) -> None:
        """Stop it after it failed."""
        self._running.stop()

    def _deliver(self, load: Load, *, senders: int) -> Sent:
        sent = send(load.bodies, self._running.endpoint, senders=senders)
        self._spans += load.spans
        until = self._seconds() + DURABLE_S
        while (found := self._running.durable()) < self._spans:
            if self._seconds() > until:
                raise BenchError(f"{found} of {self._spans} spans after {DURABLE_S:.0f} s")
            time.sleep(_POLL_S)
        return sent
