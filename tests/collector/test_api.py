"""Test the port a person or a script talks to."""

from __future__ import annotations

import asyncio
import base64
import json
import threading
from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from collector.api import END_BODY_BYTES, EXPORTS, api
from collector.errors import JournalFullError, StoreUnavailableError
from collector.journal_records import ConversationEnd
from tests.collector.access import callers

ROWS = [{"conversation_id": f"conv-{number}"} for number in range(5_000)]


class Backstage:
    """Stand where the journal and the store are."""

    def __init__(self, *, problems: tuple[str, ...] = (), fault: Exception | None = None) -> None:
        self.ends: list[ConversationEnd] = []
        self._problems = problems
        self._fault = fault

    async def end(self, end: ConversationEnd) -> None:
        """Take note of an end."""
        if self._fault is not None:
            raise self._fault
        self.ends.append(end)

    def export(self, kind: str, tenant: str) -> Iterator[bytes]:
        """Give rows."""
        assert tenant == ""
        assert kind in EXPORTS
        if self._fault is not None:
            raise self._fault
        for row in ROWS:
            yield json.dumps(row).encode()

    def app(self, token: str = "") -> Any:
        """Build the application in front of it."""
        return api(
            problems=lambda: self._problems,
            end=self.end,
            export=self.export,
            callers=callers(token),
        )


def call(
    app: Any, path: str, *, method: str = "GET", body: bytes = b"", **headers: str
) -> httpx.Response:
    """Send one request to the port."""

    async def ask() -> httpx.Response:
        transport = httpx.ASGITransport(app, raise_app_exceptions=False)
        async with httpx.AsyncClient(
            transport=transport, base_url="http://localhost:8090"
        ) as client:
            return await client.request(method, path, content=body, headers=headers)

    return asyncio.run(ask())


def post_end(app: Any, id: str, body: bytes = b"") -> httpx.Response:
    """Say that a conversation is over."""
    return call(app, f"/v1/conversations/{id}/end", method="POST", body=body)


def test_alive_and_ready() -> None:
    """A process without problems is alive and ready."""
    app = Backstage().app()

    assert call(app, "/healthz").status_code == 200
    answer = call(app, "/readyz")
    assert (answer.status_code, answer.json()) == (200, {"ready": True, "problems": []})


def test_alive_and_not_ready() -> None:
    """A process with problems is alive and says what they are."""
    app = Backstage(problems=("the store does not answer",)).app()

    assert call(app, "/healthz").status_code == 200
    answer = call(app, "/readyz")
    assert answer.status_code == 503
    assert answer.json() == {"ready": False, "problems": ["the store does not answer"]}


def test_index() -> None:
    """The root of the API says what is here."""
    assert "/healthz" in call(Backstage().app(), "/v1").json()["paths"]


@pytest.mark.parametrize(
    ("path_id", "id"),
    [
        ("conv-1", "conv-1"),
        ("a%2Fb%20c", "a/b c"),
        ("end", "end"),
        ("a%0Ab%0A", "a\nb\n"),
        ("%252F", "%2F"),
        ("c" * 1024, "c" * 1024),
        ("%C3%BC" * 1024, "ü" * 1024),
    ],
)
def test_end(path_id: str, id: str) -> None:
    """The end of a conversation is passed on, whatever characters its id has."""
    stage = Backstage()
    answer = post_end(stage.app(), path_id)

    assert (answer.status_code, answer.json()["conversation_id"]) == (202, id)
    assert stage.ends == [ConversationEnd(conversation_id=id)]


@pytest.mark.parametrize("id", ["..", ".", "a/../b", "a/end", ""])
def test_ids_that_look_like_paths(id: str) -> None:
    """Dots and slashes in an id are its own, where a client sends them as they are."""
    stage = Backstage()

    async def run() -> int:
        statuses: list[int] = []

        async def receive() -> Any:
            return {"type": "http.request", "body": b"", "more_body": False}

        async def send(message: Any) -> None:
            statuses.extend([message["status"]] if "status" in message else ())

        scope = {
            "type": "http",
            "method": "POST",
            "path": f"/v1/conversations/{id}/end",
            "query_string": b"",
            "headers": [(b"host", b"localhost")],
        }
        await stage.app()(scope, receive, send)
        return statuses[0]

    assert asyncio.run(run()) == (202 if id else 400)
    assert [end.conversation_id for end in stage.ends] == ([id] if id else [])


def test_end_within_a_scope() -> None:
    """The body says whose conversation is meant."""
    stage = Backstage()
    post_end(stage.app(), "c", b'{"tenant":"acme","environment":"live","variant":"canary"}')

    assert stage.ends == [
        ConversationEnd(conversation_id="c", tenant="acme", environment="live", variant="canary")
    ]


@pytest.mark.parametrize("body", [b"{", b"[]", b'{"tenant": 3}', b"x" * (END_BODY_BYTES + 1)])
def test_bad_ends(body: bytes) -> None:
    """A body that is not what it should be gets 400 with the reason, and nothing ends."""
    stage = Backstage()
    answer = post_end(stage.app(), "c", body)

    assert answer.status_code == 400
    assert answer.json()["error"]
    assert stage.ends == []


def test_an_endless_id() -> None:
    """An id of unreasonable length gets 400."""
    assert post_end(Backstage().app(), "x" * 2_000).status_code == 400


def test_end_when_the_journal_is_full() -> None:
    """An end that cannot be journalled gets 503 and when to try again."""
    stage = Backstage(fault=JournalFullError("full", retry_after_s=2.0))
    answer = post_end(stage.app(), "c")

    assert (answer.status_code, answer.headers["retry-after"]) == (503, "2")


@pytest.mark.parametrize("kind", EXPORTS)
def test_export(kind: str) -> None:
    """An export is one JSON document a line, complete and in order."""
    answer = call(Backstage().app(), f"/v1/export/{kind}")

    assert answer.headers["content-type"] == "application/x-ndjson"
    assert [json.loads(line) for line in answer.text.splitlines()] == ROWS


def test_export_of_nothing_we_have() -> None:
    """An unknown export gets 404, which names those there are."""
    answer = call(Backstage().app(), "/v1/export/secrets")

    assert answer.status_code == 404
    assert "conversations, scores" in answer.json()["error"]


def test_export_when_the_store_is_down() -> None:
    """A store that is down is said before the first line."""
    stage = Backstage(fault=StoreUnavailableError("the store does not answer"))
    answer = call(stage.app(), "/v1/export/scores")

    assert answer.status_code == 503
    assert answer.json() == {"error": "the store does not answer"}


def test_an_export_stops_when_its_reader_leaves() -> None:
    """A reader that leaves stops the iterator behind the export."""
    stopped = threading.Event()

    def endless(kind: str, tenant: str) -> Iterator[bytes]:
        try:
            while True:
                yield b"x" * 100_000
        finally:
            stopped.set()

    async def run() -> None:
        app = api(problems=tuple, end=Backstage().end, export=endless, callers=callers())
        left = asyncio.Event()
        sent = 0

        async def receive() -> Any:
            await left.wait()
            return {"type": "http.disconnect"}

        async def send(message: Any) -> None:
            nonlocal sent
            sent += 1
            if sent > 3:
                left.set()
            await asyncio.sleep(0)

        scope = {
            "type": "http",
            "asgi": {"spec_version": "2.3"},
            "method": "GET",
            "path": "/v1/export/scores",
            "query_string": b"",
            "headers": [(b"host", b"localhost")],
        }
        await app(scope, receive, send)

    asyncio.run(asyncio.wait_for(run(), timeout=30))

    assert stopped.wait(timeout=30)


@pytest.mark.parametrize(
    ("path", "method", "status"),
    [("/nothing", "GET", 404), ("/healthz", "POST", 405), ("/v1/conversations/c/end", "GET", 405)],
)
def test_errors_are_json(path: str, method: str, status: int) -> None:
    """Wrong paths and methods get a JSON error."""
    answer = call(Backstage().app(), path, method=method)

    assert answer.status_code == status
    assert answer.json()["error"]
    assert ("allow" in answer.headers) == (status == 405)


def test_a_bug_is_json() -> None:
    """An error nobody foresaw gets 500 as JSON, without its text."""
    answer = post_end(Backstage(fault=ZeroDivisionError("inside")).app(), "c")

    assert answer.status_code == 500
    assert "ZeroDivisionError" in answer.json()["error"]
    assert "inside" not in answer.text


def test_errors_of_pages_are_pages() -> None:
    """Outside the API a person is told of an error by a page, and inside it by JSON all the same."""
    stage = Backstage()
    app = api(
        problems=tuple,
        end=stage.end,
        export=stage.export,
        callers=callers(),
        error_page=lambda status, message: PlainTextResponse(f"Oh: {message}", status),
    )

    assert (call(app, "/nothing").status_code, call(app, "/nothing").text) == (404, "Oh: Not Found")
    assert call(app, "/v1/nothing").json() == {"error": "Not Found"}
    assert call(app, "/healthz", method="POST").json()["error"]


def test_routes_that_are_handed_in() -> None:
    """What is handed in is served beside the API, behind the same guard, and listed."""

    async def page(_request: Request) -> Response:
        return PlainTextResponse("a page")

    stage = Backstage()
    app = api(
        problems=tuple,
        end=stage.end,
        export=stage.export,
        callers=callers(),
        routes=[Route("/page", page)],
    )

    assert call(app, "/page").text == "a page"
    assert call(app, "/page", host="evil.example").status_code == 403
    assert "/page" in call(app, "/v1").json()["paths"]


def test_tools_show_the_token_as_a_password() -> None:
    """HTTP Basic does for tools, and a page of another origin cannot use what a browser keeps."""
    token = "a long phrase"  # noqa: S105  # a test's, not a secret
    app = Backstage().app(token)

    basic = "Basic " + base64.b64encode(f"somebody:{token}".encode()).decode()
    assert call(app, "/v1", authorization=basic).status_code == 200
    wrong = "Basic " + base64.b64encode(b"somebody:else").decode()
    assert call(app, "/v1", authorization=wrong).status_code == 401
    path, origin = "/v1/conversations/c/end", "https://evil.example"
    forged = call(app, path, method="POST", authorization=basic, origin=origin)
    assert forged.status_code == 403


def test_strangers_are_turned_away() -> None:
    """By a foreign host name only the probes answer."""
    app = Backstage().app()

    assert call(app, "/v1", host="evil.example").status_code == 403
    assert call(app, "/healthz", host="10.0.0.7").status_code == 200
    assert call(app, "/readyz", host="10.0.0.7").status_code == 200


def test_token() -> None:
    """With a token everything but the probes asks for it."""
    token = "a long phrase"  # noqa: S105  # a test's, not a secret
    app = Backstage().app(token)

    refused = call(app, "/v1/export/scores")
    assert (refused.status_code, refused.headers["www-authenticate"]) == (401, "Bearer")
    assert call(app, "/healthz").status_code == 200
    assert call(app, "/v1", authorization=f"Bearer {token}").status_code == 200
