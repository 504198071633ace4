"""Fold observations into the streams of all agents, their versions and scorers."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from collections.abc import Set as AbstractSet
from typing import Literal

import msgspec

from alerts.detectors.evidence import Bets
from alerts.detectors.observed import Observed
from alerts.detectors.rebaselining import Whose
from alerts.detectors.settings import Settings
from alerts.detectors.stream import (
    Key,
    StreamState,
    Turned,
    learned,
    observe,
    silenced,
    view,
)
from alerts.stream_view import AlertDetail, AlertEvent, StreamView

SILENT_NS = 3_600_000_000_000
"""A version that got no traffic for an hour of its agent's traffic is no longer alarming,"""
SILENT_GAPS = 10
"""unless its conversations are that rare: then after ten times their usual distance,"""
UNKNOWN_NS = 86_400_000_000_000
"""or after a day where there was but one."""
POINT_NS = 600_000_000_000
"""Traffic time between two points of a stream's chart."""


class Point(msgspec.Struct, frozen=True, kw_only=True):
    """A stream's evidence at the end of a stretch of traffic time."""

    stream: str
    slice: str
    at_ns: int
    """Start of the stretch."""
    evidence: float
    threshold: float
    observations: int
    failures: float


class Detector:
    """Hold the streams; a pure fold: the same observations lead to the same states and events.

    Args:
        settings: What the user decided.
        states: Where an earlier process left off.
    """

    def __init__(self, settings: Settings, states: Iterable[StreamState] = ()) -> None:
        self._settings = settings
        self._streams: dict[Key, StreamState] = {}
        self._slices: dict[Key, dict[str, StreamState]] = {}
        self._floors: dict[Key, StreamState] = {}
        """By the stream of what is usual beside it."""
        self._bets: dict[Key, Bets] = {}
        self._changed: set[Key] = set()
        self._retired: list[StreamState] = []
        self._points: dict[tuple[str, str, int], Point] = {}
        for state in states:
            self._add(state)
        for slices in self._slices.values():
            self._let_go(slices)

    def fold(self, seen: Observed) -> list[AlertEvent]:
        """Take one observation and return what happened because of it, in order."""
        key = seen.key
        whole = self._streams.get(key) or self._add(StreamState(key=key))
        events: list[AlertEvent] = []
        if whole.null is None:
            if not _is_ahead(whole, seen) or not self._learned(whole, seen):
                return self._floored(whole, seen)
            events.append(_event(whole, seen, "armed"))
        part = self._slice(whole, seen.agent_version)
        before_ns = whole.last_ns
        events += self._weigh(whole, seen, before_ns=before_ns)
        events += self._floored(whole, seen)
        events += self._silence(whole, part, seen)
        return events + self._weigh(part, seen, before_ns=part.last_ns or before_ns)

    def retire(self, scorers: AbstractSet[tuple[str, str]], *, at_ns: int) -> list[AlertEvent]:
        """Drop the streams of scorers, versions of them or floors that are no more; end their alarms.

        Args:
            scorers: Name and version of those that run.
            at_ns: Unix time now.
        """
        events: list[AlertEvent] = []
        for key in sorted(self._streams, key=_order):
            runs = (key.scorer, key.scorer_version) in scorers
            if runs and not (key.null == "floor" and self._is_stale(self._streams[key])):
                continue
            state = self._streams.pop(key)
            self._bets.pop(key, None)
            if key.null == "floor":
                self._floors.pop(_beside(key), None)
            elif key.agent_version is None:
                self._slices.pop(key, None)
            last = _last(state, at_ns)
            events += [_event(state, last, t.kind, t) for t in silenced(state, "retired")]
            self._retired.append(state)
        return events

    def rebaseline(self, whose: Whose, *, at_ns: int) -> list[AlertEvent]:
        """Forget the references of an agent's scorer and learn new ones; end its alarms.

        Args:
            whose: Which streams.
            at_ns: Unix time now.

        Returns:
            The ends of alarms, and one ``rebaselined`` for each stream.
        """
        events: list[AlertEvent] = []
        for key in sorted(self._streams, key=_order):
            state = self._streams[key]
            if not whose.means(key):
                continue
            for one in (state, *self._slices.get(key, {}).values()):
                last = _last(one, at_ns)
                events += [_event(one, last, t.kind, t) for t in silenced(one, "rebaselined")]
                # A slice too is written, without a reference: the store may hold its old one.
                self._add(StreamState(key=one.key, through=one.through))
                self._bets.pop(one.key, None)
                self._changed.add(one.key)
            event = _event(state, _last(state, at_ns), "rebaselined")
            detail = msgspec.structs.replace(event.detail, through=dict(state.through))
            events.append(msgspec.structs.replace(event, detail=detail))
        return events

    def changed(self) -> list[StreamState]:
        """Return the states that changed since the last call."""
        found = [
            *self._retired,
            *(self._streams[k] for k in sorted(self._changed, key=_order) if k in self._streams),
        ]
        self._retired.clear()
        self._changed.clear()
        return found

    def points(self) -> list[Point]:
        """Return the points that were reached or moved since the last call."""
        found = list(self._points.values())
        self._points.clear()
        return found

    def again(self, points: Iterable[Point], states: Iterable[StreamState]) -> None:
        """Take back what could not be written; newer points stay."""
        for state in states:
            if state.key in self._streams:
                self._changed.add(state.key)
            else:
                self._retired.append(state)
        for point in points:
            self._points.setdefault((point.stream, point.slice, point.at_ns), point)

    def views(self) -> list[StreamView]:
        """Show all streams, each agent's and scorer's whole before its slices."""
        return [
            view(self._streams[key])
            for key in sorted(self._streams, key=_order)
            if key.agent_version is None or self._streams[key].null is not None
        ]

    def _learned(self, whole: StreamState, seen: Observed) -> bool:
        self._changed.add(whole.key)
        if learned(whole, seen.shortfall, seen.started_ns, self._settings, seen.weight):
            return True
        whole.through[seen.producer] = seen.sequence
        return False

    def _weigh(self, state: StreamState, seen: Observed, *, before_ns: int) -> list[AlertEvent]:
        if not _is_ahead(state, seen):
            return []
        state.through[seen.producer] = seen.sequence
        if state.traffic_ns > seen.observed_ns:  # the clock was ahead once, and no longer is
            state.traffic_ns = seen.started_ns
        bets = self._bets_of(state)
        heaviest = state.null.heaviest if state.null else 1.0
        turned = observe(
            state,
            bets,
            seen.shortfall,
            seen.started_ns,
            before_ns=before_ns,
            share=min(1.0, seen.weight / heaviest),
        )
        self._changed.add(state.key)
        self._point(state)
        return [_event(state, seen, t.kind, t) for t in turned]

    def _add(self, state: StreamState) -> StreamState:
        key = state.key
        self._streams[key] = state
        if key.null == "floor":
            self._floors[_beside(key)] = state
        elif key.agent_version is not None:
            whole = msgspec.structs.replace(key, agent_version=None)
            self._slices.setdefault(whole, {})[key.agent_version] = state
        return state

    def _bets_of(self, state: StreamState) -> Bets:
        bets = self._bets.get(state.key)
        if bets is None:
            null = state.null
            if null is None:
                raise AssertionError("only armed streams bet")
            bets = self._bets[state.key] = Bets(null.null_rate, null.overdispersion)
        return bets

    def _slice(self, whole: StreamState, version: str) -> StreamState:
        """Return a version's stream; a new one inherits its agent's reference and thresholds."""
        slices = self._slices.setdefault(whole.key, {})
        state = slices.get(version)
        if whole.null is not None and (state is None or state.null is None):
            state = StreamState(
                key=msgspec.structs.replace(whole.key, agent_version=version),
                through=state.through if state else {},
                learned=whole.learned,
                hours=whole.hours,
                page=whole.page,
                ticket=whole.ticket,
            )
            state.null = whole.null
            self._add(state)
            self._let_go(slices)
        if state is None:
            raise AssertionError("slices begin when the whole is armed")
        return state

    def _floored(self, whole: StreamState, seen: Observed) -> list[AlertEvent]:
        """Hold an observation against its scorer's floor, where there is one.

        A floor needs the traffic and the overdispersion that a reference tells of, so it begins
        with the first one; what is usual does not matter to it, and a new reference neither.
        """
        lowest = self._settings.floors.get(whole.key.scorer)
        if lowest is None:
            return []
        state = self._floors.get(whole.key)
        if state is None and whole.null is not None:
            state = StreamState(
                key=msgspec.structs.replace(whole.key, null="floor"),
                learned=whole.learned,
                hours=whole.hours,
                null=msgspec.structs.replace(whole.null, null_rate=1.0 - lowest),
                page=whole.page,
                ticket=whole.ticket,
            )
            self._add(state)
        return self._weigh(state, seen, before_ns=state.last_ns) if state else []

    def _is_stale(self, floor: StreamState) -> bool:
        """Say whether a floor is not the configured one."""
        lowest = self._settings.floors.get(floor.key.scorer)
        return lowest is None or floor.null is None or floor.null.null_rate != 1.0 - lowest

    def _let_go(self, slices: dict[str, StreamState]) -> None:
        """Forget the longest-silent version over the limit; one that fires is never forgotten."""
        while len(slices) > self._settings.max_slices:
            quiet = [s for s in slices.values() if not s.fired and (s.count or s.null is None)]
            if not quiet:
                return
            state = min(quiet, key=lambda s: (s.traffic_ns, s.key.agent_version))
            del slices[state.key.agent_version or ""]
            del self._streams[state.key]
            self._bets.pop(state.key, None)
            self._changed.discard(state.key)

    def _silence(self, whole: StreamState, part: StreamState, seen: Observed) -> list[AlertEvent]:
        events: list[AlertEvent] = []
        for state in self._slices.get(whole.key, {}).values():
            if state is not part and state.fired and _is_silent(state, whole.traffic_ns):
                events += [_event(state, seen, t.kind, t) for t in silenced(state)]
                self._changed.add(state.key)
        return events

    def _point(self, state: StreamState) -> None:
        at_ns = state.traffic_ns // POINT_NS * POINT_NS
        stream, part = state.key.stream, state.key.slice
        self._points[stream, part, at_ns] = Point(
            stream=stream,
            slice=part,
            at_ns=at_ns,
            evidence=state.evidence,
            threshold=state.page,
            observations=state.count,
            failures=state.total,
        )


def _last(state: StreamState, at_ns: int) -> Observed:
    """Stand for the last observation of a state where none makes the difference."""
    key = state.key
    producer, sequence = max(state.through.items(), default=("", 0))
    return Observed(
        producer=producer,
        sequence=sequence,
        conversation_id="",
        scorer=key.scorer,
        scorer_version=key.scorer_version,
        shortfall=0.0,
        agent=key.agent,
        agent_version=key.agent_version or "",
        environment=key.environment,
        observed_ns=at_ns,
        started_ns=state.traffic_ns,
    )


def _is_silent(state: StreamState, now_ns: int) -> bool:
    """Say whether a version had no traffic for longer than its rarity explains."""
    gaps = state.count - 1
    usual = (state.traffic_ns - state.first_ns) // gaps * SILENT_GAPS if gaps > 0 else UNKNOWN_NS
    return now_ns - state.traffic_ns > max(SILENT_NS, usual)


def _beside(floor: Key) -> Key:
    """Return the stream of what is usual beside a floor's."""
    return msgspec.structs.replace(floor, null="drift")


def _is_ahead(state: StreamState, seen: Observed) -> bool:
    """Say whether a state has not taken an observation yet."""
    return seen.sequence > state.through.get(seen.producer, 0)


def _order(key: Key) -> tuple[str, str, str, str, bool, str, str]:
    return (
        key.agent,
        key.environment,
        key.scorer,
        key.scorer_version,
        key.agent_version is not None,
        key.agent_version or "",
        key.null,
    )


def _event(
    state: StreamState,
    seen: Observed,
    kind: Literal["armed", "fired", "cleared", "rebaselined"],
    turned: Turned | None = None,
) -> AlertEvent:
    key, null = state.key, state.null
    severity = turned.severity if turned else ""
    parts = (key.stream, key.slice, kind, severity, seen.producer, str(seen.sequence))
    name = hashlib.sha256("\x1f".join(parts).encode("utf-8", "surrogatepass"))
    return AlertEvent(
        event_id=name.hexdigest()[:32],
        at_ns=seen.observed_ns,
        kind=kind,
        stream=key.stream,
        slice=key.slice,
        detail=AlertDetail(
            agent=key.agent,
            agent_version=key.agent_version or "",
            environment=key.environment,
            scorer=key.scorer,
            scorer_version=key.scorer_version,
            severity=severity,
            evidence=state.evidence,
            threshold=state.ticket if severity == "ticket" else state.page,
            reference_rate=null.reference_rate if null else 0.0,
            null_rate=null.null_rate if null else 0.0,
            observations=state.count,
            traffic_ns=seen.started_ns,
            conversation_id=seen.conversation_id,
            change=turned.change if turned else None,
            reason=turned.reason if turned else "",
        ),
    )
