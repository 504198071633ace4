"""Test the guard before an application."""

from __future__ import annotations

import asyncio
from typing import Any

import httpx
import pytest
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.types import Receive, Scope, Send

from collector.callers import programs
from collector.config import TokenConfig
from collector.guard import Guard, grant_of, spoken_for
from collector.tokens import Grant
from tests.collector.access import callers, tokens

TOKEN = "a long phrase"  # noqa: S105  # a test's, not a secret
OF_ONE = TokenConfig(token="t-anna", tenant="acme")  # noqa: S106 - an invented one


async def who(scope: Scope, receive: Receive, send: Send) -> None:
    """Say who calls."""
    await PlainTextResponse(grant_of(Request(scope)).name)(scope, receive, send)


def ask(guard: Guard, path: str, method: str = "GET", **headers: str) -> httpx.Response:
    """Ask an application behind a guard."""

    async def get() -> httpx.Response:
        transport = httpx.ASGITransport(guard)
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
            return await client.request(method, path, headers=headers)

    return asyncio.run(get())


def bearer(token: str) -> dict[str, str]:
    """Write the header that shows a token."""
    return {"authorization": f"Bearer {token}"}


def test_the_guard() -> None:
    """The guard lets through who may call, and anybody to the open paths; it tells of the rest."""
    refused: list[str] = []
    guard = Guard(
        PlainTextResponse("yes"),
        callers(TOKEN),
        open_paths={"/healthz"},
        open_below="/static/",
        refused=refused.append,
    )

    turned_away = ask(guard, "/metrics")
    assert (turned_away.status_code, turned_away.headers["www-authenticate"]) == (401, "Bearer")
    assert "token" in turned_away.json()["error"]
    assert ask(guard, "/metrics", **bearer(TOKEN)).text == "yes"
    assert ask(guard, "/healthz").text == ask(guard, "/static/a").text == "yes"
    assert ask(guard, "/healthz/x").status_code == ask(guard, "/static").status_code == 401
    assert refused == ["unauthenticated"] * 3


def test_the_guard_of_a_port_without_a_token() -> None:
    """Without a token the guard refuses strange names and says why."""
    refused: list[str] = []
    guard = Guard(who, programs(host="127.0.0.1", tokens=tokens()), refused=refused.append)

    assert ask(guard, "/metrics").text == "anybody"
    turned_away = ask(guard, "/metrics", host="evil.example")
    assert (turned_away.status_code, "www-authenticate" in turned_away.headers) == (403, False)
    assert refused == ["forbidden"]


@pytest.mark.parametrize(
    ("method", "right"), [("GET", "read"), ("HEAD", "read"), ("POST", "write"), ("DELETE", "write")]
)
def test_the_right_that_a_method_needs(method: str, right: Any) -> None:
    """Reading needs the right to read, and every other method that to write."""
    guard = Guard(
        who,
        callers(
            fit=TokenConfig(token="fit", rights=(right,)),  # noqa: S106 - an invented one
            unfit=TokenConfig(
                token="unfit",  # noqa: S106 - the same
                rights=("write" if right == "read" else "read",),
            ),
        ),
    )
    assert ask(guard, "/v1", method, **bearer("fit")).status_code == 200
    assert ask(guard, "/v1", method, **bearer("unfit")).status_code == 403


def test_a_port_of_all_tenants() -> None:
    """What is of all tenants together is not for a token of one."""
    guard = Guard(who, callers(TOKEN, anna=OF_ONE), of_all_tenants="metrics")
    assert ask(guard, "/metrics", **bearer(TOKEN)).text == "token"
    refused = ask(guard, "/metrics", **bearer("t-anna"))
    assert (refused.status_code, "of all tenants" in refused.text) == (403, True)


@pytest.mark.parametrize(
    ("path", "to"),
    [("/", "/"), ("/conversations?a=%26b&c=1", "/conversations?a=%26b&c=1"), ("/a%0Ab", "/a%0Ab")],
)
def test_a_browser_is_sent_to_log_in(path: str, to: str) -> None:
    """A browser that shows nothing is sent to the form, which brings it back to what it wanted."""
    guard = Guard(who, callers(TOKEN), login=True)
    sent = ask(guard, path, accept="text/html,*/*")
    assert sent.status_code == 303
    assert httpx.URL(sent.headers["location"]).params["to"] == to
    assert ask(guard, path).status_code == 401
    assert ask(guard, path, "POST", accept="text/html").status_code == 401


def test_whom_a_caller_speaks_for() -> None:
    """Who has a tenant speaks for it alone; who has none, for whom it names."""
    acme = Grant(name="anna", tenant="acme")
    assert [spoken_for(acme, named) for named in ("", "acme")] == ["acme", "acme"]
    assert [spoken_for(Grant(), named) for named in ("", "acme")] == ["", "acme"]
    with pytest.raises(HTTPException, match="another tenant") as caught:
        spoken_for(acme, "brill")
    assert caught.value.status_code == 403
