"""On a full disk senders are told to wait; when there is room again nothing is missing."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from collector.model import Conversation
from collector.replay import Request
from tests.clickhouse_endpoint import Endpoint
from tests.e2e.served import Scraping, Sending, Served, eventually
from tests.e2e.traffic import synthetic
from tests.faults.books import Undisturbed, check_once, planned, undisturbed
from tests.faults.disks import MIB, FullDisk, FullFiles, small_disk

LONG = pytest.mark.faults


def fill_and_empty(
    served: Served,
    disk: FullFiles | FullDisk,
    requests: Sequence[Request],
    conversations: Sequence[Conversation],
    want: Undisturbed,
    *,
    crash: bool = False,
) -> None:
    """Fill the disk in the middle of the traffic, see senders wait, and make room."""
    scraping, sending = Scraping(served), Sending(served, requests, pause_s=0.02)
    scraping.start()
    sending.start()
    sending.wait_for(len(requests) // 3)
    disk.fill(served)
    eventually(lambda: len(sending.pauses) > 3, "the sender is told to wait")
    acknowledged = sending.acknowledged
    assert served.client.get(f"{served.console}/healthz").status_code == 200
    eventually(lambda: len(sending.pauses) > 6, "and is told so again")
    assert sending.acknowledged - acknowledged <= 1
    if crash:
        served.kill()
        disk.empty(served)
        served.start()
    else:
        disk.empty(served)
    sending.finish()
    check_once(served, conversations, want)
    scraping.finish()


def test_files_that_cannot_grow(tmp_path: Path, endpoint: Endpoint) -> None:
    """The journal's writes fail: 503 until they work, in the same process."""
    conversations = synthetic(40, seed=731)
    requests = planned(conversations)
    want = undisturbed(tmp_path / "calm", requests)
    settings = {"STORE__URL": endpoint.url, "STORE__DATABASE": "files"}
    with Served(tmp_path / "data", **settings) as served:
        fill_and_empty(served, FullFiles(), requests, conversations, want)


@LONG
@pytest.mark.parametrize("crash", [False, True])
def test_a_full_disk_under_the_journal(tmp_path: Path, endpoint: Endpoint, *, crash: bool) -> None:
    """No space is left for the journal, and the process may die of something else meanwhile."""
    conversations = synthetic(40, seed=732)
    requests = planned(conversations)
    want = undisturbed(tmp_path / "calm", requests)
    settings = {"STORE__URL": endpoint.url, "STORE__DATABASE": f"disk_{crash}"}
    with (
        small_disk(tmp_path / "disk", size=16 * MIB) as disk,
        Served(tmp_path / "disk" / "data", **settings) as served,
    ):
        fill_and_empty(served, disk, requests, conversations, want, crash=crash)


@LONG
@pytest.mark.parametrize("crash", [False, True])
def test_a_full_disk_under_journal_and_engine(tmp_path: Path, *, crash: bool) -> None:
    """The embedded engine has no space either; what it could not write is written later."""
    conversations = synthetic(40, seed=733)
    first, *others = [planned([one]) for one in conversations]
    requests = [request for share in others for request in share]
    want = undisturbed(tmp_path / "calm", [*first, *requests])
    with (
        small_disk(tmp_path / "disk", size=256 * MIB) as disk,
        Served(tmp_path / "disk" / "data") as served,
    ):
        sending = Sending(served, first)
        sending.start()
        sending.finish()
        served.settled(1)
        fill_and_empty(served, disk, requests, conversations, want, crash=crash)


@LONG
def test_a_disk_that_is_full_when_the_tables_are_made(tmp_path: Path) -> None:
    """The embedded engine waits for room, and makes them then; nothing is left half made."""
    conversations = synthetic(10, seed=734)
    requests = planned(conversations)
    want = undisturbed(tmp_path / "calm", requests)
    with small_disk(tmp_path / "disk", size=256 * MIB) as disk:
        served = Served(tmp_path / "disk" / "data")
        disk.fill(served, leave=16 * MIB)
        with served:

            def waits() -> bool:
                return any("has less than" in problem for problem in served.ready()[1])

            eventually(waits, "/readyz says why the store takes nothing")
            sending = Sending(served, requests)
            sending.start()
            sending.finish()
            disk.empty(served)
            check_once(served, conversations, want)
