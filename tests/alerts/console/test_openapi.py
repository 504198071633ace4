"""Hold the HTTP API to its own description, whatever is asked of it: never a 5xx.

schemathesis reads ``/openapi.json``, makes requests that fit it and requests that do not, and looks
whether the answers are among those that are described.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Future
from contextlib import suppress
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from hypothesis.errors import Unsatisfiable
from schemathesis import checks
from starlette.types import ASGIApp, Receive, Scope, Send

from alerts.console.routes import Console, Learning
from collector.answer_headers import AnswerHeaders
from collector.callers import programs
from collector.config import ReceiveConfig
from collector.hindsight import Label, Outcome
from collector.journal_records import ConversationEnd
from collector.openapi import PATH
from collector.people_ports import people_app
from collector.receivers.otlp_http import otlp_http
from collector.stores.clickhouse import ClickHouseStore
from tests.alerts.console.conftest import emptied
from tests.alerts.console.front import NOW_NS, episode, event, fill, fill_events, stream, verdict
from tests.alerts.console.test_access import ROUTES
from tests.collector.access import callers, sessions, tokens
from tests.collector.receivers.desk import Desk

OTLP = ("/v1/traces", "/v1/logs")
SHORT = 6
"""Requests an operation, well-formed and as many that are not, in ``make test``."""
LONG = 100
HELD = (
    checks.not_a_server_error,
    checks.status_code_conformance,
    checks.content_type_conformance,
    checks.response_schema_conformance,
)


class Noting:
    """Stand where the journal is."""

    def problems(self) -> list[str]:
        """Say that all is well."""
        return []

    async def end(self, end: ConversationEnd) -> None:
        """Take note."""

    async def note(self, words: Sequence[Outcome] | Sequence[Label]) -> None:
        """Take note."""


class Both:
    """Serve both ports as one application, so that one description can be tried."""

    def __init__(self, talked_to: ASGIApp, receiver: ASGIApp) -> None:
        self._talked_to = talked_to
        self._receiver = receiver

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Hand a request to the port that serves its path."""
        if scope["type"] != "http":
            return
        at = self._receiver if scope["path"] in OTLP else self._talked_to
        await at(scope, receive, send)


def relearn(agent: str, scorer: str, _environment: str | None) -> Future[tuple[str, ...]]:
    """Know of one scorer of one agent only."""
    done: Future[tuple[str, ...]] = Future()
    done.set_result(("kettle/looping",) if (agent, scorer) == ("kettle", "looping") else ())
    return done


@pytest.fixture(scope="module")
def app(migrated: ClickHouseStore) -> ASGIApp:
    """Build the application over a store with some conversations in it."""
    emptied(migrated)
    fill(migrated, *(episode(f"talk-{n}", verdict(f"talk-{n}", name="fail")) for n in range(3)))
    fill_events(migrated, event())
    known = tokens()
    talked_to = people_app(
        callers(),
        sessions(known),
        pages=Console(
            lambda _tenant: migrated,
            tenant_of=lambda _request: "",
            alarms=lambda: (stream(),),
            clock_ns=lambda: NOW_NS,
            learning=Learning(conversations=1_000, hours=24.0),
        ),
        process=Noting(),
        store=migrated,
        relearn=relearn,
        count=lambda *_: None,
        clock_ns=lambda: NOW_NS,
    )
    limits = ReceiveConfig()
    receiver = otlp_http(
        Desk().admission(limits), limits=limits, callers=programs(host="127.0.0.1", tokens=known)
    )
    return AnswerHeaders(Both(talked_to, receiver))


@pytest.fixture(scope="module")
def schema(app: ASGIApp) -> Any:
    """Read the description from the application itself."""
    return schemathesis.openapi.from_asgi(PATH, app, headers={"host": "localhost"})


def test_every_path_is_described(schema: Any) -> None:
    """Each path below ``/v1``, and each probe, is in the description with its method."""
    described = {
        f"{method.upper()} {path}"
        for path, operations in schema.raw_schema["paths"].items()
        for method in operations
    }
    api = {
        name
        for name in ROUTES
        if name.partition(" ")[2].startswith(("/v1", "/healthz", "/readyz", PATH))
    }
    assert described == api | {f"POST {path}" for path in OTLP}


def tried(schema: Any, *, requests: int) -> None:
    """Ask everything that is described, well and badly."""
    for result in schema.get_all_operations():
        operation = result.ok()
        well = operation.as_strategy(generation_mode=schemathesis.GenerationMode.POSITIVE)
        _try(well, requests)
        # What takes nothing cannot be asked badly.
        with suppress(Unsatisfiable):
            badly = operation.as_strategy(generation_mode=schemathesis.GenerationMode.NEGATIVE)
            _try(badly, requests)


def _try(cases: st.SearchStrategy[Any], requests: int) -> None:
    @settings(
        max_examples=requests,
        deadline=None,
        database=None,
        derandomize=True,
        phases=[Phase.generate, Phase.shrink],
        suppress_health_check=list(HealthCheck),
    )
    @given(cases)
    def ask(case: Any) -> None:
        case.call_and_validate(checks=HELD, headers={"host": "localhost"})

    ask()


def test_nothing_asked_breaks_it(schema: Any) -> None:
    """Whatever is asked, the answer is one that is described, and no failure of ours."""
    tried(schema, requests=SHORT)


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_nothing_asked_for_long_breaks_it(schema: Any) -> None:
    """The same with many more requests."""
    tried(schema, requests=LONG)
