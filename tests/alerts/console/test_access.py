"""Hold every route of the console's port to who may call it, and to whose conversations they see.

The routes are those of the application itself: one that is not in the table here fails.
"""

from __future__ import annotations

import asyncio
import functools
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import Future
from typing import Any

import httpx
import msgspec
import pytest
from starlette.applications import Starlette
from starlette.routing import Route

from alerts.console.routes import Console, Learning
from collector.callers import Callers
from collector.config import TokenConfig
from collector.guard import grant_of
from collector.hindsight import About, Label, Outcome
from collector.journal_records import ConversationEnd
from collector.people_ports import people_app
from collector.stores.clickhouse import ClickHouseStore
from collector.stores.tenancy import of_tenant
from tests.alerts.console.conftest import emptied
from tests.alerts.console.front import NOW_NS, episode, event, fill, fill_events, stream, verdict
from tests.build import identity
from tests.collector.access import sessions, tokens
from tests.collector.stores.test_hindsight_export import fill as tell

TENANTS = ("acme", "brill")
BRILL = b"brill-words"
"""Stands in everything that is brill's, and in no request."""


class Check(msgspec.Struct, frozen=True, kw_only=True):
    """What a route is held to."""

    open: bool = False
    """Answered to anybody."""
    asks: tuple[str, ...] = ()
    """Paths that could tell of the conversations of brill; by default the route's own."""
    tells: bool = True
    """Whether it tells brill of them."""
    body: Any = None
    """What is posted, without a tenant."""
    tenants: bool = True
    """Whether a tenant's token may post it."""


ABOUT = {"conversation_id": "talk-brill"}
ROUTES: dict[str, Check] = {
    "GET /healthz": Check(open=True),
    "GET /readyz": Check(open=True),
    "GET /login": Check(open=True),
    "POST /login": Check(open=True),
    "POST /logout": Check(open=True),
    "GET /static/{digest}/{name}": Check(open=True),
    "GET /v1": Check(tells=False),
    "GET /openapi.json": Check(tells=False),
    "GET /": Check(asks=("/", "/?range=all")),
    "GET /conversations": Check(
        asks=("/conversations?verdict=any", "/conversations?conversation=talk-brill&verdict=any")
    ),
    "GET /conversations/{episode_id}": Check(
        asks=("/conversations/talk-brill/1", "/conversations/talk-brill")
    ),
    "GET /ledger": Check(asks=("/ledger?range=all", "/ledger?id=talk-brill")),
    "GET /alerts": Check(tells=False),
    "GET /v1/alarms": Check(tells=False),
    "GET /v1/quality": Check(asks=("/v1/quality", "/v1/quality?range=all&agent=agent-brill-words")),
    "GET /v1/conversations": Check(
        asks=("/v1/conversations", "/v1/conversations?conversation=talk-brill&verdict=any")
    ),
    "GET /v1/conversations/{episode_id}": Check(
        asks=("/v1/conversations/talk-brill/1", "/v1/conversations/talk-brill")
    ),
    "GET /v1/ledger": Check(asks=("/v1/ledger", "/v1/ledger?id=talk-brill")),
    "GET /v1/export/{kind}": Check(
        asks=tuple(
            f"/v1/export/{kind}"
            for kind in (
                "conversations",
                "scores",
                "decisions",
                "observations",
                "outcomes",
                "labels",
            )
        )
    ),
    "POST /v1/conversations/{id}/end": Check(asks=("/v1/conversations/talk-brill/end",), body={}),
    "POST /v1/outcomes": Check(body={**ABOUT, "name": "refund_issued", "value": True}),
    "POST /v1/alarms/rebaseline": Check(
        body={"agent": "agent-brill-words", "scorer": "looping"}, tenants=False
    ),
    "POST /v1/labels": Check(body={**ABOUT, "scorer": "tone", "verdict": "pass"}),
}


class Stage:
    """The port's application over a store of two tenants, and what it took note of."""

    def __init__(self, store: ClickHouseStore) -> None:
        known = tokens(
            "all",
            reader=TokenConfig(token="reader", rights=("read",)),  # noqa: S106 - invented, as below
            writer=TokenConfig(token="writer", rights=("write",)),  # noqa: S106
            **{name: TokenConfig(token=name, tenant=name) for name in TENANTS},
        )
        held = sessions(known)
        self.noted: list[str] = []
        self.refused: Counter[str] = Counter()
        views = (stream(agent="agent-brill-words", firing=("page",)),)
        self.app: Starlette = people_app(
            Callers(host="127.0.0.1", tokens=known, sessions=held),
            held,
            pages=Console(
                functools.partial(of_tenant, store),
                tenant_of=lambda request: grant_of(request).tenant,
                alarms=lambda: views,
                clock_ns=lambda: NOW_NS,
                learning=Learning(conversations=1_000, hours=24.0),
                login=True,
            ),
            process=self,
            store=store,
            relearn=self.relearn,
            count=lambda *_: None,
            clock_ns=lambda: NOW_NS,
            refused=lambda reason: self.refused.update([reason]),
        )

    def problems(self) -> list[str]:
        """Say that all is well."""
        return []

    async def end(self, end: ConversationEnd) -> None:
        """Take note of whose it is."""
        self.noted.append(end.tenant)

    async def note(self, words: Sequence[Outcome] | Sequence[Label]) -> None:
        """Take note of whose they are."""
        self.noted += [word.about.tenant for word in words]

    def relearn(
        self, agent: str, _scorer: str, _environment: str | None
    ) -> Future[tuple[str, ...]]:
        """Take note of whom it is about."""
        self.noted.append(agent)
        done: Future[tuple[str, ...]] = Future()
        done.set_result((agent,))
        return done

    def ask(self, method: str, path: str, token: str = "", body: Any = None) -> httpx.Response:
        """Send one request."""

        async def send() -> httpx.Response:
            transport = httpx.ASGITransport(self.app, raise_app_exceptions=False)
            async with httpx.AsyncClient(
                transport=transport, base_url="http://localhost"
            ) as client:
                headers = {"authorization": f"Bearer {token}"} if token else {}
                return await client.request(method, path, headers=headers, json=body)

        return asyncio.run(send())


@pytest.fixture(scope="module")
def filled(migrated: ClickHouseStore) -> ClickHouseStore:
    """Fill the store with one conversation of each tenant, and an alarm of both."""
    emptied(migrated)
    for number, tenant in enumerate(TENANTS):
        words, talk = f"{tenant}-words", f"talk-{tenant}"
        who = identity(f"agent-{words}", agent_version="v1", environment="prod", tenant=tenant)
        whole = episode(
            talk,
            verdict(talk, name="fail", reason=words),
            who=who,
            version=words,
            sequence=number + 1,
        )
        fill(migrated, whole)
        about = About(conversation_id=talk, tenant=tenant)
        tell(
            migrated,
            Outcome(about=about, name="state", value=words),
            Label(about=about, scorer="looping", verdict="pass", comment=words),
        )
    fill_events(migrated, event(agent="agent-brill-words"))
    return migrated


@pytest.fixture
def stage(filled: ClickHouseStore) -> Stage:
    """Give the application over that store."""
    return Stage(filled)


def names(app: Starlette) -> set[str]:
    """Name every route of an application by its method and path."""
    found: set[str] = set()
    for route in app.routes:
        assert isinstance(route, Route), f"{route} has no methods of its own to be held to"
        found |= {
            f"{method} {route.path_format}" for method in (route.methods or ()) if method != "HEAD"
        }
    return found


def asks(name: str) -> tuple[str, tuple[str, ...]]:
    """Return a route's method and the paths that are tried."""
    method, _, path = name.partition(" ")
    return method, ROUTES[name].asks or (path,)


CLOSED = sorted(name for name, check in ROUTES.items() if not check.open)
READING = [name for name in CLOSED if name.startswith("GET")]
WRITING = [name for name in CLOSED if name.startswith("POST") and ROUTES[name].tenants]


def test_every_route_is_held(stage: Stage) -> None:
    """A route that the table does not have, or a method, is a test that is missing."""
    assert names(stage.app) == set(ROUTES)


def test_what_is_open(stage: Stage) -> None:
    """What is answered to anybody asks for no token and says nothing of anybody."""
    for name in sorted(set(ROUTES) - set(CLOSED)):
        method, paths = asks(name)
        for path in paths:
            answer = stage.ask(method, path)
            assert answer.status_code != 401, name
            assert BRILL not in answer.content, name
    # The form to log in was sent empty.
    assert stage.refused == {"unauthenticated": 1}


@pytest.mark.parametrize("name", CLOSED)
def test_without_a_token(stage: Stage, name: str) -> None:
    """Everything else wants a token, and one that has the right to it."""
    method, paths = asks(name)
    unfit = "writer" if method == "GET" else "reader"
    for path in paths:
        for token, status in (("", 401), ("wrong", 401), (unfit, 403)):
            answer = stage.ask(method, path, token, ROUTES[name].body)
            assert answer.status_code == status, path
            assert BRILL not in answer.content
    assert stage.noted == []
    assert stage.refused == {"unauthenticated": 2 * len(paths), "forbidden": len(paths)}


@pytest.mark.parametrize("name", READING)
def test_reading(stage: Stage, name: str) -> None:
    """A tenant's token sees that tenant's conversations, another's nothing of them, and who has none all."""
    method, paths = asks(name)
    for path in paths:
        theirs = stage.ask(method, path, "acme")
        assert theirs.status_code in {200, 404}, path
        assert BRILL not in theirs.content, path
        for token in ("all", "reader", "brill"):
            own = stage.ask(method, path, token)
            own = stage.ask(method, own.headers["location"], token) if own.is_redirect else own
            assert own.status_code == 200, path
            if ROUTES[name].tells:
                assert BRILL in own.content, (path, token)


def test_alarms_are_of_all_tenants(stage: Stage) -> None:
    """The detectors watch all tenants together, so who sees one sees no alarm, not even on a page."""
    for path in ("/", "/alerts", "/v1/alarms"):
        assert BRILL in stage.ask("GET", path, "all").content, path
    for token in TENANTS:
        assert stage.ask("GET", "/v1/alarms", token).json() == {
            "streams": [],
            "events": [],
            "loaded": True,
            "note": "alarms are of all tenants together, and this token sees one",
        }
        assert "fired" not in stage.ask("GET", "/alerts", token).text
        assert "fails" not in stage.ask("GET", "/", "acme").text.partition("<table")[0]


def test_what_is_usual_is_nobodys_alone(stage: Stage) -> None:
    """The detectors watch all tenants together, so a token of one cannot make them learn anew."""
    path, body = "/v1/alarms/rebaseline", ROUTES["POST /v1/alarms/rebaseline"].body
    assert stage.ask("POST", path, "acme", body).status_code == 403
    assert stage.noted == []
    assert stage.ask("POST", path, "writer", body).json() == {"streams": ["agent-brill-words"]}
    assert stage.noted == ["agent-brill-words"]


@pytest.mark.parametrize("name", WRITING)
def test_writing(stage: Stage, name: str) -> None:
    """A tenant's token writes as that tenant, whether it says so or not, and never as another."""
    method, (path,) = asks(name)
    body = ROUTES[name].body
    for token, said, status in (
        ("acme", "", 202),
        ("acme", "acme", 202),
        ("acme", "brill", 403),
        ("all", "brill", 202),
        ("writer", "", 202),
    ):
        named = {**body, "tenant": said} if said else body
        assert stage.ask(method, path, token, named).status_code == status
    assert stage.noted == ["acme", "acme", "brill", ""]


def test_one_of_a_list_that_is_anothers(stage: Stage) -> None:
    """Where one of several words is about another tenant, none is taken."""
    words = [
        {**ABOUT, "name": "a", "value": True},
        {**ABOUT, "name": "b", "value": True, "tenant": "brill"},
    ]
    assert stage.ask("POST", "/v1/outcomes", "acme", words).status_code == 403
    assert stage.noted == []
