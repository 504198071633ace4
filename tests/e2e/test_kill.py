"""A real process that is killed, told to stop or cut off from its store loses and doubles nothing."""

from __future__ import annotations

import random
import signal
import time
from collections.abc import Sequence
from pathlib import Path

import pytest
from prometheus_client.exposition import generate_latest

from alerts.exporter import Exporter
from collector.config import Config, StoreConfig
from collector.journal import Journal
from collector.model import Conversation
from collector.replay import Request
from collector.totals import SeriesKey
from tests.clickhouse_endpoint import Endpoint
from tests.e2e.checks import check_counts, check_exports, counted_once
from tests.e2e.instance import Clock, Instance
from tests.e2e.served import Scraping, Sending, Served, eventually, never_falls, parsed, summed
from tests.e2e.traffic import requests_of, synthetic

MANY = pytest.mark.slow


def planned(conversations: Sequence[Conversation]) -> list[Request]:
    """Plan small requests that each carry a few of the conversations under way."""
    return requests_of(conversations, interleave=12, batch=6)


def undisturbed(directory: Path, requests: Sequence[Request]) -> dict[SeriesKey, float]:
    """Process the same requests once without any trouble, and scrape the totals.

    They are the same with a store and without, so there is none.
    """
    config = Config(store=StoreConfig(url="http://127.0.0.1:9"))
    with Instance(directory, clock=Clock(), config=config) as instance:
        instance.send(request.body for request in requests)
        instance.later(5)
        text = generate_latest(Exporter(instance.path.journal.totals)).decode()
    return totals_of(parsed(text))


def totals_of(series: dict[SeriesKey, float]) -> dict[SeriesKey, float]:
    """Keep what neither a crash nor a resend may change."""
    return counted_once({key: value for key, value in series.items() if never_falls(key[0])})


def check_balance(data_dir: Path) -> None:
    """Hold received = settled + in flight, as the stopped instance's journal tells."""
    journal = Journal.open(
        data_dir / "journal.db", max_bytes=1 << 40, seen_limit=1_000_000, clock_ns=time.time_ns
    )
    try:
        totals = journal.totals()
        received = summed(totals, "spans_received_total")
        settled = summed(totals, "stage_items_total", stage="assemble")
        assert received > 0
        assert received == settled + journal.spans_in_flight()
        assert summed(totals, "spans_duplicate_total") == received - summed(
            totals, "stage_items_total", stage="assemble", result="new"
        )
    finally:
        journal.close()


def check_once(
    served: Served, conversations: Sequence[Conversation], want: dict[SeriesKey, float]
) -> None:
    """Hold that everything came out once, stop, and hold that the books agree."""
    series = served.settled(len(conversations))
    check_exports(served.export, conversations)
    check_counts(lambda name: summed(series, name), conversations)
    assert totals_of(series) == pytest.approx(want)
    assert served.ready() == (200, [])
    served.signal()
    assert served.ended() == 0
    check_balance(served.data_dir)


def crash(served: Served, *, after_s: float) -> None:
    """Kill the process a moment from now, and start it again."""
    time.sleep(after_s)
    served.kill()
    served.start()


@pytest.mark.parametrize("seed", [1, 2, *(pytest.param(n, marks=MANY) for n in range(3, 11))])
def test_kills_at_random_moments_change_nothing(
    tmp_path: Path, endpoint: Endpoint, seed: int
) -> None:
    """Whatever the process was doing when it died: every conversation once, every counter rising."""
    conversations = synthetic(60, seed=100 + seed)
    requests = planned(conversations)
    want = undisturbed(tmp_path / "calm", requests)
    chance = random.Random(seed)  # noqa: S311 - a seeded test
    server = {"STORE__URL": endpoint.url, "STORE__DATABASE": f"kill_{seed}"}
    with Served(tmp_path / "data", **({} if seed % 2 else server)) as served:
        scraping, sending = Scraping(served), Sending(served, requests)
        scraping.start()
        sending.start()
        for point in sorted(chance.sample(range(1, len(requests)), 1 if seed < 3 else 2)):
            sending.wait_for(point)
            crash(served, after_s=chance.choice([0.0, chance.random() / 20, chance.random()]))
        sending.finish()
        crash(served, after_s=chance.random() * 3)
        check_once(served, conversations, want)
        scraping.finish()


@pytest.mark.parametrize("seed", [1, *(pytest.param(n, marks=MANY) for n in range(2, 6))])
def test_resends_around_a_kill_change_nothing(
    tmp_path: Path, endpoint: Endpoint, seed: int
) -> None:
    """Every request twice, a crash in between, and all of them again after the decision."""
    conversations = synthetic(40, seed=200 + seed)
    requests = planned(conversations)
    want = undisturbed(tmp_path / "calm", requests)
    chance = random.Random(seed)  # noqa: S311 - a seeded test
    server = {"STORE__URL": endpoint.url, "STORE__DATABASE": f"resent_{seed}"}
    with Served(tmp_path / "data", **(server if seed % 2 else {})) as served:
        scraping = Scraping(served)
        scraping.start()
        sending = Sending(served, [request for request in requests for _ in range(2)])
        sending.start()
        sending.wait_for(chance.randrange(1, len(requests)))
        crash(served, after_s=chance.random() / 10)
        sending.finish()
        served.settled(len(conversations))
        again = Sending(served, requests)
        again.start()
        again.wait_for(chance.randrange(1, len(requests)))
        crash(served, after_s=chance.random() / 10)
        again.finish()
        check_once(served, conversations, want)
        scraping.finish()


def test_told_to_stop_under_load_it_stops_and_loses_nothing(tmp_path: Path) -> None:
    """SIGTERM in the middle of a burst: exit 0, and the next process goes on where it stopped."""
    conversations = synthetic(40, seed=301)
    requests = planned(conversations)
    want = undisturbed(tmp_path / "calm", requests)
    with Served(tmp_path / "data") as served:
        scraping, sending = Scraping(served), Sending(served, requests)
        scraping.start()
        sending.start()
        sending.wait_for(len(requests) // 2)
        served.signal()
        assert served.ended() == 0
        served.start()
        sending.finish()
        check_once(served, conversations, want)
        scraping.finish()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_second_signal_ends_a_stop_that_takes_long(
    tmp_path: Path, endpoint: Endpoint, number: signal.Signals
) -> None:
    """A store that hangs holds the drain up; whoever asks again is not kept waiting."""
    endpoint.fault("hang", match="INSERT INTO")
    with Served(
        tmp_path / "data", STORE__URL=endpoint.url, STORE__DATABASE=f"stop_{number}"
    ) as served:
        sending = Sending(served, planned(synthetic(3, seed=302)))
        sending.start()
        sending.finish()
        eventually(lambda: served.value("outbox_rows") > 0, "something waits for the store")
        served.signal(number)
        eventually(lambda: not served.receives(), "the ports are closed")
        served.signal(number)
        assert served.ended() == -number
