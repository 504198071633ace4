"""Test who may call a port, and what for."""

from __future__ import annotations

import base64

import pytest

from collector.callers import Callers, Refusal, Shown, programs
from collector.config import TokenConfig
from collector.tokens import Right
from tests.collector.access import callers as of_console
from tests.collector.access import sessions, tokens

TOKEN = "a long phrase"  # noqa: S105  # a test's, not a secret
EVIL = "https://evil.example"


def status(callers: Callers, right: Right = "read", **shown: str) -> int:
    """Return the status of the refusal, 200 when there is none."""
    judged = callers.judge(Shown(**shown), right=right)
    return judged.status if isinstance(judged, Refusal) else 200


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
    assert status(Callers(host=bound, tokens=tokens()), host=host) == expected


@pytest.mark.parametrize(
    ("origin", "expected"),
    [
        ("", 200),
        ("http://localhost:8090", 200),
        (EVIL, 403),
        ("http://localhost:3000", 403),
        ("null", 403),
    ],
)
def test_origins_without_a_token(origin: str, expected: int) -> None:
    """Without a token a page of another origin may not call."""
    assert status(of_console(), host="localhost:8090", origin=origin) == expected


@pytest.mark.parametrize(
    ("authorization", "expected"),
    [
        ("", 401),
        ("Bearer wrong", 401),
        ("Bearer", 401),
        (f"Bearer {TOKEN[:-1]}", 401),
        (f"Bearer {TOKEN}s", 401),
        ("Bearer geheimni\xdf", 401),
        ("Bearer \udcff", 401),
        (f"Bearer {TOKEN}", 200),
    ],
)
def test_with_a_token(authorization: str, expected: int) -> None:
    """With a token it alone decides, by whatever name the port is called."""
    callers = Callers(host="0.0.0.0", tokens=tokens(TOKEN))
    assert status(callers, host="scores.example", authorization=authorization) == expected


@pytest.mark.parametrize(
    ("rights", "right", "expected"),
    [
        (("read",), "read", 200),
        (("read",), "write", 403),
        (("write",), "read", 403),
        (("write",), "write", 200),
        (("read", "write"), "write", 200),
    ],
)
def test_rights(rights: tuple[Right, ...], right: Right, expected: int) -> None:
    """A token is good for what it was given for, and known but refused for the rest."""
    callers = of_console(one=TokenConfig(token=TOKEN, rights=rights))
    assert status(callers, right, authorization=f"Bearer {TOKEN}") == expected


def test_whose_token_it_is() -> None:
    """Each of several tokens is told from the others, with its tenant."""
    callers = of_console(
        "everybody's",
        anna=TokenConfig(token="t-anna", tenant="acme"),  # noqa: S106 - an invented one
        boris=TokenConfig(token="t-boris", tenant="brill"),  # noqa: S106 - the same
    )
    found = [
        callers.judge(Shown(authorization=f"Bearer {shown}"), right="read")
        for shown in ("everybody's", "t-anna", "t-boris")
    ]
    assert [(g.name, g.tenant) for g in found if not isinstance(g, Refusal)] == [
        ("token", ""),
        ("anna", "acme"),
        ("boris", "brill"),
    ]


@pytest.mark.parametrize(
    ("bound", "host", "origin", "expected"),
    [
        ("127.0.0.1", "localhost:4318", "", 200),
        ("127.0.0.1", "evil.example:4318", "", 403),
        ("127.0.0.1", "localhost:4318", EVIL, 403),
        ("0.0.0.0", "outrider:4318", "", 200),
        ("0.0.0.0", "outrider:4318", EVIL, 403),
    ],
)
def test_programs(bound: str, host: str, origin: str, expected: int) -> None:
    """Programs may use any name of a port beyond loopback, and pages of other origins none."""
    assert status(programs(host=bound, tokens=tokens()), host=host, origin=origin) == expected


def test_programs_cannot_log_in() -> None:
    """On a port for programs neither a session nor HTTP Basic shows a token."""
    known = tokens(TOKEN)
    callers = programs(host="127.0.0.1", tokens=known)
    basic = base64.b64encode(f"x:{TOKEN}".encode()).decode()
    assert (
        status(callers, authorization=f"Basic {basic}", session=sessions(known).open(TOKEN)) == 401
    )


@pytest.mark.parametrize(
    ("right", "shown", "expected"),
    [
        ("read", {}, 200),
        ("write", {}, 200),
        ("write", {"origin": "http://localhost:8090", "site": "same-origin"}, 200),
        ("read", {"site": "cross-site"}, 200),
        ("write", {"site": "cross-site"}, 403),
        ("write", {"site": "same-site"}, 403),
        ("write", {"origin": "null"}, 403),
        ("write", {"origin": "http://localhost:3000", "site": "same-site"}, 403),
        ("read", {"origin": EVIL, "site": "cross-site"}, 403),
    ],
)
@pytest.mark.parametrize("way", ["session", "basic"])
def test_what_a_browser_shows_by_itself(
    way: str, right: Right, shown: dict[str, str], expected: int
) -> None:
    """With a session or a password, only pages of ours may make a browser change anything."""
    known = tokens(TOKEN)
    held = sessions(known)
    callers = Callers(host="127.0.0.1", tokens=known, sessions=held)
    basic = base64.b64encode(f"x:{TOKEN}".encode()).decode()
    credential = (
        {"session": held.open(TOKEN)} if way == "session" else {"authorization": f"Basic {basic}"}
    )
    assert status(callers, right, host="localhost:8090", **credential, **shown) == expected


def test_a_certificate_instead_of_a_token() -> None:
    """Where a certificate is enough no token is asked for, and a foreign page is still refused."""
    callers = Callers(host="0.0.0.0", tokens=tokens(TOKEN), certified=True)
    assert status(callers, "write", host="scores.example") == 200
    assert status(callers, "write", host="scores.example", origin=EVIL) == 403
