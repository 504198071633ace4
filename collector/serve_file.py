"""Tell other commands where the running instance of a data directory answers."""

from __future__ import annotations

import os
import socket
from contextlib import suppress
from pathlib import Path

import msgspec

from collector.banner import base_url
from collector.config import Config
from collector.errors import ConfigError
from collector.version import __version__

NAME = "serve.json"
_ANSWER_S = 1.0


class Running(msgspec.Struct, frozen=True, kw_only=True):
    """A running instance."""

    pid: int
    console: str
    """``host:port`` of the console and API."""
    metrics: str = ""
    """``host:port`` of the Prometheus endpoint."""
    otlp_http: str = ""
    """``host:port`` of the OTLP/HTTP receiver."""
    otlp_grpc: str = ""
    """``host:port`` of the OTLP/gRPC receiver; empty when there is none."""
    proxy: str = ""
    """``host:port`` of the LLM proxy; empty when there is none."""
    started: str = ""
    """RFC 3339 time."""
    console_tls: bool = False
    """Whether the console speaks HTTPS."""
    version: str = ""
    """Its release."""

    @property
    def console_url(self) -> str:
        """Return where a client on this machine reaches the console."""
        return base_url(self.console, tls=self.console_tls)


def running(bound: Config, *, pid: int, started: str) -> Running:
    """Describe the instance whose addresses are those of ``bound``, as they were bound."""
    return Running(
        pid=pid,
        console=bound.console.address,
        metrics=bound.telemetry.metrics,
        otlp_http=bound.receive.http,
        otlp_grpc=bound.receive.grpc,
        proxy=bound.proxy.address,
        started=started,
        console_tls=bool(bound.console.tls.cert_file),
        version=__version__,
    )


def write(data_dir: Path, running: Running) -> None:
    """Announce an instance; readers never see half a file.

    Raises:
        ConfigError: the directory is not writable.
    """
    path = data_dir / NAME
    draft = path.with_suffix(".json.new")
    try:
        draft.write_bytes(msgspec.json.format(msgspec.json.encode(running), indent=2) + b"\n")
        draft.replace(path)
    except OSError as error:
        raise ConfigError(
            f"{data_dir}: is not writable ({error.strerror}); make it writable, or choose"
            " another --data-dir"
        ) from error


def read(data_dir: Path) -> Running | None:
    """Return the instance that runs on a data directory, or ``None``.

    A file left behind by a process that died counts as none: its process must live and its
    console must take a connection, since process ids are used again.
    """
    try:
        running = msgspec.json.decode((data_dir / NAME).read_bytes(), type=Running)
    except (OSError, msgspec.DecodeError):
        return None
    return running if _alive(running.pid) and _answers(running.console) else None


def remove(data_dir: Path, *, pid: int) -> None:
    """Take the announcement back, if it is this process's own."""
    path = data_dir / NAME
    with suppress(OSError, msgspec.DecodeError):
        if msgspec.json.decode(path.read_bytes(), type=Running).pid == pid:
            path.unlink()


def _alive(pid: int) -> bool:
    if pid <= 0:
        return False
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def _answers(address: str) -> bool:
    host, _, port = address.rpartition(":")
    if not port.isdecimal():
        return False
    # Bound to all interfaces means reachable on the loopback one.
    target = {"0.0.0.0": "127.0.0.1", "[::]": "::1", "": "127.0.0.1"}.get(host, host.strip("[]"))  # noqa: S104  # compared, not bound
    try:
        with socket.create_connection((target, int(port)), timeout=_ANSWER_S):
            return True
    except OSError:
        return False
