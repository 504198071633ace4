"""Test who may call the console and API port."""

from __future__ import annotations

import asyncio

import httpx
import pytest
from starlette.responses import PlainTextResponse

from collector.callers import Callers, Guard, programs


def status(callers: Callers, host: str, origin: str = "", authorization: str = "") -> int:
    """Return the status of the refusal, 200 when there is none."""
    refusal = callers.refusal(host=host, origin=origin, authorization=authorization)
    return 200 if refusal is None else refusal.status


@pytest.mark.parametrize(
    ("bound", "host", "expected"),
    [
        ("127.0.0.1", "127.0.0.1:8090", 200),
        ("127.0.0.1", "LocalHost:8090", 200),
        ("127.0.0.1", "[::1]:8090", 200),
        ("127.0.0.1", "evil.example", 403),
        ("127.0.0.1", "localhost.evil.example:8090", 403),
        ("127.0.0.1", "10.0.0.7:8090", 403),
        ("127.0.0.1", "", 403),
        ("127.0.0.1", "host.docker.internal:8090", 200),
        ("127.0.0.1", "internal.evil.example", 403),
        ("scores.internal", "scores.internal:8090", 200),
        ("0.0.0.0", "10.0.0.7:8090", 200),
        ("::", "[fd00::7]:8090", 200),
        ("0.0.0.0", "evil.example:8090", 403),
    ],
)
def test_host_names_without_a_token(bound: str, host: str, expected: int) -> None:
    """Without a token only loopback names and the served address pass, or any address on a wildcard."""
    assert status(Callers(host=bound, token=""), host) == expected


@pytest.mark.parametrize(
    ("origin", "expected"),
    [
        ("", 200),
        ("http://localhost:8090", 200),
        ("https://evil.example", 403),
        ("http://localhost:3000", 403),
        ("null", 403),
    ],
)
def test_origins_without_a_token(origin: str, expected: int) -> None:
    """Without a token a page of another origin may not call."""
    assert status(Callers(host="127.0.0.1", token=""), "localhost:8090", origin) == expected


def test_with_a_token() -> None:
    """With a token it alone decides, by whatever name the port is called."""
    token = "a long phrase"  # noqa: S105  # a test's, not a secret
    callers = Callers(host="0.0.0.0", token=token)

    assert status(callers, "localhost") == 401
    assert status(callers, "scores.example", authorization="Bearer wrong") == 401
    assert status(callers, "scores.example", authorization=f"Bearer {token}") == 200


@pytest.mark.parametrize(
    ("bound", "host", "origin", "expected"),
    [
        ("127.0.0.1", "localhost:4318", "", 200),
        ("127.0.0.1", "evil.example:4318", "", 403),
        ("127.0.0.1", "localhost:4318", "https://evil.example", 403),
        ("0.0.0.0", "outrider:4318", "", 200),
        ("0.0.0.0", "outrider:4318", "https://evil.example", 403),
    ],
)
def test_programs(bound: str, host: str, origin: str, expected: int) -> None:
    """Programs may use any name of a port beyond loopback, and pages of other origins none."""
    assert status(programs(host=bound, token=""), host, origin) == expected


def ask(guard: Guard, path: str, **headers: str) -> httpx.Response:
    """Ask an application behind a guard."""

    async def get() -> httpx.Response:
        transport = httpx.ASGITransport(guard)
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
            return await client.get(path, headers=headers)

    return asyncio.run(get())


def test_the_guard() -> None:
    """The guard lets through who may call, and anybody to the open paths."""
    token = "a long phrase"  # noqa: S105  # a test's, not a secret
    guard = Guard(
        PlainTextResponse("yes"),
        Callers(host="127.0.0.1", token=token),
        open_paths=frozenset({"/healthz"}),
    )

    refused = ask(guard, "/metrics")
    assert (refused.status_code, refused.headers["www-authenticate"]) == (401, "Bearer")
    assert "token" in refused.json()["error"]
    assert ask(guard, "/metrics", authorization=f"Bearer {token}").text == "yes"
    assert ask(guard, "/healthz").text == "yes"


def test_the_guard_of_a_port_without_a_token() -> None:
    """Without a token the guard refuses strange names and says why."""
    guard = Guard(PlainTextResponse("yes"), programs(host="127.0.0.1", token=""))

    assert ask(guard, "/metrics").text == "yes"
    refused = ask(guard, "/metrics", host="evil.example")
    assert (refused.status_code, "www-authenticate" in refused.headers) == (403, False)
