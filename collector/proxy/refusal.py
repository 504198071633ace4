"""Write the answers that are the proxy's own, in a shape that both providers' clients read."""

from __future__ import annotations

import msgspec

from collector.answer_headers import as_lines

_REASONS = {
    400: "Bad Request",
    401: "Unauthorized",
    403: "Forbidden",
    408: "Request Timeout",
    431: "Request Header Fields Too Large",
    502: "Bad Gateway",
    503: "Service Unavailable",
}


def refusal(status: int, message: str) -> bytes:
    """Write a whole response that ends its connection; ``x-outrider-error`` says whose it is."""
    body = msgspec.json.encode(
        {"type": "error", "error": {"type": "proxy_error", "message": f"Outrider: {message}"}}
    )
    head = (
        f"HTTP/1.1 {status} {_REASONS[status]}\r\n"
        "content-type: application/json\r\n"
        f"content-length: {len(body)}\r\n"
        "x-outrider-error: true\r\n"
        "connection: close\r\n"
    )
    return head.encode() + as_lines() + b"\r\n" + body
