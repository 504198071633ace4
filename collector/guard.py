"""Stand before an application and let through who may call."""

from __future__ import annotations

from collections.abc import Callable, Collection
from urllib.parse import quote

import msgspec
from starlette.exceptions import HTTPException
from starlette.requests import HTTPConnection, Request
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from collector.callers import Callers, Refusal, Shown
from collector.tokens import Grant, Right

COOKIE = "outrider_session"
SECURE_COOKIE = f"__Host-{COOKIE}"
"""Its name over TLS: a browser then takes it from this host alone."""
LOGIN = "/login"
_KEY = "outrider.grant"
_READING = frozenset({"GET", "HEAD", "OPTIONS"})


class Guard:
    """Turn away those who may not call, before anything else is done."""

    def __init__(
        self,
        app: ASGIApp,
        callers: Callers,
        *,
        open_paths: Collection[str] = (),
        open_below: str = "",
        login: bool = False,
        refused: Callable[[str], None] = lambda _: None,
        of_all_tenants: str = "",
    ) -> None:
        """Stand before an application.

        Args:
            app: What answers those who may call.
            callers: Says who may.
            open_paths: Answered to anybody.
            open_below: What paths begin with that are answered to anybody too; empty for none.
            login: Whether a browser that shows nothing is sent to the form where it can log in.
            refused: Told the reason of each refusal.
            of_all_tenants: What the port has, where no caller of a single tenant may see it.
        """
        self._app = app
        self._callers = callers
        self._open_paths = frozenset(open_paths)
        self._open_below = open_below
        self._login = login
        self._refused = refused
        self._of_all_tenants = of_all_tenants

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request, or the start and stop of the application."""
        if scope["type"] == "http" and not self._is_open(scope["path"]):
            judged = self._judge(Request(scope))
            if isinstance(judged, Refusal):
                self._refused("unauthenticated" if judged.status == 401 else "forbidden")
                await self._answer(judged, Request(scope))(scope, receive, send)
                return
            scope[_KEY] = judged
        await self._app(scope, receive, send)

    def _is_open(self, path: str) -> bool:
        return path in self._open_paths or (
            bool(self._open_below) and path.startswith(self._open_below)
        )

    def _judge(self, request: Request) -> Grant | Refusal:
        judged = self._callers.judge(shown_by(request), right=right_for(request.method))
        if isinstance(judged, Grant) and judged.tenant and self._of_all_tenants:
            return Refusal(
                status=403,
                message=f"{self._of_all_tenants} are of all tenants, and this token is of one",
            )
        return judged

    def _answer(self, refusal: Refusal, request: Request) -> Response:
        headers = {"cache-control": "no-store"}
        if refusal.status == 401:
            if self._login and request.method == "GET" and _is_browser(request):
                to = quote(_wanted(request), safe="")
                return Response(
                    status_code=303, headers={**headers, "location": f"{LOGIN}?to={to}"}
                )
            headers["www-authenticate"] = "Bearer"
        return Response(
            msgspec.json.encode({"error": refusal.message}),
            refusal.status,
            headers,
            media_type="application/json",
        )


def grant_of(request: HTTPConnection) -> Grant:
    """Return who calls, as the guard before the application found."""
    grant: Grant = request.scope[_KEY]
    return grant


def spoken_for(grant: Grant, named: str) -> str:
    """Return the tenant that a caller's words are about, where it names one or none.

    Raises:
        HTTPException: it names another than its own.
    """
    if grant.tenant and named not in {"", grant.tenant}:
        raise HTTPException(403, f"the token {grant.name} speaks for another tenant than {named!r}")
    return grant.tenant or named


def right_for(method: str) -> Right:
    """Return the right that a method needs."""
    return "read" if method in _READING else "write"


def shown_by(request: Request) -> Shown:
    """Read what a request shows of its caller."""
    headers = request.headers
    return Shown(
        host=headers.get("host", ""),
        origin=headers.get("origin", ""),
        authorization=headers.get("authorization", ""),
        session=request.cookies.get(cookie_name(request), ""),
        site=headers.get("sec-fetch-site", ""),
    )


def cookie_name(request: Request) -> str:
    """Return the name of the session's cookie, as this connection has it."""
    return SECURE_COOKIE if request.url.scheme == "https" else COOKIE


def _wanted(request: Request) -> str:
    query = request.scope["query_string"].decode("latin-1")
    path = quote(request.scope["path"], safe="/")
    return f"{path}?{query}" if query else path


def _is_browser(request: Request) -> bool:
    return "text/html" in request.headers.get("accept", "")
