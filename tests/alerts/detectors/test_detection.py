"""Test the detectors on a real store: restarts, crashes, gaps, outages."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import msgspec
import pytest

from alerts.detectors.detection import GAP_S, LOOK_S, SAVE_S, Detection
from alerts.detectors.detector import Observed
from alerts.stream_view import AlertDetail
from collector.errors import StoreUnavailableError
from collector.stamps import stamp
from collector.stores.clickhouse import ClickHouseStore
from tests.alerts.detectors.traffic import HOUR_NS, SETTINGS, START_NS, observed, traffic

Rows = Mapping[str, Sequence[Sequence[Any]]]
FEW = msgspec.structs.replace(SETTINGS, reference_hours=2, reference_min=200, page_hours=240.0)
"""Learns two hours, so that a story is a thousand conversations."""


class Bench:
    """Run detection step by step on a store; a second one takes over from the first."""

    def __init__(self, store: ClickHouseStore, *, settings: Any = FEW) -> None:
        self.store = store
        self.now = 0.0
        self.produced = 0
        self.counted: dict[str, float] = {}
        self.refuse: Callable[[Rows], bool] = lambda _: False
        self.settings = settings
        self.scorers = {(name, "1") for name in ("false_success", "looping", "policy")}
        self.detection = self.fresh()

    def fresh(self) -> Detection:
        """Start anew, as after a crash."""
        self.detection = Detection(
            self.settings,
            scorers=self.scorers,
            ready=self.store.has_tables,
            query=self.store.query,
            write=self._write,
            clock_ns=lambda: START_NS + int(self.now * 1e9),
            seconds=lambda: self.now,
            count=self._count,
            producer="here",
            produced=lambda: self.produced,
        )
        return self.detection

    def _write(self, rows: Rows) -> None:
        if self.refuse(rows):
            raise StoreUnavailableError("the test says no")
        self.store.insert(rows)

    def _count(self, name: str, amount: float, labels: dict[str, str]) -> None:
        self.counted[name] = self.counted.get(name, 0.0) + amount

    def observe(self, seen: Sequence[Observed]) -> None:
        """Put observations into the store, as the pipeline does."""
        self.store.insert({"observations": [_row(one) for one in seen]})
        self.produced = max(one.sequence for one in seen if one.producer == "here")

    def steps(self, count: int = 3) -> None:
        """Let time pass and work."""
        for _ in range(count):
            self.now += SAVE_S
            self.detection.step()

    def events(self) -> list[tuple[str, str, str]]:
        """Return kind, slice and severity of the events in the store, in order."""
        rows = self.store.query(
            "SELECT kind, slice, detail FROM alert_events FINAL ORDER BY at, event_id"
        )
        return [
            (r["kind"], r["slice"], msgspec.json.decode(r["detail"], type=AlertDetail).severity)
            for r in rows
        ]

    def states(self) -> dict[tuple[str, str], str]:
        """Return the states in the store."""
        rows = self.store.query("SELECT stream, slice, state FROM detector_state FINAL")
        return {(r["stream"], r["slice"]): r["state"] for r in rows}


def _row(one: Observed) -> tuple[Any, ...]:
    return (
        one.producer,
        one.sequence,
        one.conversation_id,
        1,
        one.scorer,
        one.scorer_version,
        one.shortfall,
        one.weight,
        one.stratum,
        one.agent,
        one.agent_version,
        one.environment,
        "production",
        "",
        "",
        stamp(one.observed_ns),
        stamp(one.started_ns),
    )


def story(**fields: Any) -> list[Observed]:
    """Three healthy hours, then half an hour of version 2, which fails at 40 %."""
    return list(traffic(7, healthy=0.02, worse=0.4, change_hours=3.0, hours=3.5, **fields))


ALARM = [
    ("armed", "all", ""),
    ("fired", "all", "page"),
    ("fired", "all", "ticket"),
    ("fired", "version=2", "page"),
    ("fired", "version=2", "ticket"),
]


def test_an_alarm_is_written_down(store: ClickHouseStore) -> None:
    """What the detectors conclude stands in the store: events, points, states, and is shown."""
    bench = Bench(store)
    bench.observe(story())
    bench.steps()
    assert sorted(bench.events()) == ALARM
    views = {view.slice: view for view in bench.detection.views()}
    assert views["all"].firing == ("ticket", "page")
    assert views["version=1"].firing == ()
    change = views["version=2"].change
    assert change is not None
    assert change.low_ns <= START_NS + 3 * HOUR_NS <= change.high_ns
    points = store.query("SELECT slice, evidence FROM detector_points FINAL ORDER BY at")
    assert {p["slice"] for p in points} == {"all", "version=1", "version=2"}
    assert max(p["evidence"] for p in points) >= views["all"].threshold
    assert bench.detection.behind == 0


def test_a_restart_goes_on_where_it_was(store: ClickHouseStore) -> None:
    """Stopped and started anywhere, the fold ends in the same states and events, to the bit."""
    seen = story()
    straight = Bench(store)
    straight.observe(seen)
    straight.steps()
    expected = (straight.states(), straight.events())
    for table in ("observations", "detector_state", "detector_points", "alert_events"):
        store.command(f"TRUNCATE TABLE {table}")
    broken = Bench(store)
    for start in range(0, len(seen), 97):
        part = seen[start : start + 97]
        broken.observe(part)
        broken.steps(1)
        if part[0].sequence % 2:
            broken.detection.save()
        broken.fresh()
    broken.steps()
    assert (broken.states(), broken.events()) == expected


@pytest.mark.parametrize("lost", ["alert_events", "detector_state"])
def test_a_crash_between_writes_repeats_them(store: ClickHouseStore, lost: str) -> None:
    """When a write fails and the process dies, the next one says everything once."""
    bench = Bench(store)
    bench.observe(story())
    bench.refuse = lambda rows: lost in rows
    for _ in range(2):
        with pytest.raises(StoreUnavailableError):
            bench.steps(1)
    bench.refuse = lambda _: False
    bench.fresh()
    bench.steps()
    assert sorted(bench.events()) == ALARM


def test_an_outage_of_the_store_loses_nothing(store: ClickHouseStore) -> None:
    """The same process goes on when the store takes writes again."""
    bench = Bench(store)
    bench.observe(story())
    bench.refuse = lambda _: True
    for _ in range(3):
        with pytest.raises(StoreUnavailableError):
            bench.steps(1)
    assert bench.events() == []
    bench.refuse = lambda _: False
    bench.steps(1)
    assert sorted(bench.events()) == ALARM
    assert ("", "watermark") in bench.states()
    assert len(store.query("SELECT 1 FROM detector_points FINAL")) > 3


def test_a_gap_is_waited_for_then_skipped(store: ClickHouseStore) -> None:
    """A row that comes late is taken in order; one that never comes is counted."""
    bench = Bench(store)
    seen = [observed(i, 0.0) for i in range(1, 11)]
    bench.observe([one for one in seen if one.sequence not in (4, 8)])
    bench.steps(1)
    assert bench.detection.views()[0].learned == 3
    bench.observe([seen[3]])
    bench.produced = 10
    bench.steps(1)
    assert bench.detection.views()[0].learned == 7
    bench.now += GAP_S
    bench.steps(1)
    assert bench.detection.views()[0].learned == 9
    assert bench.counted == {"detector_skipped_observations_total": 1.0}


def test_resends_count_once(store: ClickHouseStore) -> None:
    """Rows that were inserted twice are folded once, merged in the store or not."""
    bench = Bench(store)
    seen = [observed(i, 0.0) for i in range(1, 50)]
    bench.observe(seen)
    bench.observe(seen)
    bench.steps()
    bench.observe(seen)
    bench.fresh()
    bench.steps()
    assert bench.detection.views()[0].learned == 49


def test_other_producers_are_found(store: ClickHouseStore) -> None:
    """Observations of another process are folded too, each by its own sequence."""
    bench = Bench(store)
    bench.observe([observed(i, 0.0) for i in range(1, 20)])
    bench.steps()
    store.insert({"observations": [_row(observed(i, 0.0, producer="there")) for i in range(1, 30)]})
    bench.now += LOOK_S
    bench.steps(1)
    assert bench.detection.views()[0].learned == 48


def test_a_long_history_is_folded_without_pause(
    store: ClickHouseStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What another process left is read chunk after chunk, not one a look."""
    monkeypatch.setattr("alerts.detectors.detection.CHUNK", 10)
    bench = Bench(store)
    store.insert({"observations": [_row(observed(i, 0.0, producer="there")) for i in range(1, 36)]})
    bench.now += LOOK_S
    while bench.detection.step():
        pass
    assert bench.detection.views()[0].learned == 35


def test_targeted_samples_are_no_rates(store: ClickHouseStore) -> None:
    """What was chosen because it looked bad is not weighed."""
    bench = Bench(store)
    bench.observe(
        [observed(i, 0.0, stratum="targeted" if i % 2 else "uniform") for i in range(1, 41)]
    )
    bench.steps()
    assert bench.detection.views()[0].learned == 20
    assert bench.detection.behind == 0


def test_a_state_that_cannot_be_read_is_counted(store: ClickHouseStore) -> None:
    """A damaged state costs its own stream, which learns anew, and no other."""
    bench = Bench(store)
    bench.observe([observed(i, 0.0, scorer=("looping", "policy")[i % 2]) for i in range(1, 41)])
    bench.steps()
    store.insert(
        {
            "detector_state": [
                ("kettle/production/policy@1", "all", "{", stamp(START_NS + 3600 * 10**9))
            ]
        }
    )
    bench.fresh()
    bench.steps()
    assert [(v.scorer, v.learned) for v in bench.detection.views()] == [("looping", 20)]
    assert bench.counted == {"detector_errors_total": 1.0}


def test_a_state_of_other_bets_is_not_used(store: ClickHouseStore) -> None:
    """A state whose parts do not fit together is learned anew instead of ending the thread."""
    bench = Bench(store)
    bench.observe([observed(i, 0.0) for i in range(1, 41)])
    bench.steps()
    state = '{"key":{"agent":"kettle","environment":"production","scorer":"looping","scorer_version":"1"},"masses":[0.0]}'
    row = ("kettle/production/looping@1", "all", state, stamp(START_NS))
    store.insert({"detector_state": [row]})
    bench.fresh()
    bench.steps()
    assert [v.scorer for v in bench.detection.views()] == ["false_success"]
    assert bench.counted == {"detector_errors_total": 1.0}


def test_a_scorer_that_was_turned_off_ends_its_alarms(store: ClickHouseStore) -> None:
    """Without its scorer a stream is gone, and the end of its alarm is told once."""
    bench = Bench(store)
    bench.observe(story())
    bench.steps()
    bench.scorers = {("looping", "1")}
    for _ in range(2):
        bench.fresh()
        bench.steps()
    assert bench.detection.views() == ()
    ended = [event for event in bench.events() if event[0] == "cleared"]
    assert sorted(ended) == [
        ("cleared", "all", "page"),
        ("cleared", "all", "ticket"),
        ("cleared", "version=2", "page"),
        ("cleared", "version=2", "ticket"),
    ]


def test_a_clock_that_was_ahead_hides_nothing(store: ClickHouseStore) -> None:
    """After one observation from the future all later ones are read, and a new agent is armed."""
    bench = Bench(store)
    ahead = HOUR_NS * 24 * 400
    first = observed(1, 0.0)
    bench.observe(
        [
            msgspec.structs.replace(
                first, observed_ns=first.observed_ns + ahead, started_ns=first.started_ns + ahead
            )
        ]
    )
    bench.steps()
    bench.observe([observed(i, float(i % 2) * (i > 900)) for i in range(2, 1_200)])
    bench.fresh()
    bench.steps()
    assert bench.detection.behind == 0
    assert "page" in bench.detection.views()[0].firing


def test_what_is_no_shortfall_is_left_out(store: ClickHouseStore) -> None:
    """A row that cannot be weighed costs itself and no other."""
    bench = Bench(store)
    bench.observe([observed(i, 1.5 if i == 3 else 0.0) for i in range(1, 11)])
    bench.steps()
    assert bench.detection.views()[0].learned == 9
    assert bench.counted == {"detector_skipped_observations_total": 1.0}


@pytest.mark.parametrize("weight", [0.0, 0.5, 51.0])
def test_what_stands_for_too_many_or_for_none_is_left_out(
    store: ClickHouseStore, weight: float
) -> None:
    """A row of an impossible weight costs itself and no other."""
    bench = Bench(store)
    bench.observe([observed(i, 0.0, weight=weight if i == 3 else 2.0) for i in range(1, 11)])
    bench.steps()
    assert bench.detection.views()[0].learned == 9
    assert bench.counted == {"detector_skipped_observations_total": 1.0}


def test_an_error_of_ours_does_not_end_detection(store: ClickHouseStore) -> None:
    """It is counted, and the fold begins again from what was written."""
    bench = Bench(store)
    bench.observe(story()[:300])
    bench.steps()
    stop = threading.Event()

    def stumble(_: Rows) -> bool:
        stop.set()
        raise IndexError("a bug")

    bench.refuse = stumble
    bench.now += SAVE_S
    bench.observe(story()[300:])
    bench.detection.run(stop)
    assert bench.counted == {"detector_errors_total": 1.0}
    assert not bench.detection.loaded
    bench.refuse = lambda _: False
    bench.steps()
    assert sorted(bench.events()) == ALARM


def test_the_thread_saves_when_it_stops(store: ClickHouseStore) -> None:
    """A stop writes what was folded, so that nothing is folded again."""
    bench = Bench(store)
    bench.observe([observed(i, 0.0) for i in range(1, 41)])
    stop = threading.Event()
    thread = threading.Thread(target=bench.detection.run, args=(stop,))
    thread.start()
    while not bench.detection.views():
        assert thread.is_alive()
    stop.set()
    thread.join()
    assert ("kettle/production/false_success@1", "all") in bench.states()
