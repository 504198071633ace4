"""Stand before the console: fill its store, ask for its pages, and read them as a browser does."""

from __future__ import annotations

import asyncio
import functools
from collections.abc import Callable, Iterable, Sequence
from html.parser import HTMLParser
from typing import Any

import httpx
import msgspec

from alerts.console.routes import Console, Learning
from alerts.console.store import Store
from alerts.detectors.detection import event_row
from alerts.stream_view import AlertDetail, AlertEvent, Change, StreamView
from collector.api import api
from collector.guard import grant_of
from collector.model import Decided, Evidence, Identity, ScoreRecord
from collector.stamps import stamp
from collector.stores.clickhouse import ClickHouseStore
from collector.stores.rows import rows_of
from collector.stores.tenancy import of_tenant
from tests.collector.access import callers
from tests.collector.stores.episodes import SECOND, START_NS, WHO, decided

HOUR = 3_600 * SECOND
NOW_NS = START_NS + 2 * HOUR


def verdict(
    id: str,
    scorer: str = "looping",
    name: Any = "pass",
    *,
    target: str = "",
    revision: int = 0,
    reason: str = "Because.",
    evidence: tuple[Evidence, ...] = (),
) -> ScoreRecord:
    """Build a score."""
    return ScoreRecord(
        score_id=f"{id}-{scorer}-{target}-{revision}",
        conversation_id=id,
        episode=1,
        level="tool_call" if target else "conversation",
        target=target,
        scorer=scorer,
        scorer_version="1",
        revision=revision,
        value={"pass": 1.0, "fail": 0.0}.get(name),
        verdict=name,
        reason=reason,
        evidence=evidence,
        scored_ns=START_NS,
    )


def episode(
    id: str,
    *verdicts: ScoreRecord,
    at_s: float = 0.0,
    version: str = "v7",
    who: Identity = WHO,
    **more: Any,
) -> Decided:
    """Build a decided episode that began some seconds after the start of all."""
    whole = decided(id, who=msgspec.structs.replace(who, agent_version=version), **more)
    started = START_NS + int(at_s * SECOND)
    moved = msgspec.structs.replace(
        whole.conversation.episode, started_ns=started, ended_ns=started + SECOND
    )
    return msgspec.structs.replace(
        whole,
        conversation=msgspec.structs.replace(whole.conversation, episode=moved),
        scores=verdicts or whole.scores,
    )


def fill(store: ClickHouseStore, *episodes: Decided) -> None:
    """Store episodes, all at once."""
    rows: dict[str, list[tuple[Any, ...]]] = {}
    for one in episodes:
        for table, more in rows_of(one).items():
            rows.setdefault(table, []).extend(more)
    store.insert(rows)


def fill_events(store: ClickHouseStore, *events: AlertEvent) -> None:
    """Store alert events."""
    store.insert({"alert_events": [event_row(event) for event in events]})


def fill_points(store: ClickHouseStore, view: StreamView, values: Iterable[float]) -> None:
    """Store evidence, a value each ten minutes."""
    store.insert(
        {
            "detector_points": [
                (view.stream, view.slice, stamp(START_NS + n * HOUR // 6), value, 1000.0, n, 0.0)
                for n, value in enumerate(values)
            ]
        }
    )


def stream(**more: Any) -> StreamView:
    """Build an armed stream of the episodes' agent."""
    view = StreamView(
        stream="shop/prod/looping@1",
        slice="all",
        agent="shop",
        agent_version="",
        environment="prod",
        scorer="looping",
        scorer_version="1",
        phase="armed",
        learned=1_000,
        learned_hours=24,
        reference_rate=0.018,
        null_rate=0.03,
        evidence=12.0,
        threshold=1_000.0,
        ticket_threshold=80.0,
        observations=200,
        failures=8.0,
        traffic_ns=NOW_NS,
    )
    return msgspec.structs.replace(view, **more)


CHANGE = Change(
    low_ns=START_NS,
    at_ns=START_NS + HOUR,
    high_ns=START_NS + 2 * HOUR,
    observations=50,
    failures=20.5,
)


def event(id: str = "a" * 32, *, at_s: float = 0.0, kind: Any = "fired", **more: Any) -> AlertEvent:
    """Build an alert event."""
    detail = AlertDetail(
        agent="shop",
        agent_version="v7",
        environment="prod",
        scorer="looping",
        scorer_version="1",
        severity="" if kind == "armed" else "page",
        evidence=1_200.0,
        threshold=1_000.0,
        reference_rate=0.018,
        null_rate=0.03,
        observations=70,
        traffic_ns=START_NS,
        change=CHANGE if kind == "fired" else None,
    )
    return AlertEvent(
        event_id=id,
        at_ns=START_NS + int(at_s * SECOND),
        kind=kind,
        stream="shop/prod/looping@1",
        slice="version=v7",
        detail=msgspec.structs.replace(detail, **more),
    )


class Front:
    """Ask the console in this process."""

    def __init__(
        self,
        store: Store,
        *streams: StreamView,
        now_ns: int = NOW_NS,
        clock_ns: Callable[[], int] | None = None,
        loaded: bool = True,
    ) -> None:
        console = Console(
            functools.partial(of_tenant, store),
            tenant_of=lambda request: grant_of(request).tenant,
            alarms=lambda: streams if loaded else None,
            clock_ns=clock_ns or (lambda: now_ns),
            learning=Learning(conversations=1_000, hours=24.0),
        )
        self._app = api(
            problems=tuple,
            end=_nobody,
            export=lambda *_: iter(()),
            callers=callers(),
            routes=console.routes(),
            error_page=console.error_page,
        )

    def get(self, path: str, **headers: str) -> httpx.Response:
        """Send one request."""

        async def ask() -> httpx.Response:
            transport = httpx.ASGITransport(self._app, raise_app_exceptions=False)
            async with httpx.AsyncClient(
                transport=transport, base_url="http://localhost"
            ) as client:
                return await client.get(path, headers=headers)

        return asyncio.run(ask())

    def json(self, path: str) -> Any:
        """Return the JSON of an answer that succeeded."""
        answer = self.get(path)
        assert answer.status_code == 200, answer.text
        return answer.json()

    def page(self, path: str) -> Page:
        """Return a page that succeeded."""
        answer = self.get(path)
        assert answer.status_code == 200, answer.text
        return Page(answer.text)


async def _nobody(_end: object) -> None:
    raise AssertionError("the console ends no conversation")


class Page(HTMLParser):
    """Read a page: its words, its elements and their attributes."""

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[tuple[str, dict[str, str]]] = []
        self._words: list[str] = []
        self._data: list[str] = []
        self._in_script = False
        self.comments: list[str] = []
        self.feed(html)
        self.close()

    @property
    def text(self) -> str:
        """Everything that is written on the page, runs of space as one."""
        return " ".join("".join(self._words).split())

    @property
    def data(self) -> Any:
        """What the page gives its script."""
        return msgspec.json.decode("".join(self._data))

    def links(self, start: str = "") -> list[str]:
        """Return where the links go."""
        found = [tags["href"] for name, tags in self.tags if name == "a" and "href" in tags]
        return [link for link in found if link.startswith(start)]

    def attributes(self, *names: str) -> Sequence[str]:
        """Return the values of some attributes, wherever they stand."""
        return [tags[name] for _, tags in self.tags for name in names if name in tags]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Take note of an element."""
        self.tags.append((tag, {name: value or "" for name, value in attrs}))
        self._in_script = tag == "script"

    def handle_endtag(self, tag: str) -> None:
        """Take note of the end of one."""
        if tag == "script":
            self._in_script = False

    def handle_comment(self, data: str) -> None:
        """Take note of a comment."""
        self.comments.append(data)

    def handle_data(self, data: str) -> None:
        """Take note of words."""
        (self._data if self._in_script else self._words).append(data)
