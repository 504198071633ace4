"""Test retries and dead letters without a store."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any

import msgspec
import pytest

from collector.errors import (
    InsertRefusedError,
    PermanentError,
    PoisonRowError,
    StoreUnavailableError,
)
from collector.stores.delivery import Delivery
from collector.stores.tables import Rows


class Sink:
    """Take rows, refuse those with ``poison`` in them, and fail as often as told."""

    def __init__(self, failures: int = 0, error: Exception | None = None) -> None:
        self.failures = failures
        self.error = error or StoreUnavailableError("down")
        self.rows: dict[str, list[Any]] = {}
        self.inserts = 0
        self.closed = ""
        """Table that refuses whatever comes, for a reason of its own."""
        self.unreadable = 0
        """Dead letters that it cannot parse either, before it does."""

    def insert(self, rows: Rows) -> None:
        """Take or refuse."""
        self.inserts += 1
        if self.failures:
            self.failures -= 1
            raise self.error
        for table, lines in rows.items():
            if table == "dead_letters" and self.unreadable:
                self.unreadable -= 1
                raise PoisonRowError("cannot parse")
            if table != "dead_letters" and any("poison" in line for line in lines):
                raise PoisonRowError("cannot parse")
            if self.closed == table or any("odd" in line for line in lines):
                raise InsertRefusedError("no such column")
            self.rows.setdefault(table, []).extend(lines)


class Counted:
    """Add up counters."""

    def __init__(self) -> None:
        self.totals: Counter[tuple[str, ...]] = Counter()

    def __call__(self, name: str, amount: float, labels: Mapping[str, str], /) -> None:
        """Add."""
        self.totals[(name, *labels.values())] += int(amount)


def delivery(
    sink: Sink,
    counted: Counted,
    pauses: list[float],
    *,
    patience: int = 100,
    prepare: Callable[[], object] | None = None,
) -> Delivery:
    """Build a delivery that gives up after that many pauses."""

    def pause(pause_s: float) -> bool:
        pauses.append(pause_s)
        return len(pauses) < patience

    return Delivery(
        sink,
        count=counted,
        pause=pause,
        random=lambda: 1.0,
        clock_ns=lambda: 7,
        seconds=lambda: 0.0,
        prepare=prepare,
    )


def test_rows_are_written_and_counted() -> None:
    """All rows arrive and are counted by table."""
    sink, counted = Sink(), Counted()
    assert delivery(sink, counted, []).deliver({"scores": [["a"], ["b"]], "turns": [["c"]]})
    assert sink.rows == {"scores": [["a"], ["b"]], "turns": [["c"]]}
    assert counted.totals == {
        ("store_rows_total", "scores"): 2,
        ("store_rows_total", "turns"): 1,
    }


def test_an_unavailable_store_is_tried_again_ever_slower() -> None:
    """Pauses double up to half a minute, and the state tells the error until it works."""
    sink, counted, pauses = Sink(failures=12), Counted(), list[float]()
    sender = delivery(sink, counted, pauses)
    assert not sender.last_error
    assert sender.deliver({"scores": [["a"]]})
    assert pauses[:3] == [0.1, 0.2, 0.4]
    assert pauses[-1] == 30.0
    assert not sender.last_error
    assert counted.totals["store_errors_total", "unavailable"] == 12
    assert sink.rows == {"scores": [["a"]]}


def test_an_error_nobody_foresaw_is_tried_again() -> None:
    """A bug in the client or in our own code shows and strands nothing."""
    sink, counted = Sink(failures=2, error=KeyError("x")), Counted()
    sender = delivery(sink, counted, [])
    assert sender.deliver({"scores": [["a"]]})
    assert counted.totals["store_errors_total", "unexpected"] == 2
    assert sink.rows == {"scores": [["a"]]}


def test_giving_up_says_so_and_keeps_the_error() -> None:
    """Told to stop while the store is down, nothing is claimed."""
    sink, pauses = Sink(failures=99), list[float]()
    sender = delivery(sink, Counted(), pauses, patience=3)
    assert not sender.deliver({"scores": [["a"]]})
    assert sender.last_error == "down"
    assert sink.rows == {}


def test_poison_rows_become_dead_letters_and_the_rest_goes_on() -> None:
    """Each impossible row is found, kept with its reason, and harms no other."""
    sink, counted = Sink(), Counted()
    rows = [["poison", n] if n in {3, 4, 60} else ["good", n] for n in range(64)]
    assert delivery(sink, counted, []).deliver({"scores": rows})
    assert sink.rows["scores"] == [row for row in rows if row[0] == "good"]
    letters = sink.rows["dead_letters"]
    assert [msgspec.json.decode(letter[4]) for letter in letters] == [
        ["poison", 3],
        ["poison", 4],
        ["poison", 60],
    ]
    assert {letter[1:4] for letter in letters} == {
        ("0000000000.000000007", "scores", "'cannot parse'")
    }
    assert counted.totals["store_errors_total", "poison"] == 3
    assert counted.totals["store_rows_total", "scores"] == 61


def test_finding_poison_takes_few_inserts() -> None:
    """One impossible row among a thousand is found by halving."""
    sink = Sink()
    rows = [["good", n] for n in range(1000)]
    rows[777] = ["poison", 777]
    assert delivery(sink, Counted(), []).deliver({"scores": rows})
    assert sink.inserts < 25


def test_a_row_that_cannot_be_written_as_json_is_kept_too() -> None:
    """A letter holds what can be shown of any row, under the same id each time."""
    sink = Sink()
    sender = delivery(sink, Counted(), [])
    for _ in range(2):
        assert sender.deliver({"scores": [["poison", "\ud800", object]]})
    first, second = sink.rows["dead_letters"]
    assert first[0] == second[0]
    assert "\\ud800" in first[4]


def test_a_letter_is_tried_until_it_is_written() -> None:
    """There is no other place for it, whatever the store says of it."""
    sink, counted, pauses = Sink(), Counted(), list[float]()
    sink.unreadable = 20
    assert delivery(sink, counted, pauses).deliver({"scores": [["poison"], ["good"]]})
    assert (len(sink.rows["dead_letters"]), sink.rows["scores"]) == (1, [["good"]])
    assert len(pauses) == 20
    assert counted.totals["store_rows_total", "dead_letters"] == 1


def test_preparation_is_retried_and_done_once() -> None:
    """A schema that cannot be made yet is made when the store comes back, before any row."""
    calls: list[int] = []
    sink, pauses = Sink(), list[float]()

    def prepare() -> None:
        calls.append(sink.inserts)
        if len(calls) < 3:
            raise PermanentError("no such privilege")

    sender = delivery(sink, Counted(), pauses, prepare=prepare)
    assert sender.deliver({"scores": [["a"]]})
    assert sender.deliver({"scores": [["b"]]})
    assert calls == [0, 0, 0]


def test_a_row_that_is_refused_while_others_go_in_is_set_aside() -> None:
    """A refusal whose cause is unclear is a row's fault when the table takes the rows beside it."""
    sink, counted, pauses = Sink(), Counted(), list[float]()
    rows = [["odd" if n in {0, 17, 63} else "good", n] for n in range(64)]
    assert delivery(sink, counted, pauses).deliver({"scores": rows, "turns": [["t"]]})
    assert sorted(sink.rows["scores"], key=lambda row: row[1]) == [
        row for row in rows if row[0] == "good"
    ]
    assert sink.rows["turns"] == [["t"]]
    letters = sink.rows["dead_letters"]
    assert sorted(msgspec.json.decode(letter[4])[1] for letter in letters) == [0, 17, 63]
    assert {letter[3] for letter in letters} == {"'no such column'"}
    assert counted.totals["store_errors_total", "poison"] == 3
    assert counted.totals["store_rows_total", "scores"] == 61
    assert sum(pauses) > 3 * 3.0  # each had some seconds in which to go in after all


def test_a_table_that_takes_nothing_costs_no_row() -> None:
    """While every row is refused none is given up; when the table is mended all go in."""
    sink, pauses = Sink(), list[float]()
    sink.closed = "scores"

    def prepare() -> None:
        if len(pauses) > 30:
            sink.closed = ""

    sender = delivery(sink, Counted(), pauses, prepare=prepare)
    rows = [["a", n] for n in range(40)]
    assert sender.deliver({"scores": rows})
    assert pauses[-1] > 10
    assert sorted(sink.rows["scores"]) == rows
    assert "dead_letters" not in sink.rows
    assert not sender.last_error


def test_a_row_that_came_alone_is_judged_by_those_that_come_after() -> None:
    """Alone it may be the table's fault; what came meanwhile is delivered with it and shows."""
    sink = Sink()
    came: list[Rows] = [{"scores": [["good", 2]], "otel_traces": [["s"]]}]
    sender = delivery(sink, Counted(), [])
    assert sender.deliver({"scores": [["odd", 1]]}, more=lambda: came.pop() if came else {})
    assert sink.rows["scores"] == [["good", 2]]
    assert sink.rows["otel_traces"] == [["s"]]
    (letter,) = sink.rows["dead_letters"]
    assert msgspec.json.decode(letter[4]) == ["odd", 1]


def test_no_refusal_that_passes_costs_a_row() -> None:
    """A row that is refused beside others only for a moment is tried again before it is given up."""
    sink = Sink()
    refused: list[int] = []

    class Moody:
        """Refuse one row at first."""

        def insert(self, rows: Rows) -> None:
            """Take or refuse."""
            if any("moody" in line for lines in rows.values() for line in lines):
                refused.append(1)
                if len(refused) < 9:
                    raise InsertRefusedError("not now")
            sink.insert(rows)

    rows = [["moody" if n == 3 else "good", n] for n in range(8)]
    sender = Delivery(
        Moody(),
        count=Counted(),
        pause=lambda _: True,
        random=lambda: 1.0,
        clock_ns=lambda: 7,
        seconds=lambda: 0.0,
    )
    assert sender.deliver({"scores": rows})
    assert sorted(sink.rows["scores"], key=lambda row: row[1]) == rows
    assert "dead_letters" not in sink.rows


def test_pauses_are_spread() -> None:
    """The random share takes up to half of a pause away, so that several senders part."""
    for share, first in ((0.0, 0.05), (0.5, 0.075), (1.0, 0.1)):
        pauses: list[float] = []

        def pause(pause_s: float, pauses: list[float] = pauses) -> bool:
            pauses.append(pause_s)
            return True

        sender = Delivery(
            Sink(failures=1),
            count=Counted(),
            pause=pause,
            random=lambda share=share: share,  # type: ignore[misc]  # bound now
            clock_ns=lambda: 7,
            seconds=lambda: 0.0,
        )
        assert sender.deliver({"scores": [["a"]]})
        assert pauses == pytest.approx([first])
