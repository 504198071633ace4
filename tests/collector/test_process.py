"""Test how the threads of an instance end."""

from __future__ import annotations

import asyncio
import threading
import time
from pathlib import Path

import msgspec

from collector.app import data_path
from collector.config import Config, StoreConfig
from collector.journal import Journal
from collector.journal_records import Entry
from collector.otlp import parse
from collector.process import Process
from tests.e2e.served import eventually, summed
from tests.e2e.traffic import as_requests, synthetic

NOWHERE = Config(store=StoreConfig(url="http://127.0.0.1:9"))
"""Nobody at the store's address: what is concluded waits in the journal."""


def running(data_dir: Path, *, shutdown_s: float) -> Process:
    """Start an instance without ports, and let it have read what the journal holds."""
    path = data_path(NOWHERE, data_dir, clock_ns=time.time_ns)
    process = Process(path, clock_ns=time.time_ns, shutdown_s=shutdown_s)
    process.start()
    eventually(lambda: not path.pipeline.recovering, "the journal has been read")
    return process


def receive(process: Process, bodies: list[bytes]) -> None:
    """Acknowledge requests faster than the pipeline can follow."""

    async def all_at_once() -> None:
        for body in bodies:
            batch = parse("traces", "proto", body)
            entry = Entry(
                received_ns=time.time_ns(),
                receiver="test",
                signal="traces",
                encoding="proto",
                items=batch.accepted,
                body=body,
            )
            await process.accept(entry, batch)

    asyncio.run(all_at_once())


def in_flight(data_dir: Path) -> tuple[int, float]:
    """Return how many spans a stopped instance has not concluded, and how many it received."""
    journal = Journal.open(
        data_dir / "journal.db", max_bytes=1 << 40, seen_limit=1_000_000, clock_ns=time.time_ns
    )
    try:
        return journal.spans_in_flight(), summed(journal.totals(), "spans_received_total")
    finally:
        journal.close()


def busy(process: Process) -> threading.Event:
    """Keep the pipeline from going on, as a slow disk would, until the event is set."""
    go_on = threading.Event()
    after = process.path.journal.after

    def slow(id: int, limit: int) -> list[Entry]:
        go_on.wait(60)
        return after(id, limit)

    process.path.pipeline._journal.after = slow  # type: ignore[method-assign]  # noqa: SLF001 - the disk's place
    return go_on


def test_a_stop_finishes_what_was_received(tmp_path: Path) -> None:
    """Everything that was acknowledged is concluded before the process ends, when there is time."""
    process = running(tmp_path, shutdown_s=60)
    go_on = busy(process)
    bodies = as_requests(synthetic(300, seed=1))
    receive(process, bodies)
    stopping = threading.Thread(target=process.stop)
    stopping.start()
    eventually(lambda: bool(process.problems()), "it is stopping")
    go_on.set()
    stopping.join(60)
    left, received = in_flight(tmp_path)
    assert received > 1_000
    assert left == 0


def test_a_stop_leaves_what_takes_too_long_in_the_journal(tmp_path: Path) -> None:
    """When the time is over the rest stays, and the next process concludes it."""
    process = running(tmp_path, shutdown_s=0)
    go_on = busy(process)
    receive(process, as_requests(synthetic(300, seed=2)))
    threading.Timer(1, go_on.set).start()
    process.stop()
    left, received = in_flight(tmp_path)
    assert 0 < left <= received
    process = running(tmp_path, shutdown_s=60)
    process.stop()
    assert in_flight(tmp_path) == (0, received)


def test_a_stop_waits_for_nothing_that_is_read_again_anyway(tmp_path: Path) -> None:
    """While it takes over what an earlier process left, it is told to stop at once."""
    told: list[bool] = []

    def takes_over() -> None:
        told.append(process._stop.wait(20))  # noqa: SLF001 - what the pipeline is told

    path = data_path(NOWHERE, tmp_path / "data", clock_ns=time.time_ns)
    path = msgspec.structs.replace(path, recover=takes_over)
    process = Process(path, clock_ns=time.time_ns, shutdown_s=60.0)
    process.start()
    eventually(lambda: bool(path.writer.last_error), "the store is known to be away")
    process.stop()
    assert told == [True]


def test_an_error_s_text_is_told_to_nobody(tmp_path: Path) -> None:
    """A pipeline that cannot go on says by which class of error; its text may quote traffic."""
    path = data_path(NOWHERE, tmp_path / "data", clock_ns=time.time_ns)

    def fails() -> None:
        raise ValueError("no such user mia@example.com")

    path = msgspec.structs.replace(path, recover=fails)
    process = Process(path, clock_ns=time.time_ns, shutdown_s=1.0)
    process.start()
    eventually(lambda: process.failed, "the pipeline has failed")
    problems = process.problems()
    process.stop()
    assert "the pipeline stopped: ValueError" in problems
    assert "mia" not in str(problems)
