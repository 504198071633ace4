"""Take orders over HTTP to learn anew what is usual; obeyed and stored before the answer."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import Future
from typing import TypeAlias

import msgspec
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from collector.errors import MalformedError, OutriderError, StoreUnavailableError
from collector.guard import grant_of
from collector.receivers.intake import Intake, read_body

PATH = "/v1/alarms/rebaseline"
BODY_BYTES = 64 * 1024
WAIT_S = 30.0
"""How long the detectors are waited for."""

Relearn: TypeAlias = Callable[[str, str, str | None], "Future[tuple[str, ...]]"]
"""Orders the streams of an agent, a scorer and an environment (none: all) to learn anew; resolves to
their names once that is stored."""


class Rebaseline(msgspec.Struct, frozen=True, kw_only=True):
    """Whose usual failure rate is to be learned anew."""

    agent: str
    scorer: str
    environment: str | None = None
    """All when it is missing."""


class Rebaselined(msgspec.Struct, frozen=True, kw_only=True):
    """Which streams learn anew."""

    streams: tuple[str, ...]


class RebaselinePort:
    """Answer the path."""

    def __init__(self, relearn: Relearn) -> None:
        """Keep what gives the order."""
        self._relearn = relearn
        self._intake = Intake(BODY_BYTES)

    def routes(self) -> list[Route]:
        """Return the route, for ``collector.api.api``."""
        return [Route(PATH, self.rebaseline, methods=["POST"])]

    async def rebaseline(self, request: Request) -> Response:
        """Learn anew what is usual of an agent's scorer; its alarms end and none comes meanwhile."""
        grant = grant_of(request)
        if grant.tenant:
            raise HTTPException(403, f"alarms are of all tenants, and {grant.name} is of one")
        with self._intake.allowance() as allowance:
            body = await read_body(request, limit=BODY_BYTES, allowance=allowance)
        try:
            whose = msgspec.json.decode(body, type=Rebaseline)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise MalformedError(f"the body must be JSON with agent and scorer: {error}") from None
        done = self._relearn(whose.agent, whose.scorer, whose.environment)
        try:
            streams = await asyncio.wait_for(asyncio.wrap_future(done), WAIT_S)
        except TimeoutError:
            raise StoreUnavailableError("the detectors wait for the store; try again") from None
        except OutriderError as error:
            raise StoreUnavailableError(f"it is done, but not stored yet: {error}") from error
        if not streams:
            raise HTTPException(404, "no detector watches this scorer of this agent")
        return Response(
            msgspec.json.encode(Rebaselined(streams=streams)), media_type="application/json"
        )
