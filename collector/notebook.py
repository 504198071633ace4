"""Write down what is learned of conversations later, each word once.

It is stored as soon as it comes, whether its conversation is open, decided, long gone or never
heard of, and joined when somebody reads. A new word about the same thing replaces the old one in
the store. One that was said before, to the letter, is a duplicate; without a time it is one only
while nothing else has been said about the same thing.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Container, Iterable
from typing import Any, TypeAlias

import msgspec

from collector.dialects.hindsight_events import is_hindsight, told
from collector.hindsight import Label, Outcome
from collector.journal_records import Entry
from collector.redactor import Redactor
from collector.stores.hindsight_rows import label_row, outcome_row, subject_of
from collector.telemetry import LogRecord
from collector.work import Work

Word: TypeAlias = Outcome | Label

AHEAD_NS = 24 * 3_600 * 1_000_000_000
"""By how much a sender's clock may be ahead; the newest word holds, so one of 2099 would for ever."""

_OUTCOMES = msgspec.json.Decoder(list[Outcome])
_LABELS = msgspec.json.Decoder(list[Label])


class Notebook:
    """Turn what was told into redacted rows of the step under way."""

    def __init__(
        self,
        *,
        redactor: Redactor,
        seen: Container[bytes],
        work: Work,
        admit: Callable[[str, str], str],
    ) -> None:
        """Keep what is needed.

        Args:
            redactor: Takes out what must not leave the process.
            seen: Knows the keys of what was written down before, this step included.
            work: Takes the rows, their keys and the counts.
            admit: Bounds the values of a metric's label.
        """
        self._redactor = redactor
        self._seen = seen
        self._work = work
        self._admit = admit

    def take(self, entry: Entry) -> None:
        """Write down a request of the API."""
        decoder: msgspec.json.Decoder[Any] = _OUTCOMES if entry.signal == "outcomes" else _LABELS
        words: list[Word] = decoder.decode(entry.body)
        noted = self._note(words, entry)
        for result, amount in (("noted", noted), ("duplicate", len(words) - noted)):
            if amount:
                self._work.count("stage_items_total", amount, stage=entry.signal, result=result)

    def hear(self, record: LogRecord, entry: Entry) -> str:
        """Write down a log event and say what became of it; empty when it is another kind."""
        if not is_hindsight(record):
            return ""
        word = told(record)
        if word is None:
            return "unusable"
        if entry.tenant:
            about = msgspec.structs.replace(word.about, tenant=entry.tenant)
            word = msgspec.structs.replace(word, about=about)
        return "noted" if self._note([word], entry) else "duplicate"

    def _note(self, words: Iterable[Word], entry: Entry) -> int:
        """Write down what was not said before, and return how much that was."""
        rows: dict[str, list[tuple[Any, ...]]] = {}
        keys: set[bytes] = set()
        fresh: list[Word] = []
        for word in words:
            new = self._new_keys(word, keys)
            if not new:
                continue
            keys |= new
            fresh.append(word)
            table, row = row_of(word, redactor=self._redactor, received_ns=entry.received_ns)
            rows.setdefault(table, []).append(row)
        if fresh:
            self._work.note(rows, keys)
        for word in fresh:
            self._count(word)
        return len(fresh)

    def _new_keys(self, word: Word, fresh: set[bytes]) -> set[bytes]:
        """Return what to remember a word by; nothing when it is a duplicate."""

        def known(key: bytes) -> bool:
            return key in fresh or key in self._seen

        subject = subject_of(word).encode()
        said = times_said(lambda time: known(_digest(subject, time)))
        if word.at_ns is not None:
            key = key_of(word)
            return set() if known(key) else {key, _digest(subject, said + 1)}
        words = msgspec.json.encode(word)
        if said and known(_digest(subject, said, words)):
            return set()
        return {_digest(subject, said + 1), _digest(subject, said + 1, words)}

    def _count(self, word: Word) -> None:
        if isinstance(word, Outcome):
            name = self._admit("outcome", word.name)
            self._work.count("outcomes_total", outcome=name, value=_kind(word.value))
        else:
            scorer = self._admit("scorer", word.scorer)
            self._work.count("labels_total", scorer=scorer, verdict=word.verdict or "none")


def key_of(word: Word) -> bytes:
    """Return the 24 bytes by which a word that comes again is recognised: all that it says."""
    kind = b"outcome" if isinstance(word, Outcome) else b"label"
    return hashlib.blake2b(kind + msgspec.json.encode(word), digest_size=24).digest()


def row_of(word: Word, *, redactor: Redactor, received_ns: int) -> tuple[str, tuple[Any, ...]]:
    """Return the table and the redacted row of a word that came in at a time."""
    if word.at_ns is not None and word.at_ns > received_ns + AHEAD_NS:
        word = msgspec.structs.replace(word, at_ns=received_ns)
    if isinstance(word, Outcome):
        return "outcomes", outcome_row(redactor.outcome(word), received_ns=received_ns)
    return "labels", label_row(redactor.label(word), received_ns=received_ns)


def _digest(subject: bytes, time: int, words: bytes = b"") -> bytes:
    """Name the word that was the ``time``-th about a subject, or that there was one."""
    text = b"said\x1f%b\x1f%d\x1f%b" % (subject, time, words)
    return hashlib.blake2b(text, digest_size=24).digest()


def times_said(known: Callable[[int], bool]) -> int:
    """Return the last of 1, 2, 3, … that is known, in few steps; 0 when there is none."""
    above = 1
    while known(above):
        above *= 2
    below = above // 2
    while above - below > 1:
        middle = (above + below) // 2
        below, above = (middle, above) if known(middle) else (below, middle)
    return below


def _kind(value: bool | float | str) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return "text" if isinstance(value, str) else "number"
