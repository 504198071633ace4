"""Test the detectors on a real store: restarts, crashes, gaps, outages."""

from __future__ import annotations

import threading

import msgspec
import pytest

from alerts.detectors.detection import GAP_S, LOOK_S, SAVE_S
from collector.errors import StoreUnavailableError
from collector.stamps import stamp
from collector.stores.clickhouse import ClickHouseStore
from tests.alerts.detectors.traffic import HOUR_NS, START_NS, observed
from tests.alerts.detectors.watch import Rows, Watch, row_of, story

ALARM = [
    ("armed", "all", ""),
    ("fired", "all", "page"),
    ("fired", "all", "ticket"),
    ("fired", "version=2", "page"),
    ("fired", "version=2", "ticket"),
]


def test_an_alarm_is_written_down(store: ClickHouseStore) -> None:
    """What the detectors conclude stands in the store: events, points, states, and is shown."""
    watch = Watch(store)
    watch.observe(story())
    watch.steps()
    assert sorted(watch.events()) == ALARM
    views = {view.slice: view for view in watch.detection.views()}
    assert views["all"].firing == ("ticket", "page")
    assert views["version=1"].firing == ()
    change = views["version=2"].change
    assert change is not None
    assert change.low_ns <= START_NS + 3 * HOUR_NS <= change.high_ns
    points = store.query("SELECT slice, evidence FROM detector_points FINAL ORDER BY at")
    assert {p["slice"] for p in points} == {"all", "version=1", "version=2"}
    assert max(p["evidence"] for p in points) >= views["all"].threshold
    assert watch.detection.behind == 0


def test_a_restart_goes_on_where_it_was(store: ClickHouseStore) -> None:
    """Stopped and started anywhere, the fold ends in the same states and events, to the bit."""
    seen = story()
    straight = Watch(store)
    straight.observe(seen)
    straight.steps()
    expected = (straight.states(), straight.events())
    for table in ("observations", "detector_state", "detector_points", "alert_events"):
        store.command(f"TRUNCATE TABLE {table}")
    broken = Watch(store)
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
    watch = Watch(store)
    watch.observe(story())
    watch.refuse = lambda rows: lost in rows
    for _ in range(2):
        with pytest.raises(StoreUnavailableError):
            watch.steps(1)
    watch.refuse = lambda _: False
    watch.fresh()
    watch.steps()
    assert sorted(watch.events()) == ALARM


def test_an_outage_of_the_store_loses_nothing(store: ClickHouseStore) -> None:
    """The same process goes on when the store takes writes again."""
    watch = Watch(store)
    watch.observe(story())
    watch.refuse = lambda _: True
    for _ in range(3):
        with pytest.raises(StoreUnavailableError):
            watch.steps(1)
    assert watch.events() == []
    watch.refuse = lambda _: False
    watch.steps(1)
    assert sorted(watch.events()) == ALARM
    assert ("", "watermark") in watch.states()
    assert len(store.query("SELECT 1 FROM detector_points FINAL")) > 3


def test_a_gap_is_waited_for_then_skipped(store: ClickHouseStore) -> None:
    """A row that comes late is taken in order; one that never comes is counted."""
    watch = Watch(store)
    seen = [observed(i, 0.0) for i in range(1, 11)]
    watch.observe([one for one in seen if one.sequence not in (4, 8)])
    watch.steps(1)
    assert watch.detection.views()[0].learned == 3
    watch.observe([seen[3]])
    watch.produced = 10
    watch.steps(1)
    assert watch.detection.views()[0].learned == 7
    watch.now += GAP_S
    watch.steps(1)
    assert watch.detection.views()[0].learned == 9
    assert watch.counted == {"detector_skipped_observations_total": 1.0}


def test_resends_count_once(store: ClickHouseStore) -> None:
    """Rows that were inserted twice are folded once, merged in the store or not."""
    watch = Watch(store)
    seen = [observed(i, 0.0) for i in range(1, 50)]
    watch.observe(seen)
    watch.observe(seen)
    watch.steps()
    watch.observe(seen)
    watch.fresh()
    watch.steps()
    assert watch.detection.views()[0].learned == 49


def test_other_producers_are_found(store: ClickHouseStore) -> None:
    """Observations of another process are folded too, each by its own sequence."""
    watch = Watch(store)
    watch.observe([observed(i, 0.0) for i in range(1, 20)])
    watch.steps()
    store.insert(
        {"observations": [row_of(observed(i, 0.0, producer="there")) for i in range(1, 30)]}
    )
    watch.now += LOOK_S
    watch.steps(1)
    assert watch.detection.views()[0].learned == 48


def test_a_long_history_is_folded_without_pause(
    store: ClickHouseStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What another process left is read chunk after chunk, not one a look."""
    monkeypatch.setattr("alerts.detectors.detection.CHUNK", 10)
    watch = Watch(store)
    store.insert(
        {"observations": [row_of(observed(i, 0.0, producer="there")) for i in range(1, 36)]}
    )
    watch.now += LOOK_S
    while watch.detection.step():
        pass
    assert watch.detection.views()[0].learned == 35


def test_targeted_samples_are_no_rates(store: ClickHouseStore) -> None:
    """What was chosen because it looked bad is not weighed."""
    watch = Watch(store)
    watch.observe(
        [observed(i, 0.0, stratum="targeted" if i % 2 else "uniform") for i in range(1, 41)]
    )
    watch.steps()
    assert watch.detection.views()[0].learned == 20
    assert watch.detection.behind == 0


def test_a_state_that_cannot_be_read_is_counted(store: ClickHouseStore) -> None:
    """A damaged state costs its own stream, which learns anew, and no other."""
    watch = Watch(store)
    watch.observe([observed(i, 0.0, scorer=("looping", "policy")[i % 2]) for i in range(1, 41)])
    watch.steps()
    store.insert(
        {
            "detector_state": [
                ("kettle/production/policy@1", "all", "{", stamp(START_NS + 3600 * 10**9))
            ]
        }
    )
    watch.fresh()
    watch.steps()
    assert [(v.scorer, v.learned) for v in watch.detection.views()] == [("looping", 20)]
    assert watch.counted == {"detector_errors_total": 1.0}


def test_a_state_of_other_bets_is_not_used(store: ClickHouseStore) -> None:
    """A state whose parts do not fit together is learned anew instead of ending the thread."""
    watch = Watch(store)
    watch.observe([observed(i, 0.0) for i in range(1, 41)])
    watch.steps()
    state = '{"key":{"agent":"kettle","environment":"production","scorer":"looping","scorer_version":"1"},"masses":[0.0]}'
    row = ("kettle/production/looping@1", "all", state, stamp(START_NS))
    store.insert({"detector_state": [row]})
    watch.fresh()
    watch.steps()
    assert [v.scorer for v in watch.detection.views()] == ["false_success"]
    assert watch.counted == {"detector_errors_total": 1.0}


def test_a_scorer_that_was_turned_off_ends_its_alarms(store: ClickHouseStore) -> None:
    """Without its scorer a stream is gone, and the end of its alarm is told once."""
    watch = Watch(store)
    watch.observe(story())
    watch.steps()
    watch.scorers = {("looping", "1")}
    for _ in range(2):
        watch.fresh()
        watch.steps()
    assert watch.detection.views() == ()
    ended = [event for event in watch.events() if event[0] == "cleared"]
    assert sorted(ended) == [
        ("cleared", "all", "page"),
        ("cleared", "all", "ticket"),
        ("cleared", "version=2", "page"),
        ("cleared", "version=2", "ticket"),
    ]


def test_a_clock_that_was_ahead_hides_nothing(store: ClickHouseStore) -> None:
    """After one observation from the future all later ones are read, and a new agent is armed."""
    watch = Watch(store)
    ahead = HOUR_NS * 24 * 400
    first = observed(1, 0.0)
    watch.observe(
        [
            msgspec.structs.replace(
                first, observed_ns=first.observed_ns + ahead, started_ns=first.started_ns + ahead
            )
        ]
    )
    watch.steps()
    watch.observe([observed(i, float(i % 2) * (i > 900)) for i in range(2, 1_200)])
    watch.fresh()
    watch.steps()
    assert watch.detection.behind == 0
    assert "page" in watch.detection.views()[0].firing


def test_what_is_no_shortfall_is_left_out(store: ClickHouseStore) -> None:
    """A row that cannot be weighed costs itself and no other."""
    watch = Watch(store)
    watch.observe([observed(i, 1.5 if i == 3 else 0.0) for i in range(1, 11)])
    watch.steps()
    assert watch.detection.views()[0].learned == 9
    assert watch.counted == {"detector_skipped_observations_total": 1.0}


@pytest.mark.parametrize("weight", [0.0, 0.5, 51.0])
def test_what_stands_for_too_many_or_for_none_is_left_out(
    store: ClickHouseStore, weight: float
) -> None:
    """A row of an impossible weight costs itself and no other."""
    watch = Watch(store)
    watch.observe([observed(i, 0.0, weight=weight if i == 3 else 2.0) for i in range(1, 11)])
    watch.steps()
    assert watch.detection.views()[0].learned == 9
    assert watch.counted == {"detector_skipped_observations_total": 1.0}


def test_an_error_of_ours_does_not_end_detection(store: ClickHouseStore) -> None:
    """It is counted, and the fold begins again from what was written."""
    watch = Watch(store)
    watch.observe(story()[:300])
    watch.steps()
    stop = threading.Event()

    def stumble(_: Rows) -> bool:
        stop.set()
        raise IndexError("a bug")

    watch.refuse = stumble
    watch.now += SAVE_S
    watch.observe(story()[300:])
    watch.detection.run(stop)
    assert watch.counted == {"detector_errors_total": 1.0}
    assert not watch.detection.loaded
    watch.refuse = lambda _: False
    watch.steps()
    assert sorted(watch.events()) == ALARM


def test_the_thread_saves_when_it_stops(store: ClickHouseStore) -> None:
    """A stop writes what was folded, so that nothing is folded again."""
    watch = Watch(store)
    watch.observe([observed(i, 0.0) for i in range(1, 41)])
    stop = threading.Event()
    thread = threading.Thread(target=watch.detection.run, args=(stop,))
    thread.start()
    while not watch.detection.views():
        assert thread.is_alive()
    stop.set()
    thread.join()
    assert ("kettle/production/false_success@1", "all") in watch.states()
