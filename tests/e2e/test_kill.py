"""A real process that is killed, told to stop or cut off from its store loses and doubles nothing."""

from __future__ import annotations

import random
import signal
import time
from pathlib import Path

import pytest

from tests.clickhouse_endpoint import Endpoint
from tests.e2e.served import Scraping, Sending, Served, eventually
from tests.e2e.traffic import synthetic
from tests.faults.books import check_once, planned, undisturbed

MANY = pytest.mark.slow


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
