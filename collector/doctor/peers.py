"""Check that what we send to, or read from, can be reached; nothing is sent."""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterable, Iterator
from urllib.parse import urlsplit

from collector.doctor.finding import Finding, fail, ok

_WAIT_S = 5.0
Connect = Callable[[str, int], None]
"""Open and close a TCP connection, or raise ``OSError``."""


def connect(host: str, port: int) -> None:
    """Open and close a TCP connection."""
    socket.create_connection((host, port), timeout=_WAIT_S).close()


def peers(urls: Iterable[tuple[str, str]], *, connect: Connect = connect) -> Iterator[Finding]:
    """Try each URL's host and port.

    Args:
        urls: Configuration keys and where they lead; only scheme, host and port are shown, since
            the rest may be a secret.
        connect: How to reach one.
    """
    for key, url in urls:
        parts = urlsplit(url)
        port = parts.port or {"http": 80, "https": 443, "kafka": 9092}[parts.scheme]
        shown = f"{parts.scheme}://{parts.hostname}:{port}"
        try:
            connect(parts.hostname or "", port)
        except OSError as error:
            yield fail(
                key,
                f"{shown} cannot be reached: {error.strerror or error}",
                f"start it, or correct {key}",
            )
        else:
            yield ok(key, f"{shown} takes connections")
