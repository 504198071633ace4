"""Let a person log in to the console with a token, and out again."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias
from urllib.parse import parse_qs

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from collector.callers import own_page
from collector.errors import MalformedError
from collector.guard import LOGIN, cookie_name, shown_by
from collector.receivers.intake import Intake, read_body
from collector.sessions import Sessions

_BODY_BYTES = 16 * 1024
_FIELDS = 8
"""Most fields of a form that are read."""
Form: TypeAlias = Callable[[int, str, str], Response]
"""Shows the form: the HTTP status, where to go on to afterwards, and what was wrong; empty for nothing."""
_WRONG = "That is no token that may read here."


class Login:
    """Answer the form, what it sends, and the button that ends a session."""

    def __init__(
        self,
        form: Form,
        sessions: Sessions,
        *,
        asks: bool,
        refused: Callable[[str], None] = lambda _: None,
    ) -> None:
        """Keep what is needed.

        Args:
            form: Renders the form.
            sessions: Gives a session for a token.
            asks: Whether the console asks for a token at all.
            refused: Told the reason of each refusal.
        """
        self._form = form
        self._sessions = sessions
        self._asks = asks
        self._refused = refused

    def routes(self) -> list[Route]:
        """Return the routes, for ``collector.api.api``."""
        return [
            Route(LOGIN, self.form, methods=["GET"]),
            Route(LOGIN, self.log_in, methods=["POST"]),
            Route("/logout", self.log_out, methods=["POST"]),
        ]

    async def form(self, request: Request) -> Response:
        """Show the form."""
        to = own_path(request.query_params.get("to", ""))
        if not self._asks:
            return _onward(to)
        return self._form(200, to, "")

    async def log_in(self, request: Request) -> Response:
        """Give a session for a token that may read."""
        self._check_page(request)
        with Intake(_BODY_BYTES).allowance() as allowance:
            body = await read_body(request, limit=_BODY_BYTES, allowance=allowance)
        fields = _fields(body)
        to = own_path(fields.get("to", ""))
        if not self._asks:
            return _onward(to)
        session = self._sessions.open(fields.get("token", ""))
        if not session:
            self._refused("unauthenticated")
            return self._form(403, to, _WRONG)
        answer = _onward(to)
        self._set(answer, request, session, seconds=int(self._sessions.lifetime_s))
        return answer

    async def log_out(self, request: Request) -> Response:
        """End the session."""
        self._check_page(request)
        self._sessions.close(request.cookies.get(cookie_name(request), ""))
        answer = _onward(LOGIN)
        self._set(answer, request, "", seconds=0)
        return answer

    def _check_page(self, request: Request) -> None:
        if not own_page(shown_by(request), "write"):
            self._refused("forbidden")
            raise HTTPException(403, "pages of other origins may not call")

    def _set(self, answer: Response, request: Request, session: str, *, seconds: int) -> None:
        answer.set_cookie(
            cookie_name(request),
            session,
            max_age=seconds,
            path="/",
            httponly=True,
            samesite="strict",
            secure=request.url.scheme == "https",
        )


def own_path(to: str) -> str:
    """Return a path of this port to go on to; the first page for whatever could lead elsewhere."""
    # A browser reads a backslash as a slash, and leaves line breaks and tabs out.
    safe = to.startswith("/") and not to.startswith(("//", "/\\")) and to.isprintable()
    return to if safe and to.isascii() and "\\" not in to else "/"


def _onward(to: str) -> Response:
    return Response(status_code=303, headers={"location": to})


def _fields(body: bytes) -> dict[str, str]:
    try:
        found = parse_qs(body.decode(), max_num_fields=_FIELDS)
    except ValueError:
        raise MalformedError("expected the fields of a form") from None
    return {name: values[-1] for name, values in found.items()}
