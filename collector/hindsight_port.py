"""Take outcomes and labels over HTTP: one, a list, or JSON lines; durable before the answer."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import TypeAlias, TypeVar

import msgspec
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from collector import hindsight_forms
from collector.errors import PermanentError
from collector.guard import grant_of, spoken_for
from collector.hindsight import Label, Outcome
from collector.hindsight_forms import Fault, Read
from collector.receivers.compression import check_encoding, inflate
from collector.receivers.intake import Intake, read_body
from collector.tokens import Grant

BODY_BYTES = 8 * 1024 * 1024
"""Largest body of one request."""
ALL_BODIES_BYTES = 32 * 1024 * 1024
"""Bodies that are read at a time, together."""

LINES = frozenset({"application/x-ndjson", "application/jsonl", "application/x-jsonlines"})
"""Content types of JSON lines."""

Note: TypeAlias = Callable[[Sequence[Outcome] | Sequence[Label]], Awaitable[None]]
"""Journals what was told; returns once it is durable."""
Count: TypeAlias = Callable[[str, float, dict[str, str]], None]
"""Raises a counter: its name, by how much, its labels."""
_Record = TypeVar("_Record", Outcome, Label)


class Taken(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What became of a request."""

    error: str = ""
    """Says what to do when nothing could be used."""
    accepted: int | None = None
    rejected: list[Fault] = []


class HindsightPort:
    """Answer the two paths."""

    def __init__(self, note: Note, *, count: Count, clock_ns: Callable[[], int]) -> None:
        """Keep what is needed.

        Args:
            note: Journals what was told.
            count: Takes ``stage_items_total`` of what could not be used.
            clock_ns: Present Unix time in nanoseconds.
        """
        self._note = note
        self._count = count
        self._clock_ns = clock_ns
        self._intake = Intake(ALL_BODIES_BYTES)

    def routes(self) -> list[Route]:
        """Return the routes, for ``collector.api.api``."""
        return [
            Route("/v1/outcomes", self.outcomes, methods=["POST"]),
            Route("/v1/labels", self.labels, methods=["POST"]),
        ]

    async def outcomes(self, request: Request) -> Response:
        """Take what turned out to be true."""
        return await self._take(request, "outcomes", hindsight_forms.outcomes)

    async def labels(self, request: Request) -> Response:
        """Take what people say."""
        return await self._take(request, "labels", hindsight_forms.labels)

    async def _take(
        self, request: Request, stage: str, read: Callable[..., Read[_Record]]
    ) -> Response:
        kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
        with self._intake.allowance() as allowance:
            body = await read_body(request, limit=BODY_BYTES, allowance=allowance)
            try:
                compression = check_encoding(request.headers.get("content-encoding", ""))
                found = await asyncio.to_thread(
                    lambda: read(
                        inflate(body, compression, limit=BODY_BYTES),
                        lines=kind in LINES,
                        now_ns=self._clock_ns(),
                    )
                )
                records = [_of_caller(word, grant_of(request)) for word in found.records]
            except (PermanentError, HTTPException):
                self._rejected(stage, 1)
                raise
            if records:
                await self._note(records)
        self._rejected(stage, len(found.faults))
        if found.faults and not found.records:
            error = f"none of the {len(found.faults)} can be used: {found.faults[0].error}"
            return _answer(400, Taken(error=error, accepted=0, rejected=found.faults))
        return _answer(202, Taken(accepted=len(found.records), rejected=found.faults))

    def _rejected(self, stage: str, amount: int) -> None:
        if amount:
            self._count("stage_items_total", amount, {"stage": stage, "result": "rejected"})


def _of_caller(word: _Record, grant: Grant) -> _Record:
    tenant = spoken_for(grant, word.about.tenant)
    if tenant == word.about.tenant:
        return word
    about = msgspec.structs.replace(word.about, tenant=tenant)
    return msgspec.structs.replace(word, about=about)


def _answer(status: int, answer: Taken) -> Response:
    return Response(msgspec.json.encode(answer), status, media_type="application/json")
