"""Open the ports that people and Prometheus read: the console with the API, and the metrics."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Protocol, TypeAlias, cast

from starlette.applications import Starlette
from starlette.responses import Response
from starlette.routing import BaseRoute
from starlette.types import ASGIApp

from collector.address import parse_address
from collector.api import api
from collector.api_operations import operations, otlp_operations
from collector.callers import Callers, programs
from collector.config import Config
from collector.guard import Guard
from collector.hindsight import Label, Outcome
from collector.hindsight_port import HindsightPort
from collector.journal_records import ConversationEnd
from collector.login import Login
from collector.openapi import Described, OpenApi, described
from collector.rebaseline_port import RebaselinePort, Relearn
from collector.servers import Listening, Port
from collector.sessions import Sessions
from collector.stores.export import What, documents
from collector.stores.tenancy import Asked, of_tenant
from collector.tls import server_context
from collector.tokens import Tokens
from collector.version import __version__

Count: TypeAlias = Callable[[str, float, dict[str, str]], None]
"""Raises a counter: its name, by how much, its labels."""
Refused: TypeAlias = Callable[[str], None]
"""Told the reason of each request that is turned away."""


class Pages(Protocol):
    """What people are shown."""

    def routes(self) -> Sequence[BaseRoute]:
        """Return the routes of the pages."""

    def login_page(self, status: int, to: str, refused: str) -> Response:
        """Ask a person for a token."""

    def described(self) -> Mapping[str, Described]:
        """Say what the paths answer that are not pages."""

    def error_page(self, status: int, message: str) -> Response:
        """Tell a person what went wrong."""


class Journalling(Protocol):
    """What takes note of what callers say."""

    def problems(self) -> list[str]:
        """Say what keeps this instance from being ready."""

    async def end(self, end: ConversationEnd) -> None:
        """Make the end of a conversation durable."""

    async def note(self, words: Sequence[Outcome] | Sequence[Label]) -> None:
        """Make outcomes or labels durable."""


def people_ports(
    config: Config,
    *,
    tokens: Tokens,
    pages: Pages,
    process: Journalling,
    store: Asked,
    relearn: Relearn,
    metrics: ASGIApp,
    count: Count,
    clock_ns: Callable[[], int],
) -> dict[str, Port]:
    """Bind the ports, by their configuration keys; nothing is served yet.

    Args:
        config: Addresses, TLS and how long a session lasts.
        tokens: What callers must show, where there are any.
        pages: The console's.
        process: Takes note of ends, outcomes and labels, and knows how it fares.
        store: Has what is exported.
        relearn: Lets detectors learn anew what is usual.
        metrics: Answers on the metrics' port.
        count: Raises ``requests_rejected_total{receiver,reason}`` and what the API counts.
        clock_ns: Unix time in nanoseconds.

    Raises:
        ConfigError: an address or a certificate cannot be used; the text names the key.
    """

    def refusals(receiver: str) -> Refused:
        return lambda reason: count(
            "requests_rejected_total", 1.0, {"receiver": receiver, "reason": reason}
        )

    sessions = Sessions(
        tokens, lifetime_s=config.auth.session, random_bytes=os.urandom, seconds=time.monotonic
    )
    talked_to = people_app(
        Callers(
            host=parse_address(config.console.address).host,
            tokens=tokens,
            sessions=sessions,
            certified=config.console.tls.instead_of_token,
        ),
        sessions,
        pages=pages,
        process=process,
        store=store,
        relearn=relearn,
        count=count,
        clock_ns=clock_ns,
        refused=refusals("console"),
    )
    scrapers = programs(
        host=parse_address(config.telemetry.metrics).host,
        tokens=tokens,
        certified=config.telemetry.tls.instead_of_token,
    )
    return {
        "telemetry.metrics": Listening(
            "telemetry.metrics",
            config.telemetry.metrics,
            Guard(metrics, scrapers, refused=refusals("metrics"), of_all_tenants="metrics"),
            tls=server_context(config.telemetry.tls, section="telemetry.tls"),
        ),
        "console.address": Listening(
            "console.address",
            config.console.address,
            talked_to,
            tls=server_context(config.console.tls, section="console.tls"),
        ),
    }


def people_app(
    callers: Callers,
    sessions: Sessions,
    *,
    pages: Pages,
    process: Journalling,
    store: Asked,
    relearn: Relearn,
    count: Count,
    clock_ns: Callable[[], int],
    refused: Refused = lambda _: None,
) -> Starlette:
    """Build all that answers on the console's port; the arguments are those of ``people_ports``."""
    described_by = OpenApi(
        {
            **operations(),
            **{f"GET {path}": described(found) for path, found in pages.described().items()},
            **otlp_operations(),
        },
        version=__version__,
        asks=callers.asks,
    )
    app = api(
        problems=process.problems,
        end=process.end,
        export=lambda what, tenant: documents(of_tenant(store, tenant), cast("What", what)),
        callers=callers,
        routes=[
            *HindsightPort(process.note, count=count, clock_ns=clock_ns).routes(),
            *RebaselinePort(relearn).routes(),
            *pages.routes(),
            *Login(pages.login_page, sessions, asks=callers.asks, refused=refused).routes(),
            described_by.route(),
        ],
        error_page=pages.error_page,
        refused=refused,
    )
    described_by.of(app.routes)
    return app
