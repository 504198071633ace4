"""Put conversations together from recorded OTLP requests, by the stages that live traffic takes.

A file has no clock: all its spans are taken in first, and then every conversation is
concluded as one episode. So a recording gives the conversations that live traffic would
have given if each had been decided after its last span.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator

from collector.assembler import Assembler
from collector.config import AssembleConfig
from collector.conversations import build
from collector.errors import PermanentError
from collector.held import merged_facts
from collector.journal_records import Entry
from collector.message_keys import MessageKeys
from collector.model import Conversation, Episode
from collector.normalise import Normaliser
from collector.otlp import parse
from collector.reading import Reader, is_own
from collector.stitcher import Stitcher
from collector.talk import Due, Talk

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


def otlp_conversations(
    lines: Iterable[bytes], *, on_error: Callable[[int, str], None]
) -> Iterator[Conversation]:
    """Yield the conversations of OTLP JSON lines, one ``ExportTraceServiceRequest`` each.

    ``on_error`` is given the number of a request, from 1, that is not one, and the reason.
    """
    keys = MessageKeys()
    assemblers: list[Assembler] = []

    def merged(source: Talk, target: Talk) -> None:
        assemblers[0].merged(source, target)

    stitcher = Stitcher(
        keys=keys,
        remembered=NothingRemembered(),
        count=lambda _method, _result: None,
        merged=merged,
    )
    assembler = Assembler(_UNBOUNDED, stitcher, seen=(), pin=lambda _: None, unpin=lambda _: None)
    assemblers.append(assembler)
    reader = Reader(Normaliser(), read=lambda _: [], count=lambda *_, **__: None)
    for number, line in enumerate(lines, start=1):
        try:
            _take(number, line, reader, assembler)
        except PermanentError as error:
            on_error(number, str(error))
    for due in assembler.advance(math.inf):
        if due.kind == "episode":
            yield _conversation(due, keys)


def _take(number: int, line: bytes, reader: Reader, assembler: Assembler) -> None:
    batch = parse("traces", "json", line)
    entry = Entry(
        id=number,
        received_ns=0,
        receiver="file",
        signal="traces",
        encoding="json",
        items=batch.accepted,
        body=line,
    )
    for position, item in enumerate(batch.spans()):
        held = None if is_own(item) else reader.held(entry, position, item)
        if held is not None:
            assembler.add(held, 0.0)


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
