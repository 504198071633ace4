"""Serve the port a person or a script talks to: health, ends of conversations, exports.

The console's pages are routes that are handed in.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Iterator, Sequence
from typing import Any

import msgspec
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from collector.callers import Callers
from collector.errors import MalformedError, PermanentError, RetryableError
from collector.guard import LOGIN, Guard, grant_of, spoken_for
from collector.journal_records import ConversationEnd
from collector.lines import Lines, LinesResponse
from collector.openapi import Problem
from collector.receivers.intake import Intake, read_body
from collector.version import __version__

EXPORTS = ("conversations", "scores", "decisions", "observations", "outcomes", "labels")

OPEN_PATHS = frozenset({"/healthz", "/readyz"})
"""Answered to anybody: probes have no token, and the answers hold no content."""
LOGIN_PATHS = frozenset({LOGIN, "/logout"})
"""Where a browser gets and gives back its session; they look for themselves whose page asks."""
FILES = "/static/"
"""Below it lie the console's scripts and styles, which the form to log in has too."""

END_BODY_BYTES = 64 * 1024
"""Largest body of an end."""

ID_CHARACTERS = 1024
"""Longest conversation id."""

Problems = Callable[[], Sequence[str]]
"""What keeps the process from being ready, one sentence each; empty when nothing does."""
End = Callable[[ConversationEnd], Awaitable[None]]
"""Journals the end of a conversation; returns once it is durable."""
ErrorPage = Callable[[int, str], Response]
"""Says to a person what went wrong: the HTTP status and one sentence."""
Export = Callable[[str, str], Iterator[bytes]]
"""Gives one of ``EXPORTS``, of one tenant or (empty) of all: a JSON document a line, without the
newline. Runs in a thread."""


class EndOf(msgspec.Struct, frozen=True, kw_only=True):
    """Who is meant, when one id is used by several; all optional."""

    tenant: str = ""
    environment: str = ""
    variant: str = ""


class Index(msgspec.Struct, frozen=True, kw_only=True):
    """What is here."""

    name: str = "outrider"
    version: str = __version__
    paths: list[str]


class Alive(msgspec.Struct, frozen=True, kw_only=True):
    """That the process is alive."""

    alive: bool = True


class Ready(msgspec.Struct, frozen=True, kw_only=True):
    """Whether everything works."""

    ready: bool
    problems: list[str]
    """One sentence each."""


class Ended(msgspec.Struct, frozen=True, kw_only=True):
    """That note was taken of an end."""

    conversation_id: str
    accepted: bool = True


class _Api:
    """Answer the routes."""

    def __init__(
        self,
        *,
        problems: Problems,
        end: End,
        export: Export,
        paths: Sequence[str],
        error_page: ErrorPage | None,
    ) -> None:
        self._problems = problems
        self._end = end
        self._export = export
        self._paths = paths
        self._error_page = error_page

    async def index(self, _request: Request) -> Response:
        """Say what is here."""
        return _json(200, Index(paths=sorted(self._paths)))

    async def healthz(self, _request: Request) -> Response:
        """Say that the process is alive."""
        return _json(200, Alive())

    async def readyz(self, _request: Request) -> Response:
        """Say whether everything works, and what does not."""
        problems = list(self._problems())
        return _json(503 if problems else 200, Ready(ready=not problems, problems=problems))

    async def end(self, request: Request) -> Response:
        """Take note, durably, that a conversation is over."""
        id = request.path_params["id"]  # noqa: A001  # the name in the path
        if not id or len(id) > ID_CHARACTERS:
            raise MalformedError(f"a conversation id has 1 to {ID_CHARACTERS} characters")
        with Intake(END_BODY_BYTES).allowance() as allowance:
            body = await read_body(request, limit=END_BODY_BYTES, allowance=allowance)
        try:
            who = msgspec.json.decode(body or b"{}", type=EndOf)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise MalformedError(
                f"the body must be JSON with tenant, environment or variant: {error}"
            ) from None
        tenant = spoken_for(grant_of(request), who.tenant)
        await self._end(
            ConversationEnd(
                conversation_id=id,
                tenant=tenant,
                environment=who.environment,
                variant=who.variant,
            )
        )
        return _json(202, Ended(conversation_id=id))

    async def export(self, request: Request) -> Response:
        """Stream a table as JSON lines."""
        kind = request.path_params["kind"]
        if kind not in EXPORTS:
            raise HTTPException(404, f"there is no export {kind!r}; try {', '.join(EXPORTS)}")
        lines = Lines(_started(self._export, kind, grant_of(request).tenant))
        try:
            # Before the status is sent, so that a store that is down is said to be.
            first = await lines.chunk()
        except BaseException:
            lines.stop()
            raise
        return LinesResponse(lines, first)

    async def on_http(self, request: Request, error: Exception) -> Response:
        """Answer 404 and 405."""
        if not isinstance(error, HTTPException):
            raise error
        return self._error(request, error.status_code, error.detail, dict(error.headers or {}))

    async def on_permanent(self, request: Request, error: Exception) -> Response:
        """Answer what the caller got wrong."""
        return self._error(request, 400, str(error))

    async def on_retryable(self, request: Request, error: Exception) -> Response:
        """Answer what may work later."""
        wait = error.retry_after_s if isinstance(error, RetryableError) else 1.0
        return self._error(request, 503, str(error), {"retry-after": str(max(1, round(wait)))})

    async def on_disconnect(self, request: Request, _exception: Exception) -> Response:
        """Answer nobody: the caller left in the middle of its body."""
        return self._error(request, 400, "the caller left")

    async def on_unexpected(self, request: Request, error: Exception) -> Response:
        """Answer for a bug of ours; the server logs it."""
        return self._error(request, 500, f"an unexpected {type(error).__name__}; see the log")

    def _error(
        self, request: Request, status: int, message: str, headers: dict[str, str] | None = None
    ) -> Response:
        path = request.url.path
        if self._error_page is None or path in OPEN_PATHS or path.startswith("/v1"):
            return _json(status, Problem(error=message), headers)
        page = self._error_page(status, message)
        page.headers.update(headers or {})
        return page


def api(
    *,
    problems: Problems,
    end: End,
    export: Export,
    callers: Callers,
    routes: Sequence[BaseRoute] = (),
    error_page: ErrorPage | None = None,
    refused: Callable[[str], None] = lambda _: None,
) -> Starlette:
    """Build the application for the console and API port.

    Args:
        problems: Says what keeps the process from being ready.
        end: Journals the end of a conversation.
        export: Gives the lines of an export.
        callers: Says who may call.
        routes: What else is served, such as the console's pages.
        error_page: Tells a person of errors outside ``/v1``; without it they are JSON too.
        refused: Told the reason of each request that is turned away.
    """
    served = _Api(
        problems=problems,
        end=end,
        export=export,
        paths=[
            *sorted(OPEN_PATHS),
            "/v1/conversations/{id}/end",
            *(f"/v1/export/{kind}" for kind in EXPORTS),
            *(route.path_format for route in routes if isinstance(route, Route)),
        ],
        error_page=error_page,
    )
    handlers: dict[Any, Any] = {
        HTTPException: served.on_http,
        PermanentError: served.on_permanent,
        RetryableError: served.on_retryable,
        ClientDisconnect: served.on_disconnect,
        Exception: served.on_unexpected,
    }
    ending = Route("/v1/conversations/{id:path}/end", served.end, methods=["POST"])
    # An id may hold line breaks, which a pattern's dot leaves out.
    ending.path_regex = re.compile(ending.path_regex.pattern, re.DOTALL)
    app = Starlette(
        routes=[
            Route("/v1", served.index),
            Route("/healthz", served.healthz),
            Route("/readyz", served.readyz),
            ending,
            Route("/v1/export/{kind}", served.export),
            *routes,
        ],
        exception_handlers=handlers,
    )
    app.add_middleware(
        Guard,
        callers=callers,
        open_paths=OPEN_PATHS | LOGIN_PATHS,
        open_below=FILES,
        login=True,
        refused=refused,
    )
    return app


def _started(export: Export, kind: str, tenant: str) -> Iterator[bytes]:
    """Call the factory on the first step, so that it too runs in the thread."""
    yield from export(kind, tenant)


def _json(status: int, value: Any, headers: dict[str, str] | None = None) -> Response:
    return Response(
        msgspec.json.encode(value), status, headers or {}, media_type="application/json"
    )
