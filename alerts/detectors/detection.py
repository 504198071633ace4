"""Run the detectors over the store's observations, on a thread of its own.

The store is both ends: observations are read from it in the order of their producers'
sequences, and events, points and states are written to it. Events go first and have names that
follow from the observations, so that a crash between any two writes only repeats them.
"""

from __future__ import annotations

import heapq
import logging
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Any

import msgspec

from alerts.detectors.detector import Detector
from alerts.detectors.observed import Observed, weighable
from alerts.detectors.rebaselining import Order, Orders
from alerts.detectors.settings import Settings
from alerts.detectors.stream import StreamState, restored
from alerts.stream_view import AlertEvent, StreamView
from collector.errors import OutriderError
from collector.stamps import stamp

_LOG = logging.getLogger(__name__)

POLL_S = 1.0
"""Between two looks at the producer in this process."""
LOOK_S = 30.0
"""Between two looks for other producers' observations."""
SAVE_S = 30.0
"""Longest that states are not written while observations come; after a crash they are folded again."""
GAP_S = 60.0
"""How long a missing sequence is waited for; then it is skipped and counted."""
CHUNK = 20_000
"""Observations of one producer read at once."""
BEFORE_NS = 86_400_000_000_000
"""Observations of a new producer are looked for this far before the last ones of others."""

_READ = """\
SELECT producer, sequence, conversation_id, scorer, scorer_version, shortfall, stratum, weight,
  agent, agent_version, environment,
  toUnixTimestamp64Nano(observed) AS observed_ns, toUnixTimestamp64Nano(started) AS started_ns
FROM observations
WHERE %s
ORDER BY producer, sequence LIMIT {limit:UInt64} BY producer"""
_STRANGERS = (
    "(producer NOT IN {known:Array(String)}"
    " AND observed >= fromUnixTimestamp64Nano({since:Int64}, 'UTC'))"
)
_LOAD = """\
SELECT stream, slice, state, toUnixTimestamp64Nano(updated) AS updated_ns
FROM detector_state FINAL"""

WATERMARK = ("", "watermark")
"""The row of ``detector_state`` that holds how far each producer was read."""

Query = Callable[[str, Mapping[str, Any]], list[dict[str, Any]]]
"""Run SQL with bound parameters and return the rows; raises ``OutriderError``."""
Write = Callable[[Mapping[str, Sequence[Sequence[Any]]]], None]
"""Insert rows by table, durably; raises ``OutriderError``."""


class Mark(msgspec.Struct):
    """How far a producer was read."""

    sequence: int = 0
    observed_ns: int = 0


class _Unsaved(msgspec.Struct):
    """What waits to be written."""

    events: list[AlertEvent] = []
    since_s: float = 0.0
    """When the first of it came."""
    any: bool = False


class Detection:
    """Hold the detector of one process.

    Args:
        settings: What the user decided.
        scorers: Name and version of those that run; the streams of others are dropped.
        ready: Whether the store has its tables; nothing is asked of it before.
        query: Reads the store.
        write: Writes to it.
        clock_ns: Wall clock.
        seconds: Monotonic clock.
        count: Raises a counter.
        producer: The producer in this process; empty for none.
        produced: The last sequence that it gave.
    """

    def __init__(
        self,
        settings: Settings,
        *,
        scorers: AbstractSet[tuple[str, str]],
        ready: Callable[[], bool],
        query: Query,
        write: Write,
        clock_ns: Callable[[], int],
        seconds: Callable[[], float],
        count: Callable[[str, float, dict[str, str]], None],
        producer: str = "",
        produced: Callable[[], int] = int,
    ) -> None:
        self._settings = settings
        self._scorers = scorers
        self._ready = ready
        self._query = query
        self._write = write
        self._clock_ns = clock_ns
        self._seconds = seconds
        self._count = count
        self._producer = producer
        self._produced = produced
        self._detector: Detector | None = None
        self._marks: dict[str, Mark] = {}
        self._gaps: dict[str, tuple[int, float]] = {}
        self._unsaved = _Unsaved()
        self._updated_ns = 0
        self._looked_s = -LOOK_S
        self._more = False
        """Whether the last read was cut off at its limit."""
        self._views: tuple[StreamView, ...] = ()
        self.orders = Orders()
        """Where somebody tells it to learn a reference anew."""

    def views(self) -> tuple[StreamView, ...]:
        """Show all streams as of the last step; from any thread."""
        return self._views

    @property
    def behind(self) -> int:
        """Observations of this process that were not folded yet."""
        return max(0, self._produced() - self._marks.get(self._producer, Mark()).sequence)

    @property
    def loaded(self) -> bool:
        """Whether the states of an earlier process were read."""
        return self._detector is not None

    def run(self, stop: threading.Event) -> None:
        """Work until told to stop, whatever the store says."""
        pause = POLL_S
        while not stop.is_set():
            try:
                pause = 0.0 if self.step() else POLL_S
            except OutriderError as error:
                self._failed(error)
                pause = min(LOOK_S, 2 * pause or POLL_S)
            except Exception as error:  # noqa: BLE001 - a bug of ours must not end all alarms
                self._stumbled(error)
                pause = LOOK_S
            if pause:
                stop.wait(pause)
        try:
            self.save()
        except OutriderError as error:
            self._failed(error)

    def step(self) -> bool:
        """Fold what is new, write what is due; say whether there may be more.

        Raises:
            OutriderError: the store did not answer; the next call goes on from here.
        """
        if self._detector is None and not self._ready():
            return False
        detector = self._detector or self._load()
        if self._unsaved.events:
            self.save()
        now = self._seconds()
        if self._more or self.behind or now - self._looked_s >= LOOK_S:
            self._looked_s = now
            self._more = self._fold(detector)
            self._views = tuple(detector.views())
        while order := self.orders.take():
            self._obey(order, detector)
        due = self._unsaved.any and now - self._unsaved.since_s >= SAVE_S
        if self._unsaved.events or due:
            self.save()
        return self._more

    def _obey(self, order: Order, detector: Detector) -> None:
        """Let streams learn anew, and answer when that is in the store."""
        events = detector.rebaseline(order.whose, at_ns=self._clock_ns())
        if events:
            self._unsaved.events += events
            self._unsaved.any = True
            self._views = tuple(detector.views())
        try:
            self.save()
        except OutriderError as error:
            order.done.set_exception(error)
            raise
        order.done.set_result(tuple(e.stream for e in events if e.kind == "rebaselined"))

    def save(self) -> None:
        """Write events, then points, then the states that changed and how far was read.

        Raises:
            OutriderError: the store did not take everything; the next call writes it all again.
        """
        detector = self._detector
        if detector is None or not self._unsaved.any:
            return
        now_ns = self._updated_ns = max(self._clock_ns(), self._updated_ns + 1)
        if self._unsaved.events:
            self._write({"alert_events": [event_row(e) for e in self._unsaved.events]})
            self._unsaved.events = []
        points, states = detector.points(), detector.changed()
        try:
            self._write(
                {
                    "detector_points": [
                        (
                            p.stream,
                            p.slice,
                            stamp(p.at_ns),
                            p.evidence,
                            p.threshold,
                            p.observations,
                            p.failures,
                        )
                        for p in points
                    ],
                    "detector_state": [
                        *((s.key.stream, s.key.slice, _json(s), stamp(now_ns)) for s in states),
                        (*WATERMARK, _json(self._marks), stamp(now_ns)),
                    ],
                }
            )
        except OutriderError:
            detector.again(points, states)
            raise
        self._unsaved = _Unsaved()

    def _load(self) -> Detector:
        """Read the states of an earlier process; one that cannot be read is learned anew."""
        states: list[StreamState] = []
        for row in self._query(_LOAD, {}):
            self._updated_ns = max(self._updated_ns, int(row["updated_ns"]))
            try:
                if (row["stream"], row["slice"]) == WATERMARK:
                    self._marks = msgspec.json.decode(row["state"], type=dict[str, Mark])
                else:
                    states.append(restored(row["state"]))
            except (msgspec.MsgspecError, ValueError) as error:
                self._count("detector_errors_total", 1.0, {"error": type(error).__name__})
                _LOG.error("the state of %s %s cannot be read", row["stream"], row["slice"])
        detector = Detector(self._settings, states)
        ended = detector.retire(self._scorers, at_ns=self._clock_ns())
        if ended:
            self._unsaved = _Unsaved(events=ended, since_s=self._seconds(), any=True)
        self._views = tuple(detector.views())
        self._detector = detector  # last: who sees that it was loaded sees its views too
        return detector

    def _fold(self, detector: Detector) -> bool:
        found: dict[str, list[Observed]] = {}
        conditions, parameters = self._where()
        rows = self._query(_READ % conditions, parameters)
        for row in rows:
            found.setdefault(row["producer"], []).append(msgspec.convert(row, Observed))
        runs = [self._gapless(name, seen) for name, seen in found.items()]
        folded = 0
        for seen in heapq.merge(*runs, key=lambda one: one.observed_ns):
            if not weighable(seen):
                self._count("detector_skipped_observations_total", 1.0, {})
            elif seen.stratum == "uniform":
                self._unsaved.events += detector.fold(seen)
            mark = self._marks.setdefault(seen.producer, Mark())
            mark.sequence = seen.sequence
            mark.observed_ns = max(mark.observed_ns, seen.observed_ns)
            folded += 1
        if folded and not self._unsaved.any:
            self._unsaved.any = True
            self._unsaved.since_s = self._seconds()
        return folded >= CHUNK

    def _where(self) -> tuple[str, dict[str, Any]]:
        """Ask for what comes after the marks, by the table's key."""
        last = [mark.observed_ns for mark in self._marks.values()]
        parameters: dict[str, Any] = {
            "since": max(0, min([*last, self._clock_ns()] if last else [0]) - BEFORE_NS),
            "limit": CHUNK,
            "known": list(self._marks) or [""],
        }
        # The time is for strangers only: it is a clock's, and a known producer's sequence is not.
        conditions = [_STRANGERS]
        for index, (name, mark) in enumerate(self._marks.items()):
            conditions.append(
                f"(producer = {{p{index}:String}} AND sequence > {{s{index}:UInt64}})"
            )
            parameters |= {f"p{index}": name, f"s{index}": mark.sequence}
        return " OR ".join(conditions), parameters

    def _gapless(self, producer: str, seen: Iterable[Observed]) -> list[Observed]:
        """Return what follows the mark without a gap; one that stays open is skipped."""
        mark = self._marks.get(producer, Mark()).sequence
        run: list[Observed] = []
        for one in seen:
            if one.sequence <= mark:
                continue  # a resend that was not merged away yet
            if one.sequence > mark + 1:
                first, since = self._gaps.get(producer, (0, 0.0))
                if first != mark + 1:
                    self._gaps[producer] = (mark + 1, self._seconds())
                    break
                if self._seconds() - since < GAP_S:
                    break
                skipped = one.sequence - mark - 1
                self._count("detector_skipped_observations_total", float(skipped), {})
                _LOG.warning("%d observations of %s are missing", skipped, producer)
            run.append(one)
            mark = one.sequence
        return run

    def _stumbled(self, error: Exception) -> None:
        """Go back to what was written last."""
        self._count("detector_errors_total", 1.0, {"error": type(error).__name__})
        _LOG.error("detection begins again from its stored state: %s", type(error).__name__)
        self._detector, self._marks, self._unsaved = None, {}, _Unsaved()

    def _failed(self, error: OutriderError) -> None:
        self._count("detector_errors_total", 1.0, {"error": type(error).__name__})
        _LOG.debug("detection waits for the store: %s", error)


def event_row(event: AlertEvent) -> tuple[str, str, str, str, str, str]:
    """Return the row of ``alert_events``."""
    return (
        event.event_id,
        stamp(event.at_ns),
        event.kind,
        event.stream,
        event.slice,
        _json(event.detail),
    )


def _json(value: Any) -> str:
    return msgspec.json.encode(value).decode()
