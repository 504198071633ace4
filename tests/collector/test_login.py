"""Test how a person logs in to the console, and out again."""

from __future__ import annotations

import asyncio
from http.cookies import SimpleCookie
from typing import Any

import httpx
import pytest
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from collector.api import api
from collector.callers import Callers
from collector.config import TokenConfig
from collector.guard import COOKIE, SECURE_COOKIE, grant_of
from collector.login import Login, own_path
from tests.collector.access import sessions, tokens

TOKEN = "a long phrase & more"  # noqa: S105  # a test's, not a secret
HOME = "http://localhost:8090"
EVIL = "https://evil.example"


class Browser:
    """Ask a port as a browser does that shows a page of ours, and keeps cookies."""

    def __init__(self, *, base: str = HOME, token: str = TOKEN) -> None:
        known = tokens(
            token,
            agents=TokenConfig(token="w", rights=("write",)),  # noqa: S106 - an invented one
            anna=TokenConfig(token="t-anna", rights=("read",), tenant="acme"),  # noqa: S106
        )
        if not token:
            known = tokens()
        held = sessions(known)
        callers = Callers(host="127.0.0.1", tokens=known, sessions=held)
        self.refused: list[str] = []
        login = Login(_form, held, asks=callers.asks, refused=self.refused.append)

        async def who(request: Request) -> Response:
            return PlainTextResponse(f"{grant_of(request).name}@{grant_of(request).tenant}")

        async def nobody(_end: object) -> None:
            raise AssertionError

        self._app = api(
            problems=tuple,
            end=nobody,
            export=lambda *_: iter(()),
            callers=callers,
            routes=[Route("/who", who), *login.routes()],
        )
        self._base = base
        self.cookies = httpx.Cookies()

    def ask(self, method: str, path: str, body: Any = None, **headers: str) -> httpx.Response:
        """Send one request."""

        async def send() -> httpx.Response:
            transport = httpx.ASGITransport(self._app, raise_app_exceptions=False)
            async with httpx.AsyncClient(
                transport=transport, base_url=self._base, cookies=self.cookies
            ) as client:
                kind = {"data": body} if isinstance(body, dict) else {"content": body}
                answer = await client.request(method, path, headers=headers, **kind)
                self.cookies = client.cookies
                return answer

        return asyncio.run(send())

    def log_in(self, token: str = TOKEN, to: str = "/", **headers: str) -> httpx.Response:
        """Send the form."""
        return self.ask("POST", "/login", {"token": token, "to": to}, **headers)


def _form(status: int, to: str, refused: str) -> Response:
    return PlainTextResponse(f"form {to} {refused}", status)


def cookie_of(answer: httpx.Response, name: str = COOKIE) -> Any:
    """Return the cookie that an answer sets."""
    cookies = SimpleCookie(answer.headers["set-cookie"])
    return cookies[name]


def test_in_and_out() -> None:
    """With a token a person gets in, where they wanted to go, and stays until they log out."""
    browser = Browser()
    sent = browser.ask("GET", "/who", accept="text/html")
    assert (sent.status_code, sent.headers["location"]) == (303, "/login?to=%2Fwho")
    assert browser.ask("GET", sent.headers["location"]).text == "form /who "
    answer = browser.log_in(to="/who", origin=HOME)
    assert (answer.status_code, answer.headers["location"]) == (303, "/who")
    assert browser.ask("GET", "/who").text == "token@"
    session = browser.cookies[COOKIE]
    out = browser.ask("POST", "/logout", origin=HOME)
    assert (out.status_code, out.headers["location"]) == (303, "/login")
    assert COOKIE not in browser.cookies
    browser.cookies.set(COOKIE, session)
    assert browser.ask("GET", "/who").status_code == 401


def test_the_cookie() -> None:
    """The cookie is kept from scripts and other sites, for as long as the session, and is no token."""
    cookie = cookie_of(Browser().log_in())
    assert (cookie["httponly"], cookie["samesite"], cookie["path"]) == (True, "strict", "/")
    assert (cookie["max-age"], cookie["secure"], cookie["domain"]) == ("3600", "", "")
    assert TOKEN not in cookie.value


def test_the_cookie_over_tls() -> None:
    """Over TLS it never goes without, and no other host can set it."""
    browser = Browser(base="https://localhost:8090")
    cookie = cookie_of(browser.log_in(), SECURE_COOKIE)
    assert cookie["secure"]
    assert browser.ask("GET", "/who").text == "token@"
    browser.cookies.clear()
    browser.cookies.set(COOKIE, cookie.value)
    assert browser.ask("GET", "/who").status_code == 401


def test_of_a_tenant() -> None:
    """Who logs in with a tenant's token is that tenant's, and may only do what the token may."""
    browser = Browser()
    browser.log_in("t-anna")
    assert browser.ask("GET", "/who").text == "anna@acme"
    assert browser.ask("POST", "/v1/conversations/c/end", origin=HOME).status_code == 403


@pytest.mark.parametrize("token", ["", "wrong", "w"])
def test_wrong_tokens(token: str) -> None:
    """With a wrong token, or one that may not read, the form comes again, and it is counted."""
    browser = Browser()
    answer = browser.log_in(token, to="/who")
    assert answer.status_code == 403
    assert answer.text == "form /who That is no token that may read here."
    assert "set-cookie" not in answer.headers
    assert browser.refused == ["unauthenticated"]


@pytest.mark.parametrize(
    "headers",
    [
        {"origin": EVIL},
        {"origin": "null"},
        {"origin": "http://localhost:3000"},
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},
    ],
)
def test_forms_of_other_pages(headers: dict[str, str]) -> None:
    """A page of another origin can log nobody in, and nobody out, and both are counted."""
    browser = Browser()
    assert browser.log_in(**headers).status_code == 403
    browser.log_in()
    assert browser.ask("POST", "/logout", **headers).status_code == 403
    assert browser.refused == ["forbidden"] * 2
    assert browser.ask("GET", "/who").text == "token@"


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b"", 403),
        (b"token=%ff%fe", 403),
        (b"\xff", 400),
        (b"&".join([b"a=b"] * 9), 400),
        (b"token=" + b"x" * 17_000, 400),
    ],
)
def test_what_is_no_form(body: bytes, status: int) -> None:
    """Whatever else is posted there is an error, and no session."""
    answer = Browser().ask("POST", "/login", body)
    assert answer.status_code == status
    assert "set-cookie" not in answer.headers


@pytest.mark.parametrize(
    ("to", "path"),
    [
        ("/who?a=%2F", "/who?a=%2F"),
        ("/", "/"),
        ("", "/"),
        ("who", "/"),
        ("//evil.example", "/"),
        ("/\\evil.example", "/"),
        ("\\\\evil.example", "/"),
        ("https://evil.example", "/"),
        ("javascript:alert(1)", "/"),
        ("/\t/evil.example", "/"),
        ("/\r\nset-cookie: a=b", "/"),
        ("/%0d%0a", "/%0d%0a"),
        ("/ü", "/"),
    ],
)
def test_where_a_login_leads(to: str, path: str) -> None:
    """A login leads to a path of this port and nowhere else."""
    assert own_path(to) == path
    assert Browser().log_in(to=to).headers["location"] == path


def test_without_tokens() -> None:
    """Where no token is asked for there is nothing to log in to."""
    browser = Browser(token="")
    for method in ("GET", "POST"):
        answer = browser.ask(method, "/login?to=/who")
        assert (answer.status_code, "set-cookie" in answer.headers) == (303, False)
    assert browser.ask("GET", "/who").text == "anybody@"
