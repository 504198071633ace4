"""Write answers that a browser can be trusted with, whatever is in them."""

from __future__ import annotations

from typing import Any

import msgspec
from starlette.responses import Response

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:;"
    " connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
"""Scripts and styles come from this port alone, and none stands in a page."""

HEADERS = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
}


def html_answer(text: str, status: int = 200) -> Response:
    """Answer with a page."""
    return Response(text, status, HEADERS, media_type="text/html")


def json_answer(value: Any, status: int = 200) -> Response:
    """Answer with JSON."""
    return Response(msgspec.json.encode(value), status, HEADERS, media_type="application/json")


def redirection(path: str) -> Response:
    """Send whoever asks to another address of this port."""
    return Response(status_code=307, headers={**HEADERS, "location": path})


def data_block(value: Any) -> str:
    """Write JSON that may stand inside a ``<script type="application/json">``.

    Nothing in it can end the element or begin a comment.
    """
    text = msgspec.json.encode(value).decode()
    return text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")
