"""Write the heads that go on to the other side: as they came, save what belongs to one connection.

Lines keep their spelling and order. Left out are the hop-by-hop headers (RFC 9110, 7.6.1) and our
own; ``Transfer-Encoding`` stays, because bodies go on with their frames.
"""

from __future__ import annotations

from collector.proxy.http_head import Field, RequestHead, ResponseHead, first, words
from collector.proxy.upstream import Route

OWN = "x-outrider-"
"""What begins so is said to us and to nobody else."""
TOKEN = f"{OWN}token"
_FRAMES = frozenset({"transfer-encoding", "content-length", "trailer", "host"})
"""Never left out, whatever ``Connection`` names."""
_HOP = frozenset({"connection", "keep-alive", "proxy-connection", "proxy-authorization", "te"})


def upgrades(head: RequestHead) -> bool:
    """Tell whether the client asks to speak WebSocket."""
    return "websocket" in words(head.fields, "upgrade") and "upgrade" in words(
        head.fields, "connection"
    )


def keeps_alive(minor: int, fields: tuple[Field, ...]) -> bool:
    """Tell whether the sender of a head means to use its connection again."""
    return bool(minor) and "close" not in words(fields, "connection")


def to_upstream(head: RequestHead, route: Route) -> bytes:
    """Write a request's head for its upstream."""
    lines = [f"{head.method} {route.target} HTTP/1.{head.minor}".encode("latin-1")]
    upgrading = upgrades(head)
    left_out = _left_out(head.fields) - ({"upgrade"} if upgrading else set())
    hosted = False
    for field in head.fields:
        if field.name == "host":
            lines.append(field.line[:4] + f": {route.upstream.authority}".encode())
            hosted = True
        elif field.name not in left_out and not field.name.startswith(OWN):
            lines.append(field.line)
    if not hosted:
        lines.append(f"Host: {route.upstream.authority}".encode())
    if upgrading:
        lines.append(b"Connection: Upgrade")
    elif not keeps_alive(head.minor, head.fields):
        lines.append(b"Connection: close")
    return b"\r\n".join(lines) + b"\r\n\r\n"


def to_client(head: ResponseHead, *, close: bool) -> bytes:
    """Write a response's head for the client; ``close`` says that its connection will end."""
    switched = head.status == 101
    left_out = set() if switched else _left_out(head.fields)
    lines = [head.line, *(f.line for f in head.fields if f.name not in left_out)]
    if close and not switched and head.status >= 200:
        lines.append(b"Connection: close")
    return b"\r\n".join(lines) + b"\r\n\r\n"


def credential(head: RequestHead) -> str:
    """Return the provider's key that a request shows, however it shows it; empty for none."""
    shown = first(head.fields, "x-api-key") or first(head.fields, "authorization")
    scheme, _, key = shown.partition(" ")
    return key.strip() if scheme.lower() == "bearer" else shown


def _left_out(fields: tuple[Field, ...]) -> set[str]:
    named = {word for word in words(fields, "connection") if word not in _FRAMES}
    return {*_HOP, "upgrade", *named}
