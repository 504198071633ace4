"""Serve the console: pages for people, and the same as JSON under ``/v1``."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable, Sequence
from typing import TypeAlias

import msgspec
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from alerts.console import alarm_log, firing
from alerts.console.answers import json_answer, redirection
from alerts.console.assets import Assets
from alerts.console.charts import chart_data
from alerts.console.conversation import Told, episodes_of, read_conversation
from alerts.console.conversation_list import VERDICTS, FoundPage, Search, read_list
from alerts.console.described import Described, described
from alerts.console.extent import Extent
from alerts.console.ledger import Entries, Entry, Ledger, read_entries, read_ledger
from alerts.console.pages import Pages, embedded
from alerts.console.parameters import RANGES, Period, number_of, period_of, text_of
from alerts.console.quality import Quality, read_quality
from alerts.console.store import Query, Reader, StoreOf
from alerts.console.transcript import transcript
from alerts.console.words import conversation_href, href
from alerts.stream_view import AlertEvent, StreamView
from collector.errors import RetryableError

Alarms: TypeAlias = Callable[[], Sequence[StreamView] | None]
"""The detectors' streams as they are now; ``None`` until an earlier process's were read."""
Endpoint: TypeAlias = Callable[[Request], Awaitable[Response]]
_EVENTS = 100
_MESSAGES = 1_000_000
_STILL_READ = "the detectors' state is still being read"
_OF_ALL = "alarms are of all tenants together, and this token sees one"


class Learning(msgspec.Struct, frozen=True, kw_only=True):
    """What a detector's reference must hold before it is armed."""

    conversations: int
    hours: float


class Console:
    """Answer the console's routes."""

    def __init__(
        self,
        store: StoreOf,
        *,
        tenant_of: Callable[[Request], str],
        alarms: Alarms,
        clock_ns: Callable[[], int],
        learning: Learning,
        login: bool = False,
    ) -> None:
        """Keep what the pages are made of; nothing is read yet.

        Args:
            store: Gives what answers queries, from threads of the console.
            tenant_of: Says which tenant alone a caller may see; empty for all.
            alarms: Gives the detectors' streams once they are known.
            clock_ns: Present Unix time in nanoseconds.
            learning: When a detector is armed, to say how far it is.
            login: Whether people log in, and so can log out.
        """
        self._reader = Reader(store)
        self._tenant_of = tenant_of
        self._alarms = alarms
        self._clock_ns = clock_ns
        self._learning = learning
        self._assets = Assets()
        self._pages = Pages(self._assets, clock_ns=clock_ns, login=login)

    def routes(self) -> list[Route]:
        """Return the routes, for ``collector.api.api``."""
        return [
            _get("/", self.quality),
            _get("/conversations", self.conversations),
            _get("/conversations/{episode_id:path}", self.conversation),
            _get("/ledger", self.ledger),
            _get("/alerts", self.alerts),
            _get("/static/{digest}/{name}", self.static),
            _get("/v1/alarms", self.alarms_json),
            _get("/v1/quality", self.quality_json),
            _get("/v1/conversations", self.conversations_json),
            _get("/v1/conversations/{episode_id:path}", self.conversation_json),
            _get("/v1/ledger", self.ledger_json),
        ]

    def described(self) -> dict[str, Described]:
        """Say what the paths answer that are not pages."""
        return described()

    def error_page(self, status: int, message: str) -> Response:
        """Tell a person what went wrong."""
        return self._pages.error(status, message)

    def login_page(self, status: int, to: str, refused: str) -> Response:
        """Ask a person for a token."""
        return self._pages.page("login.html", status=status, here="login", to=to, refused=refused)

    # --- quality

    async def quality(self, request: Request) -> Response:
        """Show what fires, and each agent's quality over time."""
        query = request.query_params
        agent, environment = text_of(query, "agent"), text_of(query, "environment")
        streams, known = self._streams(request, agent, environment)
        alarms = firing.alarms_of(streams)
        period, shown = period_of(query), alarms[: firing.MOST]
        status, outage = 200, ""
        try:
            found, counted, there = await self._reader.read(
                lambda ask: (
                    self._quality(ask, agent, environment, period, streams),
                    firing.counted(ask, shown),
                    True,
                ),
                tenant=self._tenant_of(request),
                empty=(Quality(), shown, False),
            )
        except RetryableError as error:
            if not streams:
                raise
            # What fires is known without the store, and is what matters most.
            status, outage = 503, str(error)
            found, counted, there = Quality(), shown, True
        return self._pages.page(
            "quality.html",
            status=status,
            here="quality",
            outage=outage,
            unread=there and not known,
            quality=found,
            alarms=counted,
            alarms_left_out=max(0, len(alarms) - firing.MOST),
            armed=sum(view.phase == "armed" for view in streams),
            learning=sum(view.phase == "learning" for view in streams),
            needed=self._learning,
            agent=agent,
            environment=environment,
            period=period,
            ranges=tuple(RANGES),
            data=embedded(chart_data(found)),
        )

    async def quality_json(self, request: Request) -> Response:
        """Give each agent's quality over time."""
        query = request.query_params
        agent, environment = text_of(query, "agent"), text_of(query, "environment")
        period, (streams, _) = period_of(query), self._streams(request, agent, environment)
        found = await self._reader.read(
            lambda ask: self._quality(ask, agent, environment, period, streams),
            tenant=self._tenant_of(request),
            empty=Quality(),
        )
        return json_answer(found)

    def _quality(
        self,
        ask: Query,
        agent: str,
        environment: str,
        period: Period,
        streams: Sequence[StreamView],
    ) -> Quality:
        return read_quality(
            ask,
            agent=agent,
            environment=environment,
            period=period,
            streams=streams,
            now_ns=self._clock_ns(),
        )

    def _streams(
        self, request: Request, agent: str = "", environment: str = ""
    ) -> tuple[list[StreamView], bool]:
        """Return the streams of an agent and environment, and whether they are known yet.

        They are of all tenants together, so whoever sees one sees none of them.
        """
        views = () if self._tenant_of(request) else self._alarms()
        return [
            view
            for view in views or ()
            if agent in {"", view.agent} and environment in {"", view.environment}
        ], views is not None

    # --- conversations

    async def conversations(self, request: Request) -> Response:
        """Show the conversations that a search finds."""
        search = self._search(request)
        found, extent = await self._reader.read(
            lambda ask: (read_list(ask, search), Extent.read(ask)),
            tenant=self._tenant_of(request),
            empty=(FoundPage(), Extent()),
        )
        return self._pages.page(
            "conversations.html",
            here="conversations",
            search=search,
            found=found,
            who=extent.who,
            verdicts=VERDICTS,
            ranges=tuple(RANGES),
            kept=_kept(request),
        )

    async def conversations_json(self, request: Request) -> Response:
        """Give the conversations that a search finds."""
        search = self._search(request)
        return json_answer(
            await self._reader.read(
                lambda ask: read_list(ask, search),
                tenant=self._tenant_of(request),
                empty=FoundPage(),
            )
        )

    def _search(self, request: Request) -> Search:
        search = Search.of(request.query_params)
        seconds = RANGES.get(search.period.name, 0)
        if not seconds:
            return search
        since = max(0, self._clock_ns() - seconds * 1_000_000_000)
        period = msgspec.structs.replace(search.period, since_ns=since)
        return msgspec.structs.replace(search, period=period)

    async def conversation(self, request: Request) -> Response:
        """Show one conversation."""
        first = number_of(request.query_params, "from", default=0, most=_MESSAGES)
        told = await self._told(request)
        if isinstance(told, str):
            return redirection(told)
        laid_out = await asyncio.to_thread(transcript, told, first=first)
        return self._pages.page("conversation.html", here="conversations", page=laid_out, told=told)

    async def conversation_json(self, request: Request) -> Response:
        """Give one conversation."""
        told = await self._told(request)
        return redirection(f"/v1{told}") if isinstance(told, str) else json_answer(told)

    async def _told(self, request: Request) -> Told | str:
        """Return an episode; where the id is a conversation's, the path of its episodes."""
        wanted = request.path_params["episode_id"]
        nothing: tuple[Told | None, list[str]] = (None, [])
        told, episodes = await self._reader.read(
            lambda ask: _told(ask, wanted), tenant=self._tenant_of(request), empty=nothing
        )
        if told is not None:
            return told
        if len(episodes) > 1:
            return href("/conversations", conversation=wanted, verdict="any")
        # An id of itself would go round for ever.
        if episodes and episodes[0] != wanted:
            return conversation_href(episodes[0])
        raise HTTPException(
            404, "no conversation of this id is stored: it is not decided yet, or has expired"
        )

    # --- the ledger

    async def ledger(self, request: Request) -> Response:
        """Show what became of every conversation under every scorer."""
        query = request.query_params
        wanted = text_of(query, "id").strip()
        none: list[Entry] = []
        account, extent, entries = await self._reader.read(
            lambda ask: (
                self._ledger(ask, request),
                Extent.read(ask),
                read_entries(ask, wanted) if wanted else none,
            ),
            tenant=self._tenant_of(request),
            empty=(Ledger(), Extent(), none),
        )
        return self._pages.page(
            "ledger.html",
            here="ledger",
            ledger=account,
            who=extent.who,
            wanted=wanted,
            entries=entries,
            agent=text_of(query, "agent"),
            environment=text_of(query, "environment"),
            version=text_of(query, "version"),
            period=period_of(query),
            ranges=tuple(RANGES),
        )

    async def ledger_json(self, request: Request) -> Response:
        """Give the account; with ``id``, that conversation's rows."""
        wanted = text_of(request.query_params, "id")
        if wanted:
            none: list[Entry] = []
            entries = await self._reader.read(
                lambda ask: read_entries(ask, wanted), tenant=self._tenant_of(request), empty=none
            )
            return json_answer(Entries(conversation_id=wanted, decisions=entries))
        return json_answer(
            await self._reader.read(
                lambda ask: self._ledger(ask, request),
                tenant=self._tenant_of(request),
                empty=Ledger(),
            )
        )

    def _ledger(self, ask: Query, request: Request) -> Ledger:
        query = request.query_params
        period = period_of(query)
        if seconds := RANGES.get(period.name, 0):
            since = max(0, self._clock_ns() - seconds * 1_000_000_000)
            period = msgspec.structs.replace(period, since_ns=since)
        return read_ledger(
            ask,
            agent=text_of(query, "agent"),
            environment=text_of(query, "environment"),
            version=text_of(query, "version"),
            period=period,
        )

    # --- alarms

    async def alerts(self, request: Request) -> Response:
        """Show what the detectors said, newest first."""
        before = alarm_log.place_of(request.query_params)
        page = await self._reader.read(
            lambda ask: alarm_log.read_events(ask, limit=_EVENTS, before=before),
            tenant=self._tenant_of(request),
            empty=alarm_log.Page(),
        )
        return self._pages.page("alerts.html", here="alerts", page=page)

    async def alarms_json(self, request: Request) -> Response:
        """Give the streams as they are, and what was said last."""
        limit = max(
            1, number_of(request.query_params, "limit", default=_EVENTS, most=alarm_log.MOST)
        )
        no_events: Sequence[AlertEvent] = ()
        try:
            events, there = await self._reader.read(
                lambda ask: (_events(ask, limit), True),
                tenant=self._tenant_of(request),
                empty=(no_events, False),
            )
        except RetryableError as error:
            streams, known = self._streams(request)
            if not known:
                raise
            note = f"the events cannot be read: {error}"
            return json_answer(alarm_log.AlarmsAnswer(streams=streams, events=(), note=note))
        # Without tables there is no state that could be read.
        streams, known = self._streams(request)
        loaded = known or not there
        note = "" if loaded else _STILL_READ
        note = _OF_ALL if self._tenant_of(request) else note
        return json_answer(
            alarm_log.AlarmsAnswer(streams=streams, events=events, loaded=loaded, note=note)
        )

    # --- files

    async def static(self, request: Request) -> Response:
        """Send a script or a style."""
        return await asyncio.to_thread(
            self._assets.answer,
            request.path_params["digest"],
            request.path_params["name"],
            accepts=request.headers.get("accept-encoding", ""),
        )


def _get(path: str, endpoint: Endpoint) -> Route:
    route = Route(path, endpoint, methods=["GET"])
    # An id may hold line breaks, which a pattern's dot leaves out.
    route.path_regex = re.compile(route.path_regex.pattern, re.DOTALL)
    return route


def _kept(request: Request) -> dict[str, str]:
    """Return the search as it stands in the address, without the place on the list."""
    return {key: value for key, value in request.query_params.items() if key != "cursor"}


def _told(ask: Query, wanted: str) -> tuple[Told | None, list[str]]:
    told = read_conversation(ask, wanted)
    return told, [] if told else episodes_of(ask, wanted)


def _events(ask: Query, limit: int) -> Sequence[AlertEvent]:
    return alarm_log.read_events(ask, limit=limit).events
