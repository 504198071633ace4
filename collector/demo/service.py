"""Run ``outrider serve`` as a child process for as long as the demonstration lasts."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from types import TracebackType
from typing import Self

import httpx

from collector import serve_file
from collector.address import parse_address
from collector.banner import base_url
from collector.config import Config
from collector.errors import OutriderError

READY_S = 60.0
"""Longest start that is waited for."""
STOP_S = 30.0
"""Time given to end in order; then the process is killed."""
HURRY_S = 3.0
"""The same where nobody wants the data."""
STARTS = 4
"""Starts that are tried: another process may take a port after it was found free."""
_PAUSE_S = 0.1
_TAIL = 2_000
_OURS = "OUTRIDER__"


class Service:
    """A child process with ports of its own where the usual ones are taken.

    It sees neither the configuration file nor the variables of whoever starts it: a
    demonstration must not end up in somebody's store.
    """

    def __init__(
        self,
        data_dir: Path,
        *,
        log: Path,
        environ: Mapping[str, str],
        stop_s: float = STOP_S,
        seconds: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        """Choose the ports; nothing is started.

        Args:
            data_dir: exists, and is empty.
            log: file for what the process says.
            environ: our own variables.
            stop_s: time given to end in order.
            seconds: monotonic clock.
            sleep: pause for seconds.
        """
        self._data_dir = data_dir
        self._log = log
        self._stop_s = stop_s
        self._seconds = seconds
        self._sleep = sleep
        usual = Config()
        self._wanted = {
            "RECEIVE__HTTP": usual.receive.http,
            "RECEIVE__GRPC": usual.receive.grpc,
            "CONSOLE__ADDRESS": usual.console.address,
            "TELEMETRY__METRICS": usual.telemetry.metrics,
        }
        self.taken = [address for address in self._wanted.values() if not _free(address)]
        """Usual addresses that somebody else has."""
        self._environ = {k: v for k, v in environ.items() if not k.startswith(_OURS)}
        self._process: subprocess.Popen[bytes] | None = None
        self.receiver = self.console = self.metrics = ""
        """Base URLs, known when it is ready."""

    def __enter__(self) -> Self:
        """Start it and wait until it is ready; with other ports when somebody was faster."""
        for left in reversed(range(STARTS)):
            try:
                self.start()
            except OutriderError:
                self.stop()
                if not left or not self._outrun():
                    raise
            except BaseException:
                self.stop()
                raise
            else:
                break
        return self

    def _outrun(self) -> bool:
        """Say whether it did not get a usual address, and note which."""
        said = self.last_words()
        lost = [a for a in self._wanted.values() if a not in self.taken and f"on {a}" in said]
        self.taken += lost
        return bool(lost)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Stop it."""
        self.stop()

    def start(self) -> None:
        """Start the process and wait until ``/readyz`` says so.

        Raises:
            OutriderError: it ended, or was not ready in time; with its last words.
        """
        config = self._log.with_name("empty.yaml")
        config.touch()
        arguments = ("serve", "--config", str(config), "--data-dir", str(self._data_dir))
        ports = {
            f"{_OURS}{key}": "127.0.0.1:0" if address in self.taken else address
            for key, address in self._wanted.items()
        }
        with self._log.open("wb") as log:
            self._process = subprocess.Popen(  # noqa: S603 - our own program
                [sys.executable, "-m", "collector.cli", *arguments],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=log,
                env=self._environ | ports,
                # An interrupt at the terminal is for us; we stop the child in order.
                start_new_session=True,
            )
        deadline = self._seconds() + READY_S
        with httpx.Client(timeout=5.0, trust_env=False) as client:
            while not self._ready(client):
                if not self.alive:
                    raise OutriderError(f"`outrider serve` ended: {self.last_words()}")
                if self._seconds() > deadline:
                    raise OutriderError(f"`outrider serve` is not ready: {self.last_words()}")
                self._sleep(_PAUSE_S)

    @property
    def alive(self) -> bool:
        """Whether the process runs."""
        return self._process is not None and self._process.poll() is None

    def last_words(self) -> str:
        """Return the end of what the process said."""
        said = self._log.read_text(encoding="utf-8", errors="replace") if self._log.exists() else ""
        return said[-_TAIL:].strip() or "it said nothing"

    def stop(self) -> None:
        """End the process in order, or by force when that takes too long."""
        process = self._process
        if process is None or process.poll() is not None:
            return
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(self._stop_s)
        except subprocess.TimeoutExpired:
            # Its session is its own, so that whatever it started goes with it.
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()

    def _ready(self, client: httpx.Client) -> bool:
        running = serve_file.read(self._data_dir)
        if running is None or self._process is None or running.pid != self._process.pid:
            return False
        self.receiver = base_url(running.otlp_http)
        self.console = base_url(running.console)
        self.metrics = base_url(running.metrics)
        try:
            return client.get(f"{self.console}/readyz").is_success
        except httpx.TransportError:
            return False


def environment() -> dict[str, str]:
    """Return this process's variables."""
    return dict(os.environ)


def _free(address: str) -> bool:
    where = parse_address(address)
    with socket.socket() as probe:
        # As the server itself does, so that a port that was just let go of counts as free.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((where.host, where.port))
        except OSError:
            return False
    return True
