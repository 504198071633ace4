"""Test the writer's thread: with a fake store, and with the engine both ways."""

from __future__ import annotations

import socket
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from collector.errors import InsertRefusedError, StoreUnavailableError
from collector.stores.clickhouse import ClickHouseStore
from collector.stores.delivery import RowSink
from collector.stores.rows import rows_of
from collector.stores.tables import Rows
from collector.stores.writer import StoreBatch, StoreWriter
from tests.clickhouse_endpoint import Endpoint
from tests.collector.stores.episodes import decided, through_outbox


class Gate:
    """Hold every insert until opened, then take it."""

    def __init__(self, *, opened: bool = True) -> None:
        self.open = threading.Event()
        self.entered = threading.Event()
        self.inserts: list[dict[str, Sequence[Any]]] = []
        if opened:
            self.open.set()

    def insert(self, rows: Rows) -> None:
        """Wait and take."""
        self.entered.set()
        assert self.open.wait(20)
        self.inserts.append(dict(rows))


class Down:
    """Never take anything."""

    def __init__(self) -> None:
        self.tried = threading.Event()

    def insert(self, rows: Rows) -> None:
        """Refuse."""
        self.tried.set()
        raise StoreUnavailableError("down")


class Ledger:
    """Remember what was reported stored."""

    def __init__(self) -> None:
        self.ids: list[int] = []
        self.changed = threading.Condition()

    def __call__(self, ids: Sequence[int]) -> None:
        """Take ids."""
        with self.changed:
            self.ids.extend(ids)
            self.changed.notify_all()

    def wait_for(self, count: int) -> bool:
        """Wait until that many were reported."""
        with self.changed:
            return self.changed.wait_for(lambda: len(self.ids) >= count, timeout=30)


def ignore(name: str, amount: float, labels: Mapping[str, str], /) -> None:
    """Count nothing."""


def batch(number: int, size: int = 0, **more: Any) -> StoreBatch:
    """Build a batch of one score row."""
    return StoreBatch(outbox_id=number, rows={"scores": [[number]]}, size=size, **more)


def writer(store: RowSink, ledger: Ledger, **more: Any) -> StoreWriter:
    """Start a writer."""
    made = StoreWriter(store, stored=ledger, count=ignore, **{"flush_interval_s": 0.0, **more})
    made.start()
    return made


def test_batches_are_stored_and_reported_in_order() -> None:
    """Every outbox row is reported once, after its rows, in the order of submission."""
    gate, ledger = Gate(), Ledger()
    sut = writer(gate, ledger)
    for number in range(50):
        assert sut.submit(batch(number), threading.Event())
    assert sut.close(20)
    assert ledger.ids == list(range(50))
    assert [row for insert in gate.inserts for row in insert["scores"]] == [[n] for n in range(50)]


def test_batches_are_merged() -> None:
    """What waits while an insert runs goes together, up to the limit of episodes."""
    gate, ledger = Gate(opened=False), Ledger()
    sut = writer(gate, ledger, batch_episodes=4)
    assert sut.submit(batch(0, episodes=4), threading.Event())
    assert gate.entered.wait(20)
    for number in range(1, 7):
        assert sut.submit(batch(number), threading.Event())
    gate.open.set()
    assert sut.close(20)
    assert [len(insert["scores"]) for insert in gate.inserts] == [1, 4, 2]


def test_a_full_queue_blocks_until_there_is_room() -> None:
    """Back-pressure: the bytes of an insert count until it is durable."""
    gate, ledger, stop = Gate(opened=False), Ledger(), threading.Event()
    sut = writer(gate, ledger, queue_bytes=100)
    assert sut.submit(batch(0, size=60), stop)
    assert gate.entered.wait(20)
    blocked = threading.Thread(target=sut.submit, args=(batch(1, size=60), stop))
    blocked.start()
    blocked.join(0.1)
    assert blocked.is_alive()
    assert sut.waiting_bytes == 60
    gate.open.set()
    blocked.join(20)
    assert ledger.wait_for(2)
    assert sut.close(20)


def test_a_batch_larger_than_the_queue_is_taken_alone() -> None:
    """One huge episode does not block for ever."""
    ledger = Ledger()
    sut = writer(Gate(), ledger, queue_bytes=10)
    assert sut.submit(batch(0, size=1000), threading.Event())
    assert sut.close(20)
    assert ledger.ids == [0]


def test_stopping_frees_a_blocked_submit() -> None:
    """A process that ends does not wait for room; the batch stays in the outbox."""
    gate, stop = Gate(opened=False), threading.Event()
    sut = writer(gate, Ledger(), queue_bytes=100)
    assert sut.submit(batch(0, size=90), stop)
    results: list[bool] = []
    blocked = threading.Thread(target=lambda: results.append(sut.submit(batch(1, size=90), stop)))
    blocked.start()
    stop.set()
    blocked.join(20)
    assert results == [False]
    gate.open.set()
    assert sut.close(20)


def test_a_store_that_is_down_shows_and_does_not_hold_up_the_end() -> None:
    """While retrying the writer is unhealthy; closing gives up and reports nothing stored."""
    down, ledger = Down(), Ledger()
    sut = writer(down, ledger)
    assert sut.healthy
    assert sut.submit(batch(0, size=5), threading.Event())
    assert down.tried.wait(20)
    assert not sut.close(0.05)
    assert not sut.healthy
    assert sut.last_error == "down"
    assert ledger.ids == []


def test_a_store_that_does_not_answer_shows() -> None:
    """An insert that hangs makes the writer unhealthy long before its time-out."""
    gate, now = Gate(opened=False), [0.0]
    sut = writer(gate, Ledger(), seconds=lambda: now[0])
    assert sut.submit(batch(0), threading.Event())
    assert gate.entered.wait(20)
    assert sut.healthy
    now[0] = 31.0
    assert sut.last_error == "no answer for 31 s"
    gate.open.set()
    assert sut.close(20)
    assert sut.healthy


def test_the_store_is_prepared_before_anything_comes() -> None:
    """A schema that cannot be brought up to date shows at the start, not with the first episode."""
    prepared = threading.Event()
    sut = writer(Gate(), Ledger(), prepare=prepared.set)
    assert prepared.wait(20)
    assert sut.close(20)


def test_a_row_nobody_takes_does_not_stop_those_behind_it() -> None:
    """What was queued behind a row of unclear fault shows whose fault it is; both are reported."""

    class Odd(Gate):
        """Refuse one row, and say nothing about why."""

        def insert(self, rows: Rows) -> None:
            """Take or refuse."""
            if any(line == [1] for line in rows.get("scores", ())):
                self.entered.set()
                raise InsertRefusedError("unknown column")
            super().insert(rows)

    odd, ledger = Odd(), Ledger()
    sut = writer(odd, ledger, pause=lambda _: True)
    assert sut.submit(batch(1), threading.Event())
    assert odd.entered.wait(20)
    assert sut.submit(batch(2), threading.Event())
    assert ledger.wait_for(2)
    assert sut.close(20)
    assert ledger.ids == [1, 2]
    assert [table for insert in odd.inserts for table in insert] == ["scores", "dead_letters"]


def test_a_closed_writer_takes_nothing() -> None:
    """After close a submit is refused."""
    sut = writer(Gate(), Ledger())
    assert sut.close(20)
    assert not sut.submit(batch(0), threading.Event())


def test_episodes_reach_the_store(store: ClickHouseStore) -> None:
    """Through the outbox form, each episode is in the store once, poison set aside."""
    ledger = Ledger()
    sut = writer(store, ledger, batch_episodes=7)
    for number in range(20):
        rows = through_outbox(rows_of(decided(f"c{number}", sequence=number + 1)))
        if number == 5:
            rows["scores"].append([*rows["scores"][0][:8], "not a number", *rows["scores"][0][9:]])
        assert sut.submit(StoreBatch(outbox_id=number, rows=rows, size=1), threading.Event())
    assert sut.close(30)
    assert ledger.ids == list(range(20))
    for table in ("conversations", "scores", "decisions", "observations", "tool_calls"):
        assert store.query(f"SELECT count() AS n FROM {table} FINAL") == [{"n": 20}]  # noqa: S608  # our own names
    assert store.query("SELECT table_name FROM dead_letters") == [{"table_name": "scores"}]


def test_a_server_that_starts_late_gets_everything(tmp_path: Path) -> None:
    """Down at start, killed in between, back again: nothing is lost and nothing is doubled."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    given_up = threading.Event()

    def short(pause_s: float) -> bool:
        return not given_up.wait(min(pause_s, 0.05))

    store = ClickHouseStore.server(f"http://127.0.0.1:{port}", timeout_s=5)
    ledger = Ledger()
    sut = writer(store, ledger, prepare=store.migrate, pause=short)
    assert sut.submit(StoreBatch(outbox_id=1, rows=rows_of(decided("a"))), threading.Event())
    with Endpoint(tmp_path / "engine", port=port) as server:
        assert ledger.wait_for(1)
        server.kill()
    assert sut.submit(StoreBatch(outbox_id=2, rows=rows_of(decided("b"))), threading.Event())
    with Endpoint(tmp_path / "engine", port=port):
        assert ledger.wait_for(2)
        assert store.query("SELECT count() AS n FROM conversations FINAL") == [{"n": 2}]
        assert sut.close(20)
    store.close()
