"""Test that stored observations lead to what was stored, and orders to learn anew."""

from __future__ import annotations

import msgspec
import pytest

from alerts.detectors.detector import Detector
from alerts.detectors.history import merged, read_resets, replayed
from alerts.detectors.observed import Observed
from alerts.detectors.rebaselining import Whose
from alerts.stream_view import AlertEvent
from collector.errors import StoreUnavailableError
from collector.stores.clickhouse import ClickHouseStore
from tests.alerts.detectors.traffic import SETTINGS, observed
from tests.alerts.detectors.watch import FEW, Watch, encoded, story


def replay(store: ClickHouseStore) -> tuple[list[AlertEvent], Detector]:
    """Fold all that is stored again."""
    rows = store.query(
        "SELECT *, toUnixTimestamp64Nano(observed) AS observed_ns,"
        " toUnixTimestamp64Nano(started) AS started_ns FROM observations FINAL"
        " ORDER BY producer, sequence"
    )
    resets = read_resets(store.query)
    detector = Detector(FEW)
    return list(replayed(detector, msgspec.convert(rows, list[Observed]), resets)), detector


def stored(store: ClickHouseStore) -> list[tuple[str, str]]:
    """Return id and detail of the events in the store."""
    rows = store.query("SELECT event_id, detail FROM alert_events FINAL ORDER BY event_id")
    return [(row["event_id"], row["detail"]) for row in rows]


def test_a_replay_is_what_happened(store: ClickHouseStore) -> None:
    """Stored observations lead to the stored events and states again, to the bit."""
    watch = Watch(store)
    seen = story()
    for start in range(0, len(seen), 150):
        watch.observe(seen[start : start + 150])
        watch.steps(1)
    watch.steps()
    events, detector = replay(store)
    assert sorted((e.event_id, encoded(e.detail)) for e in events) == stored(store)
    states = {(s.key.stream, s.key.slice): encoded(s) for s in detector.changed()}
    del (found := watch.states())["", "watermark"]
    assert states == found


def test_a_reference_learned_anew_is_kept_and_replayed(store: ClickHouseStore) -> None:
    """What was ordered is in the store when it is answered, survives a restart, and is replayed."""
    watch = Watch(store)
    seen = story()
    watch.observe(seen)
    watch.steps()
    done = watch.detection.orders.give(Whose(agent="kettle", scorer="false_success"))
    assert not done.done()
    watch.steps(1)
    assert done.result(0) == ("kettle/production/false_success@1",)
    watch.fresh()
    watch.steps(1)
    (view,) = watch.detection.views()
    assert (view.phase, view.learned) == ("learning", 0)
    so_far, _ = replay(store)
    assert sorted(e.event_id for e in so_far) == [event_id for event_id, _ in stored(store)]
    last = seen[-1].sequence
    watch.observe([observed(last + i, float(i % 2), agent_version="2") for i in range(1, 1_000)])
    watch.fresh()
    watch.steps()
    assert {v.slice for v in watch.detection.views()} == {"all", "version=2"}
    assert watch.events().count(("armed", "all", "")) == 2
    assert ("rebaselined", "all", "") in watch.events()
    events, detector = replay(store)
    # The moments at which an alarm was ended by the order are the clock's.
    assert sorted(e.event_id for e in events) == [event_id for event_id, _ in stored(store)]
    states = {(s.key.stream, s.key.slice): encoded(s) for s in detector.changed()}
    del (found := watch.states())["", "watermark"]
    assert states == found


def test_an_order_fails_while_the_store_does(store: ClickHouseStore) -> None:
    """Who ordered is told that it is not written yet, and it is written later; a second order waits."""
    watch = Watch(store)
    watch.observe(story())
    watch.steps()
    watch.refuse = lambda _: True
    whose = Whose(agent="kettle", scorer="false_success")
    done, second = (watch.detection.orders.give(whose) for _ in range(2))
    with pytest.raises(StoreUnavailableError):
        watch.steps(1)
    assert isinstance(done.exception(0), StoreUnavailableError)
    watch.refuse = lambda _: False
    watch.steps(1)
    assert ("rebaselined", "all", "") in watch.events()
    assert second.result(0) == ("kettle/production/false_success@1",)


def test_an_order_for_nobody_is_answered(store: ClickHouseStore) -> None:
    """A name that no stream has comes back empty."""
    watch = Watch(store)
    watch.observe([observed(i, 0.0) for i in range(1, 11)])
    done = watch.detection.orders.give(Whose(agent="teapot", scorer="false_success"))
    watch.steps(1)
    assert done.result(0) == ()


def test_producers_are_put_into_one_order() -> None:
    """Several producers' observations come by the clock, each producer's by its own sequence."""
    here = [observed(i, 0.0) for i in (1, 3, 5)]
    there = [observed(i, 0.0, producer="there") for i in (2, 4)]
    late = msgspec.structs.replace(here[1], observed_ns=here[2].observed_ns + 1)
    found = merged([[here[0], late, here[2]], there])
    assert [(one.producer, one.sequence) for one in found] == [
        ("here", 1),
        ("there", 2),
        ("there", 4),
        ("here", 3),
        ("here", 5),
    ]


def test_what_live_detection_leaves_out_a_replay_leaves_out() -> None:
    """Impossible figures and targeted samples are not folded."""
    history = [observed(1, 2.0), observed(2, 0.0, stratum="targeted"), observed(3, 0.0)]
    detector = Detector(SETTINGS)
    assert list(replayed(detector, history)) == []
    assert detector.views()[0].learned == 1
