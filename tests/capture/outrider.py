"""Take OTLP in by Outrider's own port and put conversations together by its own stages.

What is left out is what does not change a conversation: the journal, scoring and the store. The
conversations are those of the moment of decision, before redaction.
"""

from __future__ import annotations

import logging
import math
import threading
from collections.abc import Sequence
from types import TracebackType
from typing import Self

import uvicorn

from collector.assembler import Assembler
from collector.config import AssembleConfig, ReceiveConfig
from collector.conversations import build
from collector.held import merged_facts
from collector.journal_records import Entry
from collector.message_keys import MessageKeys
from collector.model import Conversation, Episode
from collector.normalise import Normaliser
from collector.otlp import Batch
from collector.otlp_transcripts import NothingRemembered
from collector.own_telemetry import is_own
from collector.reading import Reader
from collector.receivers.admission import Admission
from collector.receivers.otlp_http import otlp_http
from collector.stitcher import Stitcher
from collector.talk import Talk
from collector.telemetry import LogRecord, Span
from tests.collector.access import callers

Request = tuple[Entry, Batch]
_UNBOUNDED = AssembleConfig(
    max_open_episodes=10**9, content_budget=2**62, max_episode=math.inf, idle_timeout=0.0
)


class Receiver:
    """The OTLP/HTTP port, with a list behind it."""

    def __init__(self) -> None:
        self._requests: list[Request] = []
        self.rejected = 0
        limits = ReceiveConfig()
        admission = Admission(
            accept=self._accept,
            count=self._count,
            limits=limits,
            clock_ns=lambda: 0,
            log=logging.getLogger("outrider.capture"),
        )
        app = otlp_http(admission, limits=limits, callers=callers())
        self._server = uvicorn.Server(
            uvicorn.Config(app, host="127.0.0.1", port=0, log_level="critical", lifespan="off")
        )
        self._started = threading.Event()
        self._thread = threading.Thread(target=self._server.run, daemon=True)
        self.url = ""

    def __enter__(self) -> Self:
        """Start, and wait until it answers."""
        self._thread.start()
        pause = threading.Event()
        while not self._server.started:
            pause.wait(0.02)
        (server,) = self._server.servers
        self.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Stop."""
        self._server.should_exit = True
        self._thread.join(20)

    def take(self) -> list[Request]:
        """Return what came since the last time."""
        taken, self._requests = self._requests, []
        return taken

    async def _accept(self, entry: Entry, batch: Batch) -> None:
        self._requests.append((entry, batch))

    def _count(self, name: str, amount: float, labels: dict[str, str]) -> None:
        del name, labels
        self.rejected += int(amount)


def conversations_of(requests: Sequence[Request]) -> list[Conversation]:
    """Put together what the spans and log records of some requests say."""
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
    reader = Reader(Normaliser(), read=lambda _: [], count=_fail)
    for number, (entry, batch) in enumerate(requests, start=1):
        numbered = Entry(
            id=number,
            received_ns=0,
            receiver=entry.receiver,
            signal=entry.signal,
            encoding=entry.encoding,
            items=entry.items,
            body=entry.body,
        )
        items: Sequence[Span | LogRecord] = batch.items()
        for position, item in enumerate(items):
            held = None if is_own(item) else reader.held(numbered, position, item)
            if held is not None:
                assembler.add(held, 0.0)
    found: list[Conversation] = []
    for due in assembler.advance(math.inf):
        if due.kind == "episode":
            facts = merged_facts(due.held)
            episode = Episode(number=due.number)
            found.append(
                build(
                    facts, id=due.talk.id, explicit=due.talk.explicit, episode=episode, keys=keys
                ).conversation
            )
    return found


def _fail(name: str, amount: float = 1.0, **labels: str) -> None:
    raise AssertionError(f"{name} {amount} {labels}")
