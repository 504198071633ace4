"""Test the streams of agents, scorers and versions together."""

from __future__ import annotations

import msgspec
import pytest

from alerts.detectors.detector import Detector
from alerts.detectors.observed import Observed
from alerts.detectors.rebaselining import Whose
from alerts.stream_view import AlertEvent
from tests.alerts.detectors.traffic import HOUR_NS, SETTINGS, START_NS, observed, pages, traffic


def folded(detector: Detector, seen: list[Observed]) -> list[AlertEvent]:
    """Fold all and return the events."""
    return [event for one in seen for event in detector.fold(one)]


def armed(version: str = "1") -> tuple[Detector, int]:
    """Return a detector that has just been armed, and the last sequence."""
    detector = Detector(SETTINGS)
    seen = [observed(i, float(i % 50 == 0), agent_version=version) for i in range(1, 24 * 200 + 1)]
    events = folded(detector, seen)
    assert [e.kind for e in events] == ["armed"]
    return detector, seen[-1].sequence


def test_nothing_fires_while_learning() -> None:
    """A scorer that fails everything from the start has no reference to be worse than."""
    detector = Detector(SETTINGS)
    assert folded(detector, [observed(i, 1.0) for i in range(1, 4_000)]) == []
    (view,) = detector.views()
    assert (view.phase, view.reference_rate, view.threshold) == ("learning", 1.0, 0.0)


def test_arming_is_an_event_that_holds_the_thresholds() -> None:
    """What a stream was armed with is written down once."""
    events = folded(Detector(SETTINGS), [observed(i, float(i % 50 == 0)) for i in range(1, 5_000)])
    (event,) = events
    assert event.kind == "armed"
    assert event.slice == "all"
    assert event.detail.reference_rate == pytest.approx(0.02, abs=0.002)
    assert event.detail.threshold == pytest.approx(200 * 24 * 90 * 16, rel=0.01)


def test_a_new_version_inherits_the_reference_and_is_named() -> None:
    """A version that comes after arming is judged at once, against its agent's reference."""
    detector, last = armed()
    seen = [observed(i, float(i % 2), agent_version="2") for i in range(last + 1, last + 120)]
    fired = pages(folded(detector, seen))
    assert {e.slice for e in fired} == {"all", "version=2"}
    whole, part = (next(v for v in detector.views() if v.slice == s) for s in ("all", "version=2"))
    assert part.null_rate == whole.null_rate
    assert part.threshold == whole.threshold
    assert part.agent_version == "2"


def test_a_healthy_version_beside_a_bad_one_does_not_fire() -> None:
    """With a canary the whole may fire and the new version does; the old one does not."""
    detector, last = armed()
    seen = []
    for i in range(last + 1, last + 600):
        canary = i % 4 == 0
        seen.append(observed(i, float(canary), agent_version="2" if canary else "1"))
    assert {e.slice for e in pages(folded(detector, seen))} == {"all", "version=2"}


def test_agents_and_scorers_do_not_share_a_stream() -> None:
    """One agent's or scorer's failures are no evidence against another."""
    detector = Detector(SETTINGS)
    seen = [
        observed(3 * i + j, shortfall, agent=agent, scorer=scorer)
        for i in range(1, 500)
        for j, (agent, scorer, shortfall) in enumerate(
            (("a", "looping", 0.0), ("a", "tool_calls", 1.0), ("b", "looping", 0.5))
        )
    ]
    folded(detector, seen)
    assert {(v.agent, v.scorer): v.reference_rate for v in detector.views()} == {
        ("a", "looping"): 0.0,
        ("a", "tool_calls"): 1.0,
        ("b", "looping"): 0.5,
    }


def test_a_rolled_back_version_clears_after_an_hour_without_traffic() -> None:
    """Once its agent goes on without it, a bad version no longer alarms."""
    detector, last = armed()
    folded(
        detector,
        [observed(i, 1.0, agent_version="2") for i in range(last + 1, last + 30)],
    )
    back = [observed(i, 0.0, agent_version="1") for i in range(last + 30, last + 330)]
    cleared = [e for e in folded(detector, back) if e.slice == "version=2"]
    assert {(e.kind, e.detail.severity, e.detail.reason) for e in cleared} == {
        ("cleared", "ticket", "silent"),
        ("cleared", "page", "silent"),
    }
    assert all(not v.firing for v in detector.views() if v.slice == "version=2")


def test_a_rare_bad_version_is_found() -> None:
    """A version with a conversation in two hours is not silent between them, and pages."""
    detector, last = armed()
    seen = [
        observed(i, float(i % 400 == 0), agent_version="2" if i % 400 == 0 else "1")
        for i in range(last + 1, last + 400 * 30)
    ]
    events = [e for e in folded(detector, seen) if e.slice == "version=2"]
    assert [(e.kind, e.detail.severity) for e in events] == [
        ("fired", "ticket"),
        ("fired", "page"),
    ]


def test_names_with_slashes_are_told_apart() -> None:
    """Two agents whose names run into their environments have streams of their own."""
    detector = Detector(SETTINGS)
    detector.fold(observed(1, 0.0, agent="a/b", environment="c"))
    detector.fold(observed(2, 0.0, agent="a", environment="b/c"))
    assert len({view.stream for view in detector.views()}) == 2


def test_the_longest_silent_version_makes_room() -> None:
    """The number of versions watched is bounded; one that fires stays."""
    few = msgspec.structs.replace(SETTINGS, max_slices=3)
    detector = Detector(few)
    folded(detector, [observed(i, 0.0) for i in range(1, 24 * 200 + 1)])
    start = 24 * 200 + 1
    folded(detector, [observed(start + i, 1.0, agent_version="bad") for i in range(10)])
    for number in range(20):
        detector.fold(observed(start + 10 + number, 0.0, agent_version=f"v{number:02d}"))
    versions = {v.agent_version for v in detector.views() if v.slice != "all"}
    assert versions == {"bad", "v18", "v19"}


def test_reading_again_changes_nothing() -> None:
    """An observation that was folded already is known by its sequence."""
    detector, last = armed()
    seen = [observed(i, 1.0, agent_version="2") for i in range(last + 1, last + 40)]
    assert pages(folded(detector, seen))
    before = msgspec.json.encode(detector.views())
    assert folded(detector, seen) == []
    assert msgspec.json.encode(detector.views()) == before


def test_the_same_observations_give_the_same_events() -> None:
    """Events are named by what caused them, and states depend on nothing else."""
    seen = list(traffic(4, healthy=0.02, worse=0.4, change_hours=26.0, hours=28.0))
    first, second = Detector(SETTINGS), Detector(SETTINGS)
    events = folded(first, seen)
    assert pages(events)
    assert folded(second, seen) == events
    assert len({e.event_id for e in events}) == len(events)
    assert msgspec.json.encode(first.changed()) == msgspec.json.encode(second.changed())


def test_a_reference_is_learned_anew_when_told_to() -> None:
    """Its alarms end, nothing fires meanwhile, and then the new usual is no alarm."""
    detector, last = armed()
    assert pages(folded(detector, [observed(i, float(i % 2)) for i in range(last + 1, last + 200)]))
    whose = Whose(agent="kettle", scorer="false_success")
    events = detector.rebaseline(whose, at_ns=START_NS)
    assert [(e.kind, e.slice, e.detail.reason) for e in events] == [
        ("cleared", "all", "rebaselined"),
        ("cleared", "all", "rebaselined"),
        ("cleared", "version=1", "rebaselined"),
        ("cleared", "version=1", "rebaselined"),
        ("rebaselined", "all", ""),
    ]
    assert events[-1].detail.through == {"here": last + 199}
    (view,) = detector.views()
    assert (view.phase, view.learned, view.firing) == ("learning", 0, ())
    since = last + 200
    learned = folded(detector, [observed(i, float(i % 2)) for i in range(since, since + 6_000)])
    assert [e.kind for e in learned] == ["armed"]
    assert learned[0].detail.reference_rate == pytest.approx(0.5)
    assert {v.slice for v in detector.views()} == {"all", "version=1"}


def test_what_was_taken_before_is_not_learned_again() -> None:
    """Reading again from before the order changes nothing, neither while learning nor when armed."""
    detector, last = armed()
    before = [observed(i, 1.0, agent_version="2") for i in range(last + 1, last + 20)]
    folded(detector, before)
    detector.rebaseline(Whose(agent="kettle", scorer="false_success"), at_ns=START_NS)
    folded(detector, before)
    assert [v.learned for v in detector.views()] == [0]
    folded(detector, [observed(i, 0.0) for i in range(last + 20, last + 6_020)])
    assert {v.slice for v in detector.views()} == {"all", "version=1"}
    (whole, one) = detector.views()
    folded(detector, before)
    assert detector.views()[:2] == [whole, one]
    assert [v.observations for v in detector.views()[2:]] == [0]


def test_versions_from_before_an_order_make_room() -> None:
    """Those that no traffic brings back are let go before any that has some."""
    few = msgspec.structs.replace(SETTINGS, max_slices=3)
    detector = Detector(few)
    folded(detector, [observed(i, 0.0) for i in range(1, 6_000)])
    folded(detector, [observed(6_000 + i, 0.0, agent_version=f"old-{i}") for i in range(3)])
    detector.rebaseline(Whose(agent="kettle", scorer="false_success"), at_ns=START_NS)
    folded(detector, [observed(i, 0.0) for i in range(6_010, 12_010)])
    folded(detector, [observed(12_010 + i, 0.0, agent_version=f"new-{i}") for i in range(2)])
    assert {v.slice for v in detector.views()} == {
        "all",
        "version=1",
        "version=new-0",
        "version=new-1",
    }


def test_only_what_is_named_learns_anew() -> None:
    """Another scorer, agent or environment keeps its reference; none named is none told."""
    detector = Detector(SETTINGS)
    for number, where in enumerate(("production", "staging")):
        for scorer in ("looping", "policy"):
            for i in range(1, 11):
                one = observed(10 * number + i, 0.0, environment=where, scorer=scorer)
                detector.fold(one)
    whose = Whose(agent="kettle", scorer="policy", environment="staging")
    (event,) = detector.rebaseline(whose, at_ns=START_NS)
    assert event.stream == "kettle/staging/policy@1"
    assert [v.learned for v in detector.views()] == [10, 10, 10, 0]
    assert detector.rebaseline(Whose(agent="teapot", scorer="policy"), at_ns=START_NS) == []
    assert len(detector.rebaseline(Whose(agent="kettle", scorer="looping"), at_ns=START_NS)) == 2


def test_weights_decide_what_is_a_rise() -> None:
    """More failures among what is always scored are no alarm where the rest makes up for them."""

    def seen(first: int, count: int, often: int, seldom: int) -> list[Observed]:
        """Half of what is scored stands for ten; so many in a hundred of each half fail."""
        return [
            observed(
                i,
                float(i // 2 * 37 % 100 < (seldom if i % 2 else often)),
                weight=10.0 if i % 2 else 1.0,
            )
            for i in range(first, first + count)
        ]

    for often, seldom, fires in ((40, 8, False), (20, 30, True)):
        detector = Detector(SETTINGS)
        folded(detector, seen(1, 24 * 200 + 1, 20, 10))
        (whole, _) = detector.views()
        assert whole.phase == "armed"
        assert whole.reference_rate == pytest.approx((20 + 10 * 10) / 1_100, abs=0.003)
        assert bool(pages(folded(detector, seen(5_000, 4_000, often, seldom)))) == fires


def test_a_weight_above_all_that_were_learned_counts_as_the_heaviest() -> None:
    """The share of conversations that is scored may fall after a reference is complete."""
    detector, last = armed()
    folded(detector, [observed(last + 1, 1.0, weight=20.0)])
    other, last = armed()
    folded(other, [observed(last + 1, 1.0)])
    assert [v.evidence for v in detector.views()] == [v.evidence for v in other.views()]
    assert detector.views()[0].evidence > 0


def test_points_follow_the_traffic() -> None:
    """A stream has a point for each ten minutes of traffic, the last value in each."""
    detector, last = armed()
    folded(detector, [observed(i, 0.0) for i in range(last + 1, last + 201)])
    points = [p for p in detector.points() if p.slice == "all"]
    assert [p.at_ns % (HOUR_NS // 6) for p in points] == [0] * len(points)
    assert 6 <= len(points) <= 7
    assert points[-1].observations == 201
    assert points[0].at_ns >= START_NS + 24 * HOUR_NS
    assert detector.points() == []
