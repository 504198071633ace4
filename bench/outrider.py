"""Run Outrider: its journal, its rule scorers and its embedded store, all defaults."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import urlencode

from bench.failure import BenchError, UnavailableError
from bench.loopback import get
from bench.senders import Endpoint
from bench.server import Server, environment
from collector import serve_file
from collector.config import Config
from collector.config_file import PREFIX, addresses
from collector.version import __version__

ROOT = Path(__file__).parent.parent
_ANY_PORT = {
    f"{PREFIX}{key.upper().replace('.', '__')}": "127.0.0.1:0" for key in addresses(Config())
}
"""Whatever it listens on, on free ports."""
_NOTHING_LEFT = ("outrider_spans_in_flight", "outrider_open_episodes", "outrider_outbox_rows")
_STORED = "outrider_store_rows_total"
_PATH = "/metrics?" + urlencode([("name[]", name) for name in (*_NOTHING_LEFT, _STORED)])
"""What is asked again and again while it works: no more than the answer needs."""


def start(data: Path, directory: Path, settings: Mapping[str, str] = {}) -> Server:
    """Start ``outrider serve`` on free ports and with defaults but for the environment's settings."""
    return Server(
        [sys.executable, "-m", "collector.cli", "serve", "--data-dir", str(data)],
        directory=directory,
        env=environment(directory, {**_ANY_PORT, "PYTHONPATH": str(ROOT), **settings}),
    )


class Outrider:
    """Outrider as it stands in this tree."""

    name = "Outrider"

    def prepare(self) -> str:
        """Return the version; there is nothing to install."""
        return __version__

    def start(self, directory: Path) -> _Running:
        """Start ``outrider serve`` on free ports."""
        data = directory / "data"
        server = start(data, directory)
        try:
            server.wait_until(lambda: serve_file.read(data) is not None)
            instance = _Running(server, announced(data))
            server.wait_until(instance.ready)
        except UnavailableError:
            server.stop()
            raise
        return instance

    def stored(self, directory: Path) -> int:
        """Count the spans in the store, in a process of its own: one may open an engine once."""
        counted = subprocess.run(
            [sys.executable, "-m", "bench.stored", str(directory / "data")],
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=False,
        )
        if counted.returncode:
            raise BenchError(f"Outrider's store cannot be read: {counted.stderr[-300:]}")
        return int(counted.stdout)


class _Running:
    """One instance."""

    def __init__(self, server: Server, running: serve_file.Running) -> None:
        self._server = server
        self._metrics = _port(running.metrics)
        self._console = _port(running.console)
        self.endpoint = Endpoint(url=f"http://{running.otlp_http}/v1/traces")

    @property
    def pid(self) -> int:
        return self._server.pid

    def ready(self) -> bool:
        return get(self._console, "/readyz")[0] == 200

    def durable(self) -> int:
        """Return the stored spans once every episode is decided and stored, else 0."""
        series = samples(get(self._metrics, _PATH)[1])
        if any(series.get(name, 1.0) for name in _NOTHING_LEFT):
            return 0
        return int(series.get(f'{_STORED}{{table="otel_traces"}}', 0))

    def stop(self) -> None:
        self._server.stop()


def announced(data: Path) -> serve_file.Running:
    """Return where an instance answers; raises ``UnavailableError`` when it is gone."""
    running = serve_file.read(data)
    if running is None:
        raise UnavailableError("it announced itself and was gone")
    return running


def samples(text: str) -> dict[str, float]:
    """Read the Prometheus text format, without comments: value by series as written."""
    found: dict[str, float] = {}
    for line in text.splitlines():
        series, _, value = line.rpartition(" ")
        if series and not line.startswith("#"):
            found[series] = float(value)
    return found


def _port(address: str) -> int:
    return int(address.rpartition(":")[2])
