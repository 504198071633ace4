"""Test floors: what is acceptable, whatever is usual."""

from __future__ import annotations

import msgspec
import pytest

from alerts.detectors.detector import Detector
from alerts.detectors.gauges import gauges
from alerts.detectors.observed import Observed
from alerts.detectors.rebaselining import Whose
from alerts.labels import Labels
from alerts.stream_view import AlertEvent
from tests.alerts.detectors.traffic import SETTINGS, START_NS, observed, pages

FLOOR = msgspec.structs.replace(SETTINGS, floors={"false_success": 0.9})
RUNS = {("false_success", "1")}
DAY = 24 * 200


def usually(first: int, count: int, every: int, **fields: object) -> list[Observed]:
    """Build observations of which one in so many fails."""
    return [observed(i, float(i % every == 0), **fields) for i in range(first, first + count)]


def folded(detector: Detector, seen: list[Observed]) -> list[AlertEvent]:
    """Fold all and return the events."""
    return [event for one in seen for event in detector.fold(one)]


def fallen() -> Detector:
    """Return a detector whose floor fires: a fifth of all fails, and always did."""
    detector = Detector(FLOOR)
    fired = pages(folded(detector, usually(1, 2 * DAY, 5)))
    assert [e.slice for e in fired] == ["floor"]
    return detector


def test_a_floor_alarms_where_it_was_always_bad() -> None:
    """What is usual is no alarm, and is one still where it is not acceptable; the event says both."""
    detector = fallen()
    by_slice = {view.slice: view for view in detector.views()}
    assert by_slice["all"].firing == by_slice["version=1"].firing == ()
    floor = by_slice["floor"]
    assert floor.firing == ("ticket", "page")
    assert floor.null_rate == pytest.approx(0.1)
    assert floor.reference_rate == pytest.approx(0.2, abs=0.001)
    assert floor.threshold == by_slice["all"].threshold
    assert floor.agent_version == ""


def test_a_floor_is_quiet_above_it() -> None:
    """A rate that is acceptable never alarms, and a scorer without a floor has none."""
    detector = Detector(FLOOR)
    assert pages(folded(detector, usually(1, 3 * DAY, 20))) == []
    assert {view.slice for view in detector.views()} == {"all", "floor", "version=1"}
    folded(other := Detector(FLOOR), usually(1, 2 * DAY, 5, scorer="looping"))
    assert {view.slice for view in other.views()} == {"all", "version=1"}


def test_a_floor_stays_while_what_is_usual_is_learned_anew() -> None:
    """A new reference ends the alarms about the usual and not those about what is acceptable."""
    detector = fallen()
    events = detector.rebaseline(Whose(agent="kettle", scorer="false_success"), at_ns=START_NS)
    assert [(e.kind, e.slice) for e in events] == [("rebaselined", "all")]
    (whole, floor) = detector.views()
    assert (whole.phase, floor.firing) == ("learning", ("ticket", "page"))
    recovered = folded(detector, usually(2 * DAY + 1, 3_000, 40))
    assert [(e.kind, e.slice) for e in recovered] == [("cleared", "floor")] * 2


def test_a_floor_survives_a_restart_to_the_bit() -> None:
    """From stored states the fold goes on as if it had never stopped."""
    straight, seen = Detector(FLOOR), usually(1, DAY + 400, 5)
    expected = folded(straight, seen)
    broken = Detector(FLOOR)
    events = folded(broken, seen[: DAY + 50])
    broken = Detector(FLOOR, broken.changed())
    assert events + folded(broken, seen[DAY + 50 :]) == expected
    assert msgspec.json.encode(broken.views()) == msgspec.json.encode(straight.views())


@pytest.mark.parametrize("floors", [{}, {"false_success": 0.75}])
def test_a_floor_that_was_moved_ends_its_alarms(floors: dict[str, float]) -> None:
    """Taken away or set elsewhere, the old floor is gone at the next start, and the new one begins."""
    detector = fallen()
    moved = Detector(msgspec.structs.replace(FLOOR, floors=floors), detector.changed())
    ended = moved.retire(RUNS, at_ns=START_NS)
    assert [(e.kind, e.slice, e.detail.reason) for e in ended] == [
        ("cleared", "floor", "retired"),
        ("cleared", "floor", "retired"),
    ]
    assert pages(folded(moved, usually(2 * DAY + 1, 400, 5))) == []
    nulls = [view.null_rate for view in moved.views() if view.slice == "floor"]
    assert nulls == [0.25] * len(floors)


def test_a_floor_has_a_series_of_its_own() -> None:
    """Metrics tell it from the whole by its slice, without a version."""
    found = gauges(fallen().views(), settings=FLOOR, labels=Labels(10, {}, redact=str))
    firing = {
        (dict(labels)["slice"], dict(labels)["agent_version"]): value
        for (name, labels), value in found.items()
        if name == "detector_firing" and dict(labels)["severity"] == "page"
    }
    assert firing == {("all", ""): 0.0, ("floor", ""): 1.0, ("version=1", "1"): 0.0}
