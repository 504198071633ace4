"""Tell browsers, on every answer of every port, to make nothing of it that it is not."""

from __future__ import annotations

from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

HEADERS = {
    "content-security-policy": "default-src 'none'; frame-ancestors 'none'; base-uri 'none'",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
}
"""What an answer has unless it says otherwise; pages of the console allow their own scripts.

Without any referrer a browser would send ``Origin: null`` with our own forms as well.
"""


class AnswerHeaders:
    """Put the headers on whatever an application answers, its errors included."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request, or the start and stop of the application."""

        async def put(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        await self._app(scope, receive, put)


def as_lines() -> bytes:
    """Write them as they stand in an answer that no application makes."""
    return "".join(f"{name}: {value}\r\n" for name, value in HEADERS.items()).encode()
