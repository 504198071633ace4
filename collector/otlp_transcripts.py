"""Put conversations together from recorded OTLP requests, by the stages that live traffic takes.

A file has no clock: all its spans are taken in first, and then every conversation is
concluded as one episode. So a recording gives the conversations that live traffic would
have given if each had been decided after its last span.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence

from collector.assembler import Assembler
from collector.config import AssembleConfig
from collector.conversations import build
from collector.errors import PermanentError
from collector.held import merged_facts
from collector.journal_records import Entry
from collector.message_keys import MessageKeys
from collector.model import Conversation, Episode
from collector.normalise import Normaliser
from collector.otlp import Signal, parse
from collector.own_telemetry import is_own
from collector.reading import Reader
from collector.stitcher import Stitcher
from collector.talk import Due, Talk
from collector.telemetry import LogRecord, Span

_UNBOUNDED = AssembleConfig(
    max_open_episodes=10**9, content_budget=2**62, max_episode=math.inf, idle_timeout=0.0
)


class NothingRemembered:
    """Remember no earlier conversation: a file starts from nothing."""

    def talk(self, key: str) -> Talk | None:
        """Know none."""
        del key
        return None

    def key_of_tip(self, tip: bytes) -> str | None:
        """Know none."""
        del tip
        return None


class Recording:
    """Take spans and log records in, from any number of files, and conclude them all at once."""

    def __init__(self) -> None:
        self._keys = MessageKeys()
        stitcher = Stitcher(
            keys=self._keys,
            remembered=NothingRemembered(),
            count=lambda _method, _result: None,
            merged=self._merged,
        )
        self._assembler = Assembler(
            _UNBOUNDED, stitcher, seen=(), pin=lambda _: None, unpin=lambda _: None
        )
        self._reader = Reader(Normaliser(), read=lambda _: [], count=lambda *_, **__: None)
        self._requests = 0

    def _merged(self, source: Talk, target: Talk) -> None:
        self._assembler.merged(source, target)

    def add_request(self, body: bytes, *, signal: Signal = "traces") -> str:
        """Take in an ``ExportTraceServiceRequest`` or ``ExportLogsServiceRequest`` in JSON.

        Returns why something of it could not be taken in; empty when everything was.

        Raises:
            MalformedError: it is none.
            OversizedError: it has more entries than one request may have.
        """
        batch = parse(signal, "json", body)
        self.add(batch.items(), size=len(body))
        if not batch.rejected:
            return ""
        return (
            f"{batch.rejected} left out of {batch.rejected + batch.accepted}: {batch.reject_reason}"
        )

    def add(self, items: Sequence[Span | LogRecord], *, size: int) -> None:
        """Take in spans and log records that came together, in ``size`` bytes."""
        self._requests += 1
        entry = Entry(
            id=self._requests,
            received_ns=0,
            receiver="file",
            signal="traces",
            encoding="json",
            items=len(items),
            body=b"",
        )
        for position, item in enumerate(items):
            held = None if is_own(item) else self._reader.held(entry, position, item)
            if held is not None:
                # What was read out of a span is enough: the text of long histories is let go.
                held.span = None
                held.size += size // max(1, len(items))
                self._assembler.add(held, 0.0)

    def conversations(self) -> Iterator[Conversation]:
        """Conclude everything, each conversation as one episode."""
        for due in self._assembler.advance(math.inf):
            if due.kind == "episode":
                yield _conversation(due, self._keys)


def otlp_conversations(
    lines: Iterable[bytes], *, on_error: Callable[[int, str], None]
) -> Iterator[Conversation]:
    """Yield the conversations of OTLP JSON lines, one ``ExportTraceServiceRequest`` each.

    ``on_error`` is given the number of a request, from 1, that is not one, and the reason.
    """
    recording = Recording()
    for number, line in enumerate(lines, start=1):
        try:
            problem = recording.add_request(line)
        except PermanentError as error:
            problem = str(error)
        if problem:
            on_error(number, problem)
    yield from recording.conversations()


def _conversation(due: Due, keys: MessageKeys) -> Conversation:
    facts = merged_facts(due.held)
    starts = [fact.start_ns for fact in facts if fact.start_ns]
    return build(
        facts,
        id=due.talk.id,
        explicit=due.talk.explicit,
        episode=Episode(
            number=due.number,
            started_ns=min(starts, default=0),
            ended_ns=max((max(f.end_ns, f.start_ns) for f in facts), default=0),
        ),
        keys=keys,
    ).conversation
