"""Run the whole data path in this process, one step at a time, on a clock the test sets."""

from __future__ import annotations

import threading
from collections.abc import Iterable
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import msgspec

from collector.app import data_path
from collector.config import Config
from collector.data_path import DataPath
from collector.hindsight import Label, Outcome
from collector.journal_records import ConversationEnd, Entry, EntrySignal
from collector.otlp import Encoding, Signal, parse
from collector.stores.export import What, documents

START_NS = 2_000_000_000_000_000_000
"""In 2033: the retention of the store goes by the real clock and must not reach these rows."""


class Clock:
    """Tell the time that the test set."""

    def __init__(self, now_ns: int = START_NS) -> None:
        self.now_ns = now_ns

    def __call__(self) -> int:
        """Return Unix nanoseconds."""
        return self.now_ns

    def leap(self, seconds: float) -> None:
        """Let time pass."""
        self.now_ns += int(seconds * 1e9)


class Instance:
    """One instance on a data directory; a second one on the same directory takes over."""

    def __init__(self, data_dir: Path, *, config: Config | None = None, clock: Clock) -> None:
        self.clock = clock
        self.path: DataPath = data_path(config or Config(), data_dir, clock_ns=clock)
        self.path.recover()
        self.path.writer.start()
        self._never = threading.Event()

    def __enter__(self) -> Self:
        """Use the instance."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Stop it."""
        self.close()

    def send(
        self,
        bodies: Iterable[bytes],
        *,
        signal: Signal = "traces",
        encoding: Encoding = "proto",
        tenant: str = "",
    ) -> None:
        """Do what the receiver does with requests: check, journal, hand over."""
        for body in bodies:
            batch = parse(signal, encoding, body)
            entry = Entry(
                received_ns=self.clock(),
                receiver="test",
                signal=signal,
                encoding=encoding,
                tenant=tenant,
                items=batch.accepted,
                body=body,
            )
            row = self.path.journal.append(entry).result()
            self.path.handoff.offer(msgspec.structs.replace(entry, id=row), batch)

    def end(self, conversation_id: str) -> None:
        """Do what the API does with the end of a conversation."""
        end = ConversationEnd(conversation_id=conversation_id)
        self._append("end", msgspec.json.encode(end), items=0)

    def note(self, *words: Outcome | Label) -> None:
        """Do what the API does with outcomes, or with labels."""
        signal: EntrySignal = "outcomes" if isinstance(words[0], Outcome) else "labels"
        self._append(signal, msgspec.json.encode(words), items=len(words))

    def _append(self, signal: EntrySignal, body: bytes, *, items: int) -> None:
        entry = Entry(
            received_ns=self.clock(),
            receiver="api",
            signal=signal,
            encoding="json",
            items=items,
            body=body,
        )
        self.path.journal.append(entry).result()

    def step(self) -> None:
        """Let the pipeline do one step."""
        self.path.pipeline.step(self._never)

    def settle(self) -> None:
        """Process everything that was received."""
        while self.path.pipeline.step(self._never):
            pass

    def later(self, seconds: float) -> None:
        """Let time pass and decide what is due."""
        self.settle()
        self.clock.leap(seconds)
        self.settle()

    def export(self, what: What) -> list[dict[str, Any]]:
        """Wait for the store to have everything, then read it back."""
        while self.path.shipping.unstored:
            self.step()
        return [msgspec.json.decode(line) for line in documents(self.path.store, what)]

    def total(self, name: str, **labels: str) -> float:
        """Sum a total over the series that carry these labels."""
        return sum(
            value
            for (series, pairs), value in self.path.journal.totals().items()
            if series == name and labels.items() <= dict(pairs).items()
        )

    def abandon(self) -> None:
        """Let go without committing what the store reported, as a crash does."""
        self.path.writer.close(5.0)
        self.path.journal.close()
        self.path.store.close()

    def close(self) -> None:
        """Stop in order."""
        self.path.writer.close(30.0)
        self.path.pipeline.close()
        self.path.journal.close()
        self.path.store.close()
