"""Ask a server on loopback over HTTP."""

from __future__ import annotations

import http.client
import socket


def get(port: int, path: str, *, timeout_s: float = 5.0) -> tuple[int, str]:
    """Return status and text of a page; status 0 when nobody answers."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=timeout_s)
    try:
        connection.request("GET", path)
        answer = connection.getresponse()
        return answer.status, answer.read().decode("utf-8", "replace")
    except (OSError, http.client.HTTPException):
        return 0, ""
    finally:
        connection.close()


def accepts(port: int, *, timeout_s: float = 1.0) -> bool:
    """Tell whether somebody takes connections."""
    try:
        socket.create_connection(("127.0.0.1", port), timeout=timeout_s).close()
    except OSError:
        return False
    return True
