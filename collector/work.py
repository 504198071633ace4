"""Gather what one step of the pipeline concludes, to be committed as one transaction."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from collector import totals
from collector.decision import Conclusion, Rows, TurnsSaid, spans_of
from collector.journal_records import OutboxRow, Transaction
from collector.kinship import trace_key
from collector.memory import conversation_row, episode_row, open_row, tip_rows
from collector.model import ScoreRecord
from collector.outbox import Kept, Payload, encode, encode_rows
from collector.talk import DecidedEpisode, Held, OpenEpisode, Talk
from collector.telemetry import Span


class Work:
    """The growing transaction of one step."""

    def __init__(self) -> None:
        self.counting = True
        """Whether counts are taken: not while requests are read that were counted before a crash."""
        self.clear()

    def clear(self) -> None:
        """Begin the next step; what was handed out before stays with whoever has it."""
        self.totals: totals.Deltas = {}
        self.seen: list[bytes] = []
        self.fresh: set[bytes] = set()
        """Keys that are decided but not committed."""
        self.scores: list[ScoreRecord] = []
        """Redacted; to be emitted after the commit."""
        self.rows: Rows = {}
        self.spans: list[tuple[float, list[Span]]] = []
        """Spans to store, with the probability that they were kept."""
        self.pinned: list[int] = []
        """Requests that the outbox row needs."""
        self.episodes: dict[str, tuple[Talk, DecidedEpisode]] = {}
        self.open: dict[str, tuple[Talk, OpenEpisode]] = {}
        """Episodes that go on, by id, of which finished turns were scored."""
        self.stored: list[DecidedEpisode] = []
        self.expired: list[DecidedEpisode] = []
        self.dropped_tips: list[bytes] = []
        self.drop_outbox: list[int] = []
        self._kept: list[Kept] = []
        self._spelled: list[msgspec.Raw] = []

    @property
    def size(self) -> int:
        """Return how many episodes this step has concluded."""
        return len(self.episodes) + len(self.open)

    @property
    def has_output(self) -> bool:
        """Return whether anything goes to the store."""
        return bool(self.rows or self.spans)

    def count(self, name: str, amount: float = 1.0, **labels: str) -> None:
        """Raise a total when this step is committed."""
        if self.counting:
            totals.add(self.totals, name, amount, **labels)

    def conclude(self, talk: Talk, conclusion: Conclusion) -> None:
        """Take in a decided episode."""
        self._write(conclusion.rows)
        totals.merge(self.totals, conclusion.deltas)
        self.scores.extend(conclusion.new_scores)
        self.keep(conclusion.keep, conclusion.decided.sampling.probability)
        self.episodes[conclusion.record.episode_id] = (talk, conclusion.record)

    def score_turns(self, talk: Talk, episode: OpenEpisode, said: TurnsSaid) -> None:
        """Take in what was said about the finished turns of an episode that goes on."""
        self._write(said.rows)
        totals.merge(self.totals, said.deltas)
        self.scores.extend(said.new_scores)
        self.open[said.episode_id] = (talk, episode)

    def _write(self, rows: Rows) -> None:
        """Add rows for the store; raises before anything is changed when they cannot be spelled."""
        self._spelled.append(encode_rows(rows))
        for table, lines in rows.items():
            self.rows.setdefault(table, []).extend(lines)

    def note(self, rows: Rows, keys: Iterable[bytes]) -> None:
        """Take in what was learned of conversations, so that it is recognised when it comes again."""
        self._write(rows)
        self.seen.extend(keys)
        self.fresh.update(keys)

    def keep(self, held: list[Held], probability: float) -> None:
        """Send spans to the store; their requests stay until they are there."""
        spans = spans_of(held)
        if not spans:
            return
        self.spans.append((probability, spans))
        refs = [h.ref for h in held if not h.is_log]
        self._kept.append(Kept(probability=probability, refs=refs))
        self.pinned.extend({ref[0] for ref in refs})

    def decide(self, held: list[Held], traces: Iterable[str] = ()) -> None:
        """Note that spans and whole traces are decided, so that what comes again is recognised."""
        keys = [*(h.key for h in held), *map(trace_key, traces)]
        self.seen.extend(keys)
        self.fresh.update(keys)

    def transaction(
        self,
        *,
        processed_through: int,
        sequence: int,
        free: list[int],
        late_window: float,
        now: float,
    ) -> Transaction:
        """Spell everything as one transaction."""
        gone = {id(decided) for decided in self.expired}
        alive = [(t, decided) for t, decided in self.episodes.values() if id(decided) not in gone]
        talks = {talk.key: talk for talk, _ in self.episodes.values()}
        return Transaction(
            processed_through=processed_through,
            totals=self.totals,
            seen=self.seen,
            episodes=[
                *(
                    open_row(talk, episode, id=key, now=now)
                    for key, (talk, episode) in self.open.items()
                    if key not in self.episodes
                ),
                *(episode_row(t, d, late_window=late_window) for t, d in alive),
            ],
            drop_episodes=[decided.episode_id for decided in self.expired],
            stored_episodes=[decided.episode_id for decided in self.stored],
            conversations=[conversation_row(talk, now=now) for talk in talks.values()],
            tips=[row for talk in talks.values() for row in tip_rows(talk, now=now)],
            drop_tips=self.dropped_tips,
            outbox=[OutboxRow(created_ns=int(now * 1e9), payload=self._payload())]
            if self.has_output
            else [],
            drop_outbox=self.drop_outbox,
            free=free,
            observation_sequence=sequence,
        )

    def _payload(self) -> bytes:
        return encode(
            Payload(
                rows=self._spelled,
                kept=self._kept,
                episodes=list(self.episodes),
                pinned=self.pinned,
            )
        )


class Sent(msgspec.Struct, frozen=True, kw_only=True):
    """What an outbox row that was handed to the store will let go of."""

    episodes: list[str]
    pinned: list[int]
