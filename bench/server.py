"""Start a server as a process of its own, wait until it answers, and stop it."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from bench.failure import UnavailableError

START_S = 240.0
STOP_S = 30.0
_POLL_S = 0.1
_SHOWN = 200
"""Characters of a log's end that an error repeats."""


def free_port() -> int:
    """Return a loopback port that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def environment(home: Path, more: Mapping[str, str]) -> dict[str, str]:
    """Return a small environment, so that nobody's settings reach a server."""
    return {
        "PATH": os.environ.get("PATH", ""),
        "HOME": str(home),
        "LANG": "C.UTF-8",
        **more,
    }


class Server:
    """One server process, the first of its own group."""

    def __init__(self, command: Sequence[str], *, directory: Path, env: Mapping[str, str]) -> None:
        self._log = directory / "server.log"
        with self._log.open("wb") as log:
            self._process = subprocess.Popen(
                command,
                cwd=directory,
                env=dict(env),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )

    @property
    def pid(self) -> int:
        """Id of the first process."""
        return self._process.pid

    def wait_until(self, ready: Callable[[], bool], *, timeout_s: float = START_S) -> None:
        """Wait until it is ready.

        Raises:
            UnavailableError: it ended or took too long; the text has the end of its log.
        """
        until = time.monotonic() + timeout_s
        while not ready():
            if self._process.poll() is not None:
                raise UnavailableError(f"it ended with {self._process.returncode}: {self.said()}")
            if time.monotonic() > until:
                raise UnavailableError(f"it was not ready after {timeout_s:.0f} s: {self.said()}")
            time.sleep(_POLL_S)

    def said(self) -> str:
        """Return the end of its log."""
        return self._log.read_text(encoding="utf-8", errors="replace")[-_SHOWN:]

    def stop(self) -> None:
        """Ask it to stop, wait, then end what is left of its group."""
        if self._process.poll() is None:
            self._process.send_signal(signal.SIGTERM)
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(STOP_S)
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
