"""Run `outrider serve` as a process of its own that can be killed and started again."""

from __future__ import annotations

import os
import random
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import httpx
import msgspec
from prometheus_client.parser import text_string_to_metric_families

from collector.replay_client import Report, Sendable, send
from collector.stores.export import What
from collector.totals import SeriesKey

ROOT = Path(__file__).parent.parent.parent
PATIENCE_S = 60.0
"""Nothing that a test waits for takes nearly as long; what does has failed."""
PAUSE_S = 0.05
_UNDER_WAY = ("spans_in_flight", "open_episodes", "outbox_rows")


def free_ports(count: int) -> list[int]:
    """Choose ports that nobody listens on, below those that the system gives to outgoing connections."""
    ports: list[int] = []
    draw = random.Random(os.getpid() * 1_000_003 + time.monotonic_ns())  # noqa: S311 - not a secret
    while len(ports) < count:
        port = draw.randrange(20_000, 32_000)
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
        if port not in ports:
            ports.append(port)
    return ports


def eventually(true: Callable[[], bool], what: str) -> None:
    """Wait until something holds; fail when it does not in any reasonable time."""
    deadline = time.monotonic() + PATIENCE_S
    while not true():
        assert time.monotonic() < deadline, f"never came about: {what}"
        time.sleep(PAUSE_S)


class Served:
    """One instance: a data directory and three ports, and the process that has them at a time."""

    def __init__(self, data_dir: Path, **settings: str) -> None:
        """Choose ports; ``settings`` are overrides such as ``STORE__URL="http://…"``."""
        self.data_dir = data_dir
        receive, console, metrics = (f"127.0.0.1:{port}" for port in free_ports(3))
        self.receive = f"http://{receive}"
        self.console = f"http://{console}"
        self.metrics = f"http://{metrics}"
        self.settings = {
            "RECEIVE__HTTP": receive,
            "RECEIVE__GRPC": "127.0.0.1:0",
            "CONSOLE__ADDRESS": console,
            "TELEMETRY__METRICS": metrics,
            "STORE__FLUSH_INTERVAL": "50ms",
            **settings,
        }
        self.client = httpx.Client(timeout=PATIENCE_S, trust_env=False)
        self.errors = data_dir.with_suffix(".stderr")
        self.process: subprocess.Popen[bytes] | None = None
        self.program = ("-m", "collector.cli", "serve")
        """What Python runs; a test may put a program of its own around the same thing."""

    def __enter__(self) -> Self:
        """Start it."""
        self.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Leave nothing behind; after a failure, say what the process said."""
        if self.process is not None:
            self.kill()
        self.client.close()
        if error is not None and self.errors.exists():
            sys.stderr.write(self.errors.read_text()[-4_000:])

    def launch(self) -> subprocess.Popen[bytes]:
        """Start a process, whatever becomes of it."""
        environ = {f"OUTRIDER__{key}": value for key, value in self.settings.items()}
        # Compiling is half of a start, and some environments keep no bytecode beside the source.
        environ["PYTHONDONTWRITEBYTECODE"] = ""
        environ["PYTHONPYCACHEPREFIX"] = str(self.data_dir.parent.parent / "bytecode")
        with self.errors.open("ab") as errors:
            return subprocess.Popen(
                [sys.executable, *self.program, "--data-dir", str(self.data_dir)],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=errors,
                cwd=ROOT,
                env={**os.environ, **environ},
            )

    def refusal(self) -> str:
        """Start a process that must not run, and return the one line that it says."""
        self.client.close()
        self.errors = self.errors.with_suffix(".refusal")
        assert self.launch().wait(PATIENCE_S) == 2
        (line,) = self.errors.read_text().splitlines()
        return line

    def start(self) -> float:
        """Start the process, wait until it receives, and return how long that took, in seconds."""
        began = time.monotonic()
        self.process = process = self.launch()

        def receives() -> bool:
            assert process.poll() is None, self.errors.read_text()[-4_000:]
            return self.receives()

        eventually(receives, "the process receives")
        return time.monotonic() - began

    def kill(self) -> None:
        """End it as a crash does."""
        assert self.process is not None
        self.process.kill()
        self.process.wait()
        self.process = None

    def signal(self, number: signal.Signals = signal.SIGTERM) -> None:
        """Tell it to stop."""
        assert self.process is not None
        self.process.send_signal(number)

    def ended(self) -> int:
        """Wait for it to end and return its exit code."""
        assert self.process is not None
        code = self.process.wait(PATIENCE_S)
        self.process = None
        return code

    # --- what it says

    def receives(self) -> bool:
        """Say whether the receiver takes connections."""
        with socket.socket() as probe:
            return probe.connect_ex(("127.0.0.1", int(self.receive.rpartition(":")[2]))) == 0

    def ready(self) -> tuple[int, list[str]]:
        """Return the status and the problems that /readyz tells."""
        answer = self.client.get(f"{self.console}/readyz")
        return answer.status_code, answer.json()["problems"]

    def export(self, what: What) -> list[dict[str, Any]]:
        """Export from the running process."""
        answer = self.client.get(f"{self.console}/v1/export/{what}")
        assert answer.status_code == 200, answer.text
        return [msgspec.json.decode(line) for line in answer.content.splitlines()]

    def series(self) -> dict[SeriesKey, float]:
        """Scrape /metrics once: values by sample name without our prefix, and labels."""
        return parsed(self.client.get(f"{self.metrics}/metrics").text)

    def value(self, name: str, **labels: str) -> float:
        """Sum what one scrape says over the series that carry these labels."""
        return summed(self.series(), name, **labels)

    def settled(self, episodes: int) -> dict[SeriesKey, float]:
        """Wait until so many episodes are decided and stored; return the scrape that shows it."""
        deadline = time.monotonic() + PATIENCE_S
        while True:
            series = self.series()
            found = summed(series, "episodes_total")
            # None of them is told before it is known, right after a start.
            waiting = [series.get((name, ())) for name in _UNDER_WAY]
            if found >= episodes and waiting == [0, 0, 0]:
                return series
            assert time.monotonic() < deadline, f"{found} episodes, {waiting} waiting"
            time.sleep(PAUSE_S)


def parsed(text: str) -> dict[SeriesKey, float]:
    """Read a scrape."""
    return {
        (sample.name.removeprefix("outrider_"), tuple(sorted(sample.labels.items()))): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


def summed(series: dict[SeriesKey, float], name: str, **labels: str) -> float:
    """Sum a scrape over the series that carry these labels."""
    return sum(
        value
        for (found, pairs), value in series.items()
        if found == name and labels.items() <= dict(pairs).items()
    )


class Scraping(threading.Thread):
    """Scrape all along and note every counter that ever fell."""

    def __init__(self, served: Served) -> None:
        super().__init__(name="scraping", daemon=True)
        self._url = f"{served.metrics}/metrics"
        self._over = threading.Event()
        self._last: dict[SeriesKey, float] = {}
        self.scrapes = 0
        self.fell: list[tuple[SeriesKey, float, float]] = []

    def run(self) -> None:
        """Go on until told that it is over; nobody answers while the process is down."""
        with httpx.Client(timeout=PATIENCE_S, trust_env=False) as client:
            while not self._over.wait(2 * PAUSE_S):
                try:
                    self._look(parsed(client.get(self._url).text))
                except httpx.TransportError:
                    continue

    def _look(self, series: dict[SeriesKey, float]) -> None:
        self.scrapes += 1
        for key, value in self._last.items():
            if series.get(key, 0.0) < value:
                self.fell.append((key, value, series.get(key, 0.0)))
        self._last.update({key: value for key, value in series.items() if never_falls(key[0])})

    def finish(self) -> None:
        """Stop, and hold that no counter ever fell."""
        self._over.set()
        self.join()
        assert self.scrapes > 0
        assert self.fell == []


def never_falls(name: str) -> bool:
    """Say whether a sample belongs to a counter or a histogram."""
    return name.endswith(("_total", "_bucket", "_count", "_sum"))


class Sending(threading.Thread):
    """Send requests as an exporter does, trying again for as long as nobody answers."""

    def __init__(
        self, served: Served, requests: Sequence[Sendable], *, pause_s: float = 0.0
    ) -> None:
        super().__init__(name="sending", daemon=True)
        self._url = served.receive
        self._requests = requests
        self._pause_s = pause_s
        self.report = Report()
        self.pauses: list[float] = []

    def run(self) -> None:
        """Send everything."""
        with httpx.Client(timeout=PATIENCE_S, trust_env=False) as client:
            send(
                self._spaced(),
                url=self._url,
                client=client,
                on_progress=self._note,
                sleep=self._sleep,
            )

    @property
    def acknowledged(self) -> int:
        """How many requests have been acknowledged."""
        return self.report.requests

    def _spaced(self) -> Iterable[Sendable]:
        for request in self._requests:
            yield request
            time.sleep(self._pause_s)

    def _note(self, report: Report) -> None:
        self.report = report

    def _sleep(self, seconds: float) -> None:
        self.pauses.append(seconds)
        time.sleep(min(seconds, 0.1))

    def wait_for(self, acknowledged: int) -> None:
        """Wait until so many requests are acknowledged."""
        eventually(lambda: self.acknowledged >= acknowledged, f"{acknowledged} acknowledged")

    def finish(self) -> None:
        """Wait for the end, and hold that everything was acknowledged."""
        self.join(PATIENCE_S)
        assert not self.is_alive()
        assert not self.report.stopped, self.report.problem
        assert self.acknowledged == len(self._requests)
        assert self.report.rejected_spans == self.report.refused_requests == 0
