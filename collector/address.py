"""Read the ``host:port`` addresses and the URLs that a person writes."""

from __future__ import annotations

import ipaddress
from urllib.parse import urlsplit

import msgspec

MAX_PORT = 65535


class Address(msgspec.Struct, frozen=True, kw_only=True):
    """Where a server listens."""

    host: str
    """A name or an IP address, without brackets."""
    port: int
    """0 lets the system choose."""

    def __str__(self) -> str:
        """Write the address as the configuration has it."""
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


def parse_address(text: str) -> Address:
    """Split ``127.0.0.1:4318``, ``localhost:4318``, ``[::1]:4318`` or ``:4318`` (all interfaces).

    Raises:
        ValueError: the text is not an address; the message says what is missing.
    """
    host, colon, port = text.strip().rpartition(":")
    if not colon or not port.isascii() or not port.isdigit() or int(port) > MAX_PORT:
        raise ValueError(f"expected host:port such as 127.0.0.1:4318, got {text!r}")
    if host.startswith("[") and host.endswith("]"):
        host = host[1:-1]
    elif ":" in host:
        raise ValueError(f"write an IPv6 address in brackets, as in [::1]:{port}, got {text!r}")
    if "/" in host or " " in host:
        raise ValueError(f"expected host:port without a scheme or path, got {text!r}")
    return Address(host=host or "0.0.0.0", port=int(port))  # noqa: S104 - what an empty host means


def is_loopback(host: str) -> bool:
    """Tell whether only this machine can reach a host."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def is_http_url(text: str) -> bool:
    """Tell whether a text is ``http(s)://host``, with or without port and path."""
    try:
        parts = urlsplit(text)
        reachable = bool(parts.hostname) and parts.port != 0
    except ValueError:
        return False
    return reachable and parts.scheme in ("http", "https") and not any(map(str.isspace, text))
