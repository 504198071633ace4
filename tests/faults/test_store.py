"""Whatever a ClickHouse server does wrong, everything is in it once when it is well again."""

from __future__ import annotations

import random
import time
from pathlib import Path
from typing import Any

import msgspec
import pytest

from collector.stores.clickhouse import ClickHouseStore
from tests.clickhouse_endpoint import Endpoint, FaultMode
from tests.e2e.served import Sending, Served, eventually
from tests.e2e.traffic import synthetic
from tests.faults.books import check_once, planned, stored, undisturbed

LONG = pytest.mark.faults
UNCLEAR = (16, 1002)
"""Codes that a row's fault may be behind, which is looked into by more inserts."""
ROWS = "FORMAT JSONCompactEachRow"
"""What stands in inserts of rows alone, and not in those that make the schema."""


def faulty(mode: FaultMode, *, code: int = 0, short: bool = False, times: int = -1) -> Any:
    """Name a fault of every insert; the short form of the suite has a few of them."""
    fault = {"mode": mode, "code": code, "times": times, "match": ROWS}
    name = f"{mode}-{code}" if code else mode
    return pytest.param(fault, id=name, marks=() if short else LONG)


@pytest.mark.parametrize(
    "fault",
    [
        faulty("refuse"),
        faulty("hang"),
        faulty("half", times=6, short=True),
        faulty("late", times=6),
        faulty("mute", times=3, short=True),
        faulty("error", code=164),  # read-only
        faulty("error", code=252),  # too many parts
        faulty("error", code=241),  # memory limit
        faulty("error", code=16, short=True),  # no such column in the table
        faulty("error", code=999),  # no Keeper
        faulty("error", code=1002),  # unknown to everybody
    ],
)
def test_inserts_that_fail_are_made_again(
    tmp_path: Path, endpoint: Endpoint, fault: dict[str, Any]
) -> None:
    """No row is lost, doubled or set aside, whether nothing, half or all of an insert was written."""
    database = f"store_{fault['mode']}_{fault['code']}"
    conversations = synthetic(30, seed=711)
    requests = planned(conversations)
    want = undisturbed(tmp_path / "calm", requests)
    settings = {"STORE__URL": endpoint.url, "STORE__DATABASE": database, "STORE__TIMEOUT": "1s"}
    with Served(tmp_path / "data", **settings) as served:
        endpoint.fault(**fault)
        sending = Sending(served, requests)
        sending.start()
        sending.finish()
        eventually(lambda: served.value("episodes_total") == len(conversations), "all is decided")
        tries = 30 if fault["code"] in UNCLEAR else 3
        eventually(lambda: served.value("store_errors_total") >= tries, "it was tried again")
        endpoint.fault("")
        check_once(served, conversations, want)
    assert letters(endpoint, database) == []


def letters(endpoint: Endpoint, database: str) -> list[dict[str, Any]]:
    """Read what was set aside."""
    store = ClickHouseStore.server(endpoint.url, database=database)
    try:
        return store.query("SELECT table_name, reason, row FROM dead_letters FINAL")
    finally:
        store.close()


def test_a_row_that_is_refused_for_no_known_reason_stands_in_nobodys_way(
    tmp_path: Path, endpoint: Endpoint
) -> None:
    """It becomes a dead letter with its reason; every other row of every table goes in."""
    conversations = synthetic(30, seed=712)
    requests = planned(conversations)
    want = undisturbed(tmp_path / "calm", requests)
    marked = conversations[11].id
    settings = {"STORE__URL": endpoint.url, "STORE__DATABASE": "poison"}
    # An insert of several rows is refused as well when it holds that one, so it has to be found.
    endpoint.fault("error", code=16, match=f'["{marked}",1,')
    with Served(tmp_path / "data", **settings) as served:
        sending = Sending(served, requests)
        sending.start()
        sending.finish()
        series = served.settled(len(conversations))
        assert series["store_errors_total", (("kind", "poison"),)] > 0
        assert served.ready() == (200, [])
        served.signal()
        assert served.ended() == 0
        found = stored(served)
    missing = {table: facts - found[table] for table, facts in want.facts.items()}
    aside = letters(endpoint, "poison")
    assert {letter["table_name"] for letter in aside} == {t for t, lost in missing.items() if lost}
    assert len(aside) == sum(sum(lost.values()) for lost in missing.values()) > 0
    for letter in aside:
        assert msgspec.json.decode(letter["row"])[0] == marked
        assert "injected by the test" in letter["reason"]


@pytest.mark.faults
@pytest.mark.parametrize("seed", range(3))
def test_one_fault_after_the_other(tmp_path: Path, endpoint: Endpoint, seed: int) -> None:
    """A server that is never well for long, and a process that dies meanwhile, end in the same books."""
    chance = random.Random(seed)  # noqa: S311 - a seeded test
    conversations = synthetic(60, seed=720 + seed)
    requests = planned(conversations)
    want = undisturbed(tmp_path / "calm", requests)
    database = f"moody_{seed}"
    settings = {"STORE__URL": endpoint.url, "STORE__DATABASE": database, "STORE__TIMEOUT": "1s"}
    with Served(tmp_path / "data", **settings) as served:
        sending = Sending(served, requests, pause_s=0.1)
        sending.start()
        while sending.is_alive():
            mode: FaultMode = chance.choice(["refuse", "hang", "error", "late", "half", "mute", ""])
            endpoint.fault(mode, code=chance.choice([16, 164, 241, 252, 0]), match=ROWS)
            time.sleep(chance.random())
            if chance.random() < 0.1:
                served.kill()
                served.start()
        endpoint.fault("")
        sending.finish()
        check_once(served, conversations, want)
    assert letters(endpoint, database) == []
