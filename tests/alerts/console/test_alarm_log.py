"""Test what is told of alarms."""

from __future__ import annotations

import msgspec

from alerts.console import words
from alerts.console.firing import alarms_of
from alerts.stream_view import AlertEvent, StreamView
from collector.errors import StoreUnavailableError
from collector.stores.clickhouse import ClickHouseStore
from tests.alerts.console.front import (
    CHANGE,
    NOW_NS,
    Front,
    Page,
    episode,
    event,
    fill,
    fill_events,
    stream,
    verdict,
)
from tests.alerts.console.test_store import Ailing
from tests.collector.stores.episodes import START_NS


def test_streams_and_events(store: ClickHouseStore) -> None:
    """The API gives the streams as they are and the events newest first, each once."""
    first, last = event("a" * 32), event("b" * 32, at_s=5, kind="cleared", reason="recovered")
    fill_events(store, first, last)
    fill_events(store, first)

    found = Front(store, stream()).json("/v1/alarms")
    assert msgspec.convert(found["streams"], list[StreamView]) == [stream()]
    assert msgspec.convert(found["events"], list[AlertEvent]) == [last, first]
    assert found["events"][1]["detail"]["change"]["failures"] == 20.5
    assert len(Front(store).json("/v1/alarms?limit=1")["events"]) == 1


def test_before_the_states_are_read(store: ClickHouseStore) -> None:
    """After a start nobody is told that all is calm before it is known."""
    fill(store, episode("e", verdict("e")))
    front = Front(store, loaded=False)

    page = front.page("/")
    assert "The detectors' state is still being read" in page.text
    assert "Nothing is firing" not in page.text
    found = front.json("/v1/alarms")
    assert (found["loaded"], found["streams"]) == (False, [])
    assert "still being read" in found["note"]
    assert Front(store).json("/v1/alarms")["loaded"]


def test_before_anything_is_stored() -> None:
    """Without tables there is no state to wait for."""
    front = Front(Ailing(tables=False), loaded=False)

    assert "No detector has seen traffic yet" in front.page("/").text
    assert (front.json("/v1/alarms")["loaded"], front.json("/v1/alarms")["note"]) == (True, "")


def test_while_the_store_is_away() -> None:
    """What fires is told without the store, with a note of what is missing."""
    away = Ailing(StoreUnavailableError("it is away"))
    front = Front(away, stream(firing=("page",), change=CHANGE))

    found = front.json("/v1/alarms")
    assert (len(found["streams"]), found["events"], found["loaded"]) == (1, [], True)
    assert "it is away" in found["note"]
    answer = front.get("/")
    page = Page(answer.text)
    assert answer.status_code == 503
    assert "looping of shop (all versions) in prod fails 41 %" in page.text
    assert "it is away" in page.text
    assert "No conversations" not in page.text
    assert Front(away, loaded=False).get("/v1/alarms").status_code == 503


def test_pages_say_when_they_were_made(store: ClickHouseStore) -> None:
    """Every page has its time; those that change by themselves are loaded anew."""
    front = Front(store)
    for path, renewed in (("/", True), ("/alerts", True), ("/ledger", False)):
        page = front.page(path)
        assert f"as of {words.to_the_second(NOW_NS)} UTC" in page.text
        assert any("refresh.js" in src for src in page.attributes("src")) == renewed


def test_the_page(store: ClickHouseStore) -> None:
    """The page says in words what was armed, fired and cleared, and links to the conversations."""
    fill_events(
        store,
        event("a" * 32, kind="armed"),
        event("b" * 32, at_s=5),
        event("c" * 32, at_s=9, kind="cleared", reason="silent"),
    )
    page = Front(store).page("/alerts")

    assert "looping of shop v7 in prod fails 41 % of 50 conversations since" in page.text
    assert "got no traffic any more" in page.text
    assert "is armed: usual is 1.8 %" in page.text
    assert (
        f"/conversations?scorer=looping&agent=shop&version=v7&environment=prod&since={CHANGE.at_ns}"
        in page.links()
    )


def test_paging(store: ClickHouseStore) -> None:
    """Older events are a page away, without a gap where several came at one moment."""
    fill_events(store, *(event(f"{n:032x}", at_s=n // 3) for n in range(130)))
    front = Front(store)

    first = front.page("/alerts")
    (older,) = first.links("/alerts?")
    second = front.page(older)
    assert first.text.count("fired page") == 100
    assert second.text.count("fired page") == 30
    assert second.links("/alerts?") == []
    assert front.get("/alerts?cursor=soon").status_code == 400


def test_an_event_of_another_version(store: ClickHouseStore) -> None:
    """An event that cannot be read is counted and the others are shown."""
    fill_events(store, event())
    store.insert(
        {"alert_events": [("d" * 32, f"{START_NS // 10**9}.000000000", "fired", "s", "all", "{}")]}
    )
    front = Front(store)

    assert "1 events of another version" in front.page("/alerts").text
    assert len(front.json("/v1/alarms")["events"]) == 1


def test_what_fires_in_words() -> None:
    """One entry for each agent and scorer: the version rather than the whole, pages first."""
    whole = stream(firing=("ticket", "page"), evidence=9e3, change=CHANGE)
    part = stream(
        slice="version=v8",
        agent_version="v8",
        firing=("ticket", "page"),
        evidence=2e3,
        change=CHANGE,
    )
    other = stream(scorer="other", firing=("ticket",))
    first, second = alarms_of([other, whole, part, stream(scorer="calm")])

    assert (first.view.slice, first.severity, first.also) == ("version=v8", "page", ["all"])
    assert first.rate == 0.41
    assert (first.search.version, first.search.period.since_ns) == ("v8", CHANGE.at_ns)
    assert (second.view.scorer, second.severity, second.rate) == ("other", "ticket", 0.04)
