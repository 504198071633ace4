"""Test what is shown of an instance, against the records its API really answers with."""

from __future__ import annotations

import io
from typing import Any

import httpx
import msgspec
import pytest

from alerts.console.alarm_log import AlarmsAnswer
from alerts.console.conversation_list import Finding, Found, FoundPage
from alerts.console.quality import Quality, ScorerQuality, Section, Share, Version
from alerts.stream_view import AlertDetail, AlertEvent, Change, StreamView
from collector.demo.console import Console
from collector.demo.mistakes import BROKEN_VERSION, HEALTHY_VERSION
from collector.demo.screen import Screen
from collector.demo.story import HOUR, Plan
from collector.demo.watch import WAIT_POLLS, WAIT_SEEN, Watch
from collector.errors import MalformedError, RetryableError

START = 500_000 * HOUR
SWITCH = START + 36 * HOUR
PLAN = Plan(start_ns=START, end_ns=START + 48 * HOUR, switch_ns=SWITCH)


def stream(hours: float, *, armed: bool = True, version: str = "", **more: Any) -> StreamView:
    """Make a stream that has seen so many hours of the story."""
    return StreamView(
        **{
            "stream": "s",
            "slice": f"version={version}" if version else "all",
            "agent": "pinewick-support",
            "agent_version": version,
            "environment": "production",
            "scorer": "false_success",
            "scorer_version": "1",
            "phase": "armed" if armed else "learning",
            "learned": 2_000 if armed else 100,
            "learned_hours": 24 if armed else int(hours),
            "reference_rate": 0.016,
            "null_rate": 0.02,
            "evidence": 7.0 if armed else 0.0,
            "threshold": 1_000_000.0 if armed else 0.0,
            "ticket_threshold": 1_000.0,
            "observations": 500 if armed else 0,
            "failures": 8.0,
            "traffic_ns": START + int(hours * HOUR),
            **more,
        }
    )


def event(hours: float, kind: Any, *, version: str = "", severity: Any = "") -> AlertEvent:
    """Make an event at an hour of the story."""
    at_ns = START + int(hours * HOUR)
    fired = kind == "fired"
    span = Change(
        low_ns=SWITCH - HOUR // 4,
        at_ns=SWITCH,
        high_ns=SWITCH + HOUR // 4,
        observations=25,
        failures=7,
    )
    return AlertEvent(
        event_id=f"{hours}{kind}{version}{severity}",
        at_ns=at_ns,
        kind=kind,
        stream="s",
        slice="all",
        detail=AlertDetail(
            agent="pinewick-support",
            agent_version=version,
            environment="production",
            scorer="false_success",
            scorer_version="1",
            severity=severity,
            evidence=2_000_000.0,
            threshold=1_000_000.0,
            reference_rate=0.016,
            null_rate=0.02,
            observations=100,
            traffic_ns=at_ns,
            change=span if fired else None,
        ),
    )


def quality(*versions: str) -> Quality:
    """Make the quality of some versions: the first good, the second bad."""
    rates = dict(zip(versions, (0.016, 0.29), strict=False))
    shares = [
        Share(agent_version=v, episodes=100, failing=1, rate=r, low=0.0, high=1.0)
        for v, r in rates.items()
    ]
    told = [
        Version(agent_version=v, episodes=100, first_ns=at_ns, last_ns=SWITCH)
        for v, at_ns in zip(versions, (START, SWITCH), strict=False)
    ]
    scorers = [ScorerQuality(scorer="false_success", versions=shares)]
    section = Section(
        agent="a",
        environment="e",
        step_s=60,
        episodes=100,
        versions=told,
        left_out=0,
        scorers=scorers,
    )
    return Quality(sections=[section])


class Instance:
    """An instance that answers what it was told to."""

    def __init__(self) -> None:
        self.alarms = AlarmsAnswer(streams=[], events=[])
        self.quality = Quality()
        self.asked: list[httpx.URL] = []
        self.screen = io.StringIO()
        client = httpx.Client(transport=httpx.MockTransport(self._answer))
        self.watch = Watch(Console("http://console", client), Screen(self.screen, {}), PLAN)

    def _answer(self, request: httpx.Request) -> httpx.Response:
        self.asked.append(request.url)
        verdict = Finding(
            scorer="s", verdict="fail", level="conversation", target="", reason="It lied.", quote=""
        )
        found = Found(
            episode_id="e 1",
            conversation_id="c1",
            episode=1,
            agent="a",
            agent_version="",
            environment="",
            variant="",
            started_ns=1,
            verdicts=[verdict],
        )
        bodies: dict[str, Any] = {
            "/v1/alarms": self.alarms,
            "/v1/quality": self.quality,
            "/v1/conversations": FoundPage(conversations=[found]),
        }
        return httpx.Response(200, content=msgspec.json.encode(bodies[request.url.path]))

    def sees(self, *streams: StreamView, events: tuple[AlertEvent, ...] = ()) -> list[str]:
        """Poll, and return the lines that it gave."""
        self.alarms = AlarmsAnswer(streams=streams, events=events)
        self.screen.seek(0)
        self.screen.truncate()
        self.watch.poll()
        return self.screen.getvalue().splitlines()


def test_the_story_unfolds() -> None:
    """Rates every few hours, what was learned, the switch, and the alarm, each told once."""
    instance = Instance()
    instance.quality = quality(HEALTHY_VERSION)
    assert instance.sees() == []
    assert instance.sees(stream(2.9, armed=False)) == []
    (line,) = instance.sees(stream(7.5, armed=False))
    assert "1.6 %" in line
    assert line.endswith("learning, 7 h of 24")
    assert instance.sees(stream(8.0, armed=False)) == []

    armed = event(25, "armed")
    first, second = instance.sees(stream(25.1), events=(armed,))
    assert "have learned what is usual" in first
    assert "7 / 1,000,000" in second
    assert "2500" in second

    instance.quality = quality(HEALTHY_VERSION, BROKEN_VERSION)
    events = (
        event(36.6, "fired", severity="page"),
        event(36.6, "fired", severity="page", version=BROKEN_VERSION),
        event(36.4, "fired", severity="ticket"),
        armed,
    )
    lines = instance.sees(stream(36.7), events=events)
    text = "\n".join(lines)
    assert "goes live" in lines[0]
    assert "ticket: false_success of pinewick-support, all versions" in lines[1]
    assert "ALARM  false_success of pinewick-support 2.4.0" in lines[3]
    assert "version 2.4.0 was first seen at" in text
    assert "version 2.3.0" not in text
    assert text.count("ALARM") == 1
    assert "28 % of 25 conversations since" in text
    assert "usual is 1.6 %" in text
    assert "http://console/conversations/e%201" in text
    assert "It lied." in text
    assert "29 %" in lines[-1]
    assert instance.sees(stream(36.8), events=events) == []


def test_no_alarm_is_told_twice() -> None:
    """After a page of all versions that of one is news, and after that no other."""
    instance = Instance()
    whole = (event(36.1, "fired", severity="page"),)
    assert any("ALARM" in line for line in waited(instance, whole))
    pages = [event(36.2, "fired", severity="page", version=v) for v in (BROKEN_VERSION, "")]
    ticket = event(36.3, "fired", severity="ticket", version=BROKEN_VERSION)
    text = "\n".join(instance.sees(stream(36.3), events=(*pages, ticket)))
    assert "ALARM  false_success of pinewick-support 2.4.0" in text
    assert "all versions" not in text
    assert instance.sees(stream(36.4), events=(event(36.4, "fired", severity="page"),)) == []


def test_the_version_to_blame_is_waited_for() -> None:
    """A page of all versions, and what follows it, waits for the version's own."""
    instance = Instance()
    instance.sees(stream(36.0))
    whole = event(36.1, "fired", severity="page")
    ticket = event(36.2, "fired", severity="ticket", version="2.3.0")
    assert instance.sees(stream(36.2), events=(whole, ticket)) == []
    blamed = event(36.3, "fired", severity="page", version=BROKEN_VERSION)
    lines = instance.sees(stream(36.3), events=(whole, ticket, blamed))
    assert lines[0].endswith("page: false_success of pinewick-support, all versions")
    text = "\n".join(lines)
    assert text.count("ALARM") == 1
    assert "ALARM  false_success of pinewick-support 2.4.0" in text


def test_the_version_to_blame_is_not_waited_for_long() -> None:
    """After some conversations, or at the end, the alarm is told without it."""
    whole = (event(36.1, "fired", severity="page"),)
    busy, over = Instance(), Instance()
    for instance in (busy, over):
        instance.sees(stream(36.0))
        assert instance.sees(stream(36.1), events=whole) == []
    later = busy.sees(stream(36.2, observations=500 + WAIT_SEEN), events=whole)
    over.watch.tell_all()
    for lines in (later, over.screen.getvalue().splitlines()):
        assert "ALARM  false_success of pinewick-support, all versions" in "\n".join(lines)


def waited(instance: Instance, events: tuple[AlertEvent, ...]) -> list[str]:
    """Poll until nothing is waited for any more, and return all lines."""
    return [
        line for _ in range(WAIT_POLLS + 1) for line in instance.sees(stream(36.1), events=events)
    ]


def test_examples_are_those_of_the_alarm() -> None:
    """They are asked for by scorer, agent and version, and began between change and alarm."""
    instance = Instance()
    fired = event(36.5, "fired", severity="page", version=BROKEN_VERSION)
    instance.sees(stream(36.5), events=(fired,))
    (asked,) = [url for url in instance.asked if url.path == "/v1/conversations"]
    assert dict(asked.params) == {
        "scorer": "false_success",
        "agent": "pinewick-support",
        "version": BROKEN_VERSION,
        "since": str(SWITCH - HOUR // 4),
        "until": str(fired.detail.traffic_ns + 1),
        "limit": "3",
    }


def test_the_end_of_an_alarm() -> None:
    """It is told."""
    (line, _) = Instance().sees(stream(40.0), events=(event(40, "cleared", severity="page"),))
    assert line.endswith("goes live: from here on it takes every new conversation")
    instance = Instance()
    lines = instance.sees(stream(40.0), events=(event(40, "cleared", severity="page"),))
    assert any("the page is over" in one for one in lines)


def test_an_instance_that_does_not_answer() -> None:
    """The error is the caller's, who asks again; an answer that makes no sense is another one."""
    answers = iter((httpx.Response(503), httpx.Response(200, content=b"[]")))
    client = httpx.Client(transport=httpx.MockTransport(lambda _: next(answers)))
    watch = Watch(Console("http://console", client), Screen(io.StringIO(), {}), PLAN)
    with pytest.raises(RetryableError):
        watch.poll()
    with pytest.raises(MalformedError):
        watch.poll()
