"""Turn what is due into what is stored, scored and remembered, one conversation at a time."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable

from collector.assembler import Assembler
from collector.decision import Decider
from collector.errors import RetryableError
from collector.fault import told
from collector.pins import Pins
from collector.reading import Reader
from collector.talk import Due, Held
from collector.work import Work

_LOG = logging.getLogger(__name__)


class Concluding:
    """Write conclusions into the work of the present step."""

    def __init__(
        self,
        *,
        assembler: Assembler,
        decider: Decider,
        reader: Reader,
        pins: Pins,
        work: Work,
        keep_trace: Callable[[str], bool],
        late_window: float,
        window_limit: int,
    ) -> None:
        self._assembler = assembler
        self._decider = decider
        self._reader = reader
        self._pins = pins
        self._work = work
        self._keep_trace = keep_trace
        self._late_window = late_window
        self._window_limit = window_limit

    @property
    def sequence(self) -> int:
        """Return the last number given to an observation."""
        return self._decider.sequence

    def handle(self, due: Due, *, now: float, stop: threading.Event) -> None:
        """Conclude one thing that is due; one that we fail on stays in the journal.

        Raises:
            RetryableError: Told to stop while the journal could not be read.
        """
        sequence = self._decider.sequence
        try:
            held = self._refilled(due, stop)
            if due.kind == "plain":
                self._plain(due, held)
            elif due.kind == "turn":
                self._turns(due, held)
            else:
                self._conclude(due, held, now)
        except RetryableError:
            raise
        except Exception as error:  # noqa: BLE001 - whatever one conversation holds, the others go on
            self._decider.sequence = sequence
            self._give_up(due, error)

    def _refilled(self, due: Due, stop: threading.Event) -> list[Held]:
        """Return all spans of what is due with their content, however long the disk takes."""
        while True:
            try:
                held = self._reader.refill(due.held)
                if due.earlier is None:
                    return held
                fresh = {h.key for h in held}
                before = self._reader.at(due.earlier.refs)
                return held + [h for h in before if h.key not in fresh]
            except RetryableError as error:
                if stop.wait(error.retry_after_s):
                    raise

    def _plain(self, due: Due, held: list[Held]) -> None:
        """Write down a trace in which no agent did anything."""
        self.store_plain(held)
        self._work.count("spans_plain_total", len(held))
        if due.opened is not None:
            self._pins.unpin_all(due.opened.requests)
        self._assembler.drop(due.talk)

    def store_plain(self, held: list[Held]) -> None:
        """Keep spans that belong to no conversation, or came too late for theirs."""
        work = self._work
        work.decide(held)
        kept = [h for h in held if h.span is not None and self._keep_trace(h.span.trace_id)]
        work.keep(kept, 1.0)

    def _conclude(self, due: Due, held: list[Held], now: float) -> None:
        work, earlier = self._work, due.earlier
        conclusion = self._decider.decide(due, held, now=now)
        record, talk = conclusion.record, due.talk
        work.conclude(talk, conclusion)
        work.dropped_tips.extend(talk.continued)
        talk.last_ended_ns = max(talk.last_ended_ns, record.ended_ns)
        if record.number == talk.number:
            talk.last_tip = record.tip
        ended = due.opened.traces.items() if due.opened is not None else ()
        work.decide(due.held, (trace_id for trace_id, over in ended if over))
        result = "episode" if earlier is None else "revision"
        spans = sum(not h.is_log for h in due.held)
        work.count("stage_items_total", spans, stage="score", result=result)
        self._assembler.settle(talk, record)

    def _turns(self, due: Due, held: list[Held]) -> None:
        """Score the finished turns of an episode that goes on."""
        said = self._decider.turns(due, held)
        if said is not None and due.opened is not None:
            self._work.score_turns(due.talk, due.opened, said)
            due.opened.verdicts = said.verdicts

    def _give_up(self, due: Due, error: Exception) -> None:
        """Leave what we fail on in the journal, where the next release may read it again."""
        _LOG.error("%s %s of %s: %s", due.kind, due.number, due.talk.key, told(error))
        if due.kind == "turn":
            return  # its decision will meet the same error
        self._work.count("episodes_failed_total", error=type(error).__name__)
        self._assembler.drop(due.talk)

    def expire(self, now: float) -> None:
        """Let go of episodes whose late window is over, and of the oldest over the limit."""
        work = self._work
        before = now - self._late_window
        for decided in self._assembler.expired(before, limit=self._window_limit):
            self._pins.unpin_all(decided.pinned)
            work.expired.append(decided)
