"""Carry what the journal holds through decoding, assembly and scoring to the outbox.

One thread does it, in the order in which requests were acknowledged. Assembly runs on the
time at which requests were received, so that what it concludes depends on the journal
alone: after a crash the same requests lead to the same episodes.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterable, Sequence
from typing import Protocol

import msgspec

from collector import totals
from collector.assembler import Assembler
from collector.concluding import Concluding
from collector.errors import RetryableError
from collector.fault import told
from collector.handoff import Handoff
from collector.journal_records import ConversationEnd, Entry, Transaction
from collector.model import ScoreRecord
from collector.notebook import Notebook
from collector.otlp import Batch
from collector.own_telemetry import is_own
from collector.pins import Pins
from collector.reading import Reader, batch_of
from collector.shipping import Shipping
from collector.stitcher import Stitcher
from collector.talk import Due
from collector.telemetry import LogRecord, Span
from collector.totals import Deltas
from collector.work import Work

STEP_ENTRIES = 256
"""Most requests processed between two commits."""
STEP_EPISODES = 200
"""Episodes after which a step commits what it has, however many are due at once."""
STEP_S = 0.2
"""Longest a step works before it commits what it has."""
_LOG = logging.getLogger(__name__)

IDLE_S = 0.05
"""How often an idle pipeline looks at the clock."""
_DROPPED = {"own": "own_telemetry", "unreadable": "unreadable", "unusable": "unusable"}
"""What became of items that are not used, with the reason under which they are counted."""


class Log(Protocol):
    """What the pipeline needs of the journal."""

    @property
    def processed_through(self) -> int:
        """Requests up to this id are concluded."""

    def after(self, id: int, limit: int) -> list[Entry]:
        """Read the requests after an id, in order."""


class Claims(Protocol):
    """What the pipeline needs to know of requests that others may have taken over."""

    def obey(self, process: Callable[[Entry, Batch | None], None], cursor: int) -> bool:
        """Do what was asked for between two steps; say whether there was anything."""

    def parks(self, entry: Entry) -> bool:
        """Say whether a request is not to be processed now."""


class Pipeline:
    """Process the journal; see the module's docstring."""

    def __init__(
        self,
        *,
        journal: Log,
        commit: Callable[[Transaction], list[int]],
        handoff: Handoff,
        reader: Reader,
        stitcher: Stitcher,
        assembler: Assembler,
        concluding: Concluding,
        shipping: Shipping,
        pins: Pins,
        claims: Claims,
        notebook: Notebook,
        work: Work,
        counted: Sequence[Callable[[], Deltas]],
        emit: Callable[[Sequence[ScoreRecord]], None],
        late_window: float,
        most_decided: int,
        clock: Callable[[], float],
    ) -> None:
        self._journal = journal
        self._commit = commit
        self._handoff = handoff
        self._reader = reader
        self._stitcher = stitcher
        self._assembler = assembler
        self._concluding = concluding
        self._shipping = shipping
        self._pins = pins
        self._claims = claims
        self._notebook = notebook
        self._work = work
        self._counted = counted
        """What others counted since they were last asked."""
        self._emit = emit
        self._late_window = late_window
        self._most_decided = most_decided
        """Decided episodes held, from which on no more requests are taken in."""
        self._clock = clock
        self._counted_through = journal.processed_through
        """Requests up to here were counted before this process started."""
        self._cursor = 0
        self._committed = self._counted_through
        self._stop = threading.Event()
        self.now = 0.0
        """The pipeline's time: when the last processed request was received, or the clock's."""
        self.recovering = True
        self.closed = threading.Event()
        """Set once everything that will be concluded is committed."""
        self.last_score_s = 0.0
        """When something was last scored; 0 before the first."""

    # --- one step

    def step(self, stop: threading.Event) -> bool:
        """Process what is there, decide what is due, commit; say whether there was anything."""
        self._stop = stop
        self._shipping.settle(self._work)
        started = self._clock()
        busy = self._claims.obey(self._work_on, self._cursor)
        if self._assembler.recent_episodes >= self._most_decided:
            # Only stored ones are let go, so the store is behind; time stands still meanwhile.
            self._concluding.expire(self.now)
            self._finish()
            return busy
        for entry, batch in self._next():
            busy = True
            self._take(entry, batch)
            if self._clock() - started > STEP_S:
                break
        if not busy:
            self.recovering = False
            self._advance(self._clock())
        self._decide(self._assembler.overflow())
        self._concluding.expire(self.now)
        self._finish()
        return busy

    def _next(self) -> Iterable[tuple[Entry, Batch | None]]:
        """Yield requests in order: from memory where they are, else from the journal."""
        for _ in range(STEP_ENTRIES):
            item = self._handoff.take(self._cursor + 1)
            if item is None:
                break
            yield item
        else:
            return
        entries = self._journal.after(self._cursor, STEP_ENTRIES)
        for entry in entries:
            if entry.id > self._cursor:
                item = self._handoff.take(entry.id)
                self._handoff.skip(entry.id)
                yield item or (entry, None)

    def _take(self, entry: Entry, batch: Batch | None) -> None:
        """Process one request; one that we fail on stays in the journal, and the others go on."""
        self._advance(min(entry.received_ns / 1e9, self._clock()))
        self._cursor = entry.id
        self._pins.pin(entry.id)
        if not self._claims.parks(entry):
            self._work_on(entry, batch)

    def _work_on(self, entry: Entry, batch: Batch | None) -> None:
        # Read again after a crash, a request says nothing new; what is decided meanwhile does.
        self._work.counting = entry.id > self._counted_through
        try:
            self._process(entry, batch)
        except Exception as error:  # noqa: BLE001 - a bug of ours on one request must not stop all
            self._work.count("requests_failed_total", error=type(error).__name__)
            self._count(entry, {"failed": entry.items})
            _LOG.error("request %s could not be processed: %s", entry.id, told(error))
            return
        finally:
            self._work.counting = True
        self._pins.unpin(entry.id)

    def _process(self, entry: Entry, batch: Batch | None) -> None:
        if entry.signal == "end":
            self._end(entry)
        elif entry.signal in ("outcomes", "labels"):
            self._notebook.take(entry)
        else:
            items: Sequence[Span | LogRecord] = (batch or batch_of(entry)).items()
            outcomes: dict[str, int] = {}
            for position, item in enumerate(items):
                outcome = "own" if is_own(item) else self._add(entry, position, item)
                outcomes[outcome] = outcomes.get(outcome, 0) + 1
            self._count(entry, outcomes)

    def _add(self, entry: Entry, position: int, item: Span | LogRecord) -> str:
        """Hand one item to the assembler; one that cannot be read costs no other."""
        try:
            noted = self._notebook.hear(item, entry) if isinstance(item, LogRecord) else ""
            held = None if noted else self._reader.held(entry, position, item)
        except Exception as error:  # noqa: BLE001 - a bug of ours on one item, which is counted
            _LOG.error("item %s of request %s is unreadable: %s", position, entry.id, told(error))
            return "unreadable"
        if held is None:
            return noted or "irrelevant"
        outcome = self._assembler.add(held, self.now)
        if outcome == "too_late":
            self._concluding.store_plain([held])
        return outcome

    def _count(self, entry: Entry, outcomes: dict[str, int]) -> None:
        """Count what became of a request's items."""
        work = self._work
        stage = "assemble" if entry.signal == "traces" else "assemble_logs"
        for outcome, amount in outcomes.items():
            work.count("stage_items_total", amount, stage=stage, result=outcome)
        traces = entry.signal == "traces"
        dropped = "spans_dropped_total" if traces else "log_records_dropped_total"
        for outcome, reason in _DROPPED.items():
            if outcomes.get(outcome):
                work.count(dropped, outcomes[outcome], reason=reason)
        if not traces:
            return
        again = outcomes.get("duplicate", 0) + outcomes.get("replaced", 0)
        if again:
            work.count("spans_duplicate_total", again)
        for result in ("late", "too_late"):
            if outcomes.get(result):
                work.count("late_spans_total", outcomes[result], result=result)

    def _end(self, entry: Entry) -> None:
        end = msgspec.json.decode(entry.body, type=ConversationEnd)
        for talk in self._stitcher.of_id(end.conversation_id):
            if self._stitcher.matches(talk, end.tenant, end.environment, end.variant):
                self._assembler.end(talk, entry.id, now=self.now, sent_ns=entry.received_ns)

    # --- decisions

    def _advance(self, now: float) -> None:
        self.now = max(self.now, now)
        self._decide(self._assembler.advance(self.now))

    def _decide(self, dues: Iterable[Due]) -> None:
        for due in dues:
            self._concluding.handle(due, now=self.now, stop=self._stop)
            if self._work.size >= STEP_EPISODES:
                self._finish()

    # --- commit

    def _finish(self) -> None:
        work = self._work
        for counted in self._counted:
            totals.merge(work.totals, counted())
        through = max(self._cursor, self._counted_through)
        free = self._pins.take_free()
        if not (
            work.episodes
            or work.totals
            or work.open
            or work.has_output
            or work.seen
            or work.expired
            or work.drop_outbox
            or free
            or through > self._committed
        ):
            return
        for request in work.pinned:
            self._pins.pin(request)
        free = [request for request in free if not self._pins.holds(request)]
        transaction = work.transaction(
            processed_through=through,
            sequence=self._concluding.sequence,
            free=free,
            late_window=self._late_window,
            now=self.now,
        )
        self._shipping.coming = work.has_output
        outbox = self._commit_until(transaction)
        if outbox is None:
            return
        self._committed = through
        if outbox:
            self._shipping.ship(outbox[0], work)
        self._shipping.coming = False
        if work.scores:
            self.last_score_s = self._clock()
        self._emit(work.scores)
        work.clear()

    def _commit_until(self, transaction: Transaction) -> list[int] | None:
        """Commit, again and again while the disk refuses; ``None`` when told to stop first."""
        while True:
            try:
                return self._commit(transaction)
            except RetryableError as error:
                if self._stop.wait(error.retry_after_s):
                    return None

    def close(self) -> None:
        """Commit what the store reported after the last step; the pipeline has stopped."""
        self._shipping.settle(self._work, send=False)
        self._stop.set()
        self._finish()
        self.closed.set()

    def run(self, stop: threading.Event, ending: threading.Event) -> None:
        """Work until told to stop.

        Args:
            stop: Set when no more is to be begun.
            ending: Set when nothing more is received: then what is there is still done.
        """
        while not stop.is_set():
            ends = ending.is_set()
            try:
                if not self.step(stop):
                    if ends:
                        return
                    self._handoff.wait(IDLE_S)
            except RetryableError as error:
                _LOG.warning("the journal cannot be read now: %s", error)
                stop.wait(error.retry_after_s)
