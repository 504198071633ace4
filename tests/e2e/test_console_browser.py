"""Open the console's pages in a real browser, on a desktop's and a phone's screen."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx
import msgspec
import pytest
import uvicorn
from playwright.sync_api import Browser, BrowserContext, Page, ViewportSize, sync_playwright

from alerts.console.routes import Console, Learning
from collector.api import api
from collector.model import Conversation, Message, ToolRequest
from collector.stores.clickhouse import ClickHouseStore
from tests.alerts.console.front import (
    CHANGE,
    HOUR,
    NOW_NS,
    episode,
    event,
    fill,
    fill_events,
    fill_points,
    stream,
    verdict,
)
from tests.build import identity
from tests.collector.access import callers
from tests.debian import program
from tests.e2e.served import PATIENCE_S, Sending, Served, eventually, free_ports
from tests.e2e.traffic import requests_of, synthetic

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]

SCREENS: dict[str, ViewportSize] = {
    "desktop": {"width": 1280, "height": 800},
    "phone": {"width": 390, "height": 844},
}
OTHER = """<iframe src="%s/login"></iframe>
<form method="post" action="%s/logout"><button>Win</button></form>"""
HOSTILE = '"><img src=x onerror=alert(1)></script><script>alert(2)</script>'


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Start the browser."""
    chromium = program("chromium", "chromium-browser")
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        yield started
        started.close()


@pytest.fixture(params=list(SCREENS))
def screen(request: pytest.FixtureRequest, browser: Browser) -> Iterator[BrowserContext]:
    """Give a window of one size."""
    context = browser.new_context(viewport=SCREENS[request.param])
    yield context
    context.close()


def hostile(conversation: Conversation) -> Conversation:
    """Let a conversation say markup wherever a trace can."""
    return msgspec.structs.replace(
        conversation,
        id=f"{conversation.id}{HOSTILE}",
        identity=identity(HOSTILE, agent_version=HOSTILE, environment=HOSTILE),
        system_prompt=HOSTILE,
        tools=tuple(
            msgspec.structs.replace(tool, name=f"{tool.name}{HOSTILE}", description=HOSTILE)
            for tool in conversation.tools
        ),
        messages=tuple(map(hostile_message, conversation.messages)),
    )


def hostile_message(message: Message) -> Message:
    """Let a message say markup in its words and its tool calls."""
    return msgspec.structs.replace(
        message,
        text=f"{message.text} {HOSTILE}",
        tool_name=message.tool_name and f"{message.tool_name}{HOSTILE}",
        tool_requests=tuple(
            ToolRequest(
                id=request.id,
                name=f"{request.name}{HOSTILE}",
                arguments={HOSTILE: [HOSTILE, {"deep": HOSTILE}]},
            )
            for request in message.tool_requests
        ),
    )


def tell_hostile(served: Served, conversation_id: str) -> None:
    """Let people and systems say markup too."""
    about = {"conversation_id": conversation_id, "environment": HOSTILE}
    words = {
        "outcomes": {"name": HOSTILE, "value": HOSTILE, "source": HOSTILE, "tool": HOSTILE},
        "labels": {
            "scorer": HOSTILE,
            "verdict": "fail",
            "category": HOSTILE,
            "author": HOSTILE,
            "comment": HOSTILE,
            "source": HOSTILE,
        },
    }
    for kind, word in words.items():
        url = f"{served.console}/v1/{kind}"
        assert served.client.post(url, json={**about, **word}).status_code == 202
    eventually(
        lambda: bool(served.export("labels") and served.export("outcomes")),
        "what was told is stored",
    )


@pytest.fixture(scope="module")
def live(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """Run an instance that got ordinary traffic, and traffic that says markup everywhere."""
    with Served(tmp_path_factory.mktemp("live") / "data") as served:
        talks = [
            *synthetic(60, seed=5),
            *map(hostile, synthetic(9, seed=6, agent_name="hostile")),
        ]
        sending = Sending(served, requests_of(talks))
        sending.start()
        sending.finish()
        served.settled(len(talks))
        yield served


def answers(url: str) -> bool:
    """Say whether anybody answers."""
    try:
        httpx.get(f"{url}/healthz", trust_env=False, timeout=PATIENCE_S)
    except httpx.TransportError:
        return False
    return True


def listed(url: str, query: str = "") -> list[dict[str, Any]]:
    """Return the conversations of the API."""
    answer = httpx.get(f"{url}/v1/conversations?{query}", trust_env=False, timeout=PATIENCE_S)
    found: list[dict[str, Any]] = answer.json()["conversations"]
    return found


def opened(context: BrowserContext, url: str, path: str) -> Page:
    """Open a page and hold that the browser has nothing to complain of."""
    page = context.new_page()
    complaints: list[str] = []
    page.on("console", lambda said: complaints.append(f"{said.type}: {said.text}"))
    page.on("pageerror", lambda error: complaints.append(f"error: {error}"))
    page.on("dialog", lambda dialog: complaints.append(f"dialog: {dialog.message}"))
    page.on(
        "request",
        lambda request: None if request.url.startswith(url) else complaints.append(request.url),
    )
    page.on("requestfailed", lambda request: complaints.append(f"failed: {request.url}"))
    answer = page.goto(f"{url}{path}", wait_until="load")
    assert answer is not None
    assert answer.status == 200, path
    look_over(page)
    assert complaints == [], path
    width = page.evaluate("document.documentElement.scrollWidth - innerWidth")
    assert width <= 0, f"{path} is {width} pixels too wide"
    return page


def look_over(page: Page) -> None:
    """Scroll through a page, so that every chart comes into sight and is drawn."""
    for chart in page.query_selector_all(".chart"):
        chart.scroll_into_view_if_needed()
    page.wait_for_function(
        "[...document.querySelectorAll('.chart')].every(c => c.dataset.drawn)",
        timeout=PATIENCE_S * 1_000,
    )


def test_every_page(live: Served, screen: BrowserContext) -> None:
    """Every page fits the screen, draws its charts and breaks no rule of its own."""
    first = next(c for c in listed(live.console) if "hostile" not in c["conversation_id"])
    for path in (
        "/",
        "/?range=all&agent=kettle-support",
        "/conversations",
        "/conversations?verdict=any",
        f"/conversations/{first['episode_id']}",
        f"/ledger?id={first['conversation_id']}",
        "/alerts",
    ):
        page = opened(screen, live.console, path)
        assert page.locator("h1").count() >= 1
        if path == "/":
            charts = page.locator(".chart").count()
            assert charts > 0
            assert page.locator(".chart .scatterlayer .js-line").count() >= charts
        if path == f"/conversations/{first['episode_id']}":
            for verdict_shown in page.locator(".verdicts li").all():
                box = verdict_shown.bounding_box()
                assert box is not None
                assert box["x"] >= 0
        page.close()


def test_hostile_content(live: Served, screen: BrowserContext) -> None:
    """What a trace says is shown as words, in pages and charts, and nothing of it runs."""
    found = [c for c in listed(live.console) if HOSTILE in c["conversation_id"]]
    assert found
    tell_hostile(live, found[0]["conversation_id"])
    for path in (
        "/",
        "/conversations",
        f"/conversations/{found[0]['episode_id']}",
        f"/ledger?id={quote(found[0]['conversation_id'], safe='')}",
        f"/conversations?agent={quote(HOSTILE, safe='')}",
    ):
        page = opened(screen, live.console, path)
        assert HOSTILE in page.locator("body").inner_text()
        assert page.locator("img[src=x]").count() == 0
        page.close()


def test_from_the_list_to_the_words(live: Served, screen: BrowserContext) -> None:
    """A click on a failing conversation and then on its evidence shows the marked words."""
    page = opened(screen, live.console, "/conversations?scorer=false_success&agent=kettle-support")
    page.locator(".found a.id").first.click()
    page.locator(".verdicts li.fail .pointer a").first.click()
    page.wait_for_function("location.hash.length > 1")
    assert page.locator("mark.fails").first.is_visible()
    page.close()


def test_by_keyboard(live: Served, screen: BrowserContext) -> None:
    """The first key press offers to skip the navigation, and folded calls open by keyboard."""
    page = opened(screen, live.console, "/conversations?scorer=looping&agent=kettle-support")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "to-content"
    page.locator(".found a.id").first.press("Enter")
    summary = page.locator("details.aside summary").first
    summary.press("Enter")
    assert page.locator("details.aside[open]").count() == 1
    page.close()


def test_login(tmp_path: Path, screen: BrowserContext) -> None:
    """With a token a browser logs in by a form, goes where it wanted to, and out again."""
    token = "a long enough phrase"  # noqa: S105  # a test's, not a secret
    with Served(tmp_path / "data", AUTH__TOKEN=token) as served:
        eventually(lambda: answers(served.console), "the console answers")
        page = opened(screen, served.console, "/ledger?range=7d")
        assert page.url.startswith(f"{served.console}/login?")
        page.get_by_label("Token").fill("something else")
        page.get_by_role("button", name="Log in").click()
        assert "no token that may read" in page.inner_text("main")
        assert screen.cookies() == []
        page.get_by_label("Token").fill(token)
        page.keyboard.press("Enter")
        page.wait_for_url(f"{served.console}/ledger?range=7d")
        (cookie,) = screen.cookies()
        assert (cookie["httpOnly"], cookie["sameSite"]) == (True, "Strict")
        assert page.evaluate("document.cookie") == ""
        opened(screen, served.console, "/").close()
        page.get_by_role("button", name="Log out").click()
        page.wait_for_url(f"{served.console}/login")
        assert screen.cookies() == []
        assert opened(screen, served.console, "/").url.startswith(f"{served.console}/login?")


@contextmanager
def other_site(page: str) -> Iterator[str]:
    """Serve a page from a host that a browser takes for another site than 127.0.0.1."""

    class Evil(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("content-type", "text/html")
            self.end_headers()
            self.wfile.write(page.encode())

        def log_message(self, *_: Any) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Evil)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://localhost:{server.server_port}/"
    server.shutdown()
    server.server_close()
    thread.join(PATIENCE_S)


def test_pages_of_other_sites(tmp_path: Path, browser: Browser) -> None:
    """A page of another site can neither post for whoever is logged in nor show a page in a frame."""
    token = "a long enough phrase"  # noqa: S105  # a test's, not a secret
    with Served(tmp_path / "data", AUTH__TOKEN=token) as served:
        eventually(lambda: answers(served.console), "the console answers")
        context = browser.new_context()
        page = opened(context, served.console, "/")
        page.get_by_label("Token").fill(token)
        page.keyboard.press("Enter")
        page.wait_for_url(f"{served.console}/")
        with other_site(OTHER % (served.console, served.console)) as evil:
            forged = context.new_page()
            forged.goto(evil)
            framed = forged.frames[1]
            framed.wait_for_load_state("load")
            assert "Outrider" not in framed.content()
            with forged.expect_response(lambda answer: answer.url.endswith("/logout")) as caught:
                forged.get_by_role("button").click()
            assert caught.value.status == 403
        page.reload()
        assert page.url == f"{served.console}/"
        context.close()


@pytest.fixture
def staged(tmp_path: Path) -> Iterator[str]:
    """Serve the console over a store in which a new version broke an hour ago."""
    store = ClickHouseStore.embedded(tmp_path / "store")
    store.migrate(ttl_days=0, verdict_days=0)
    episodes = []
    for number in range(120):
        late = number >= 60
        name = "fail" if number % 2 and late else "pass"
        talk = f"talk-{number:03d}"
        version = "v8" if late else "v7"
        verdicts = verdict(talk, name=name)
        episodes.append(episode(talk, verdicts, at_s=number * 60, version=version))
    fill(store, *episodes)
    broken = stream(
        slice="version=v8",
        agent_version="v8",
        firing=("ticket", "page"),
        change=CHANGE,
        evidence=9_000.0,
    )
    whole = stream(firing=("ticket",), change=CHANGE, evidence=400.0)
    fill_points(store, broken, [1.0, 2.0, 3.0, 2.0, 5.0, 40.0, 900.0, 9_000.0, 9_000.0])
    fill_points(store, whole, [1.0, 1.0, 2.0, 1.0, 2.0, 20.0, 90.0, 300.0, 400.0])
    fill_events(store, event("a" * 32, kind="armed"), event("b" * 32, at_s=HOUR / 1e9))
    console = Console(
        lambda _tenant: store,
        tenant_of=lambda _request: "",
        alarms=lambda: (broken, whole),
        clock_ns=lambda: NOW_NS,
        learning=Learning(conversations=1_000, hours=24.0),
    )

    async def nobody(_end: object) -> None:
        raise AssertionError

    app = api(
        problems=tuple,
        end=nobody,
        export=lambda *_: iter(()),
        callers=callers(),
        routes=console.routes(),
        error_page=console.error_page,
    )
    (port,) = free_ports(1)
    server = uvicorn.Server(uvicorn.Config(app, port=port, log_level="error", lifespan="off"))
    thread = threading.Thread(target=server.run)
    thread.start()
    while not server.started:
        time.sleep(0.02)
    yield f"http://127.0.0.1:{port}"
    server.should_exit = True
    thread.join(PATIENCE_S)
    store.close()


def test_an_alarm(staged: str, screen: BrowserContext) -> None:
    """An alarm says what broke and since when, the chart shades it, and its link proves it."""
    page = opened(screen, staged, "/")
    headline = " ".join(page.locator(".alarm.page .headline").inner_text().split())
    assert "looping of shop v8 in prod fails 41 % of conversations since" in headline
    assert page.locator(".chart .shapelayer path").count() >= 5
    page.get_by_text("failing conversations").first.click()
    assert page.locator(".found a.id").count() > 0
    page.close()
    alerts = opened(screen, staged, "/alerts")
    assert alerts.locator(".events > li").count() == 2
    alerts.close()
