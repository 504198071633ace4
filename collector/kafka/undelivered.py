"""Hold back what an earlier process decided and did not store, until we know that it is ours.

A decision that never reached the store is made again by whoever took the log over, so ours must
not come after it. One that did reach it is finished by us: the rows that go with it may be
missing.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Protocol

from collector.assembler import Assembler
from collector.errors import RetryableError
from collector.fault import told
from collector.journal import Journal
from collector.journal_records import ConversationRow, OutboxRow, Transaction
from collector.kinship import trace_key
from collector.memory import conversation_row, open_verdicts, restored_episode
from collector.outbox import Payload, decode, encode, encode_rows, rows_in
from collector.pins import Pins
from collector.reading import batch_of, key_of
from collector.shipping import Shipping
from collector.stores.tables import TABLES
from collector.talk import DecidedEpisode

_PAGE = 64
_LOG = logging.getLogger(__name__)
_HEAD = TABLES["conversations"]


class Count(Protocol):
    """Raise a total when the step under way is committed."""

    def __call__(self, name: str, amount: float = 1.0, **labels: str) -> None:
        """Add ``amount`` to the series ``name`` with these labels."""


class Undelivered:
    """Know the episodes that rest on logs and were not stored when we began."""

    def __init__(
        self,
        *,
        journal: Journal,
        assembler: Assembler,
        shipping: Shipping,
        pins: Pins,
        count: Count,
    ) -> None:
        self._journal = journal
        self._assembler = assembler
        self._shipping = shipping
        self._pins = pins
        self._count = count
        self._episodes: dict[str, tuple[frozenset[str], DecidedEpisode]] = {}
        self._rows: list[int] = []
        """Outbox rows that are held back."""
        self._heads: dict[str, str] = {}
        self._lost: set[str] = set()
        """Episodes that others have, or will have, decided."""

    def recover(self) -> None:
        """Read what was left, and hold back the rows that rest on logs."""
        for row in self._journal.episodes():
            if row.stored or open_verdicts(row) is not None:
                continue
            decided = restored_episode(row)
            found = self._journal.sources_of(sorted({ref[0] for ref in decided.refs}))
            if found:
                self._episodes[row.episode_id] = (frozenset(found.values()), decided)
        self._rows = [
            row.id
            for row in self._outbox()
            if any(episode in self._episodes for episode in decode(row.payload).episodes)
        ]
        self._shipping.hold(frozenset(self._rows))

    def resting_on(self, sources: Iterable[str]) -> list[str]:
        """Return the ids of the episodes that rest on any of these logs."""
        wanted = frozenset(sources)
        return [key for key, (resting, _) in self._episodes.items() if resting & wanted]

    def judge(self, lost: Iterable[str], heads: Mapping[str, str]) -> None:
        """Note which logs are others', and what the store has of the episodes that rest on them."""
        self._lost.update(self.resting_on(lost))
        self._heads.update(heads)

    def release(self) -> None:
        """Send what is ours, and take back what is not."""
        if not self._rows:
            return
        instead: dict[int, int] = {}
        for held in self._rows:
            for row in self._journal.outbox(1, after=held - 1):
                if row.id == held:
                    instead |= self._judged(row)
        self._shipping.let_go(instead)
        self._rows, self._episodes = [], {}

    def _judged(self, row: OutboxRow) -> dict[int, int]:
        """Replace a row if need be; one that we fail on goes out as it is."""
        try:
            return self._replaced(row)
        except RetryableError:
            raise
        except Exception as error:  # noqa: BLE001 - one row must not keep the others
            _LOG.error("outbox row %s cannot be judged: %s", row.id, told(error))
            return {}

    def _replaced(self, row: OutboxRow) -> dict[int, int]:
        """Write a row again without what is others'; return its new id by the old one."""
        payload = decode(row.payload)
        rows = rows_in(payload)
        ours = {
            str(head[_HEAD.index("episode_id")]): str(head[_HEAD.index("decided")])
            for head in rows.get("conversations", ())
        }
        gone = [
            episode
            for episode in payload.episodes
            if episode in self._lost and self._heads.get(episode) != ours.get(episode, "")
        ]
        if not gone:
            return {}
        talks = [talk for one in gone for talk in self._forgotten(one, row.created_ns)]
        rest = Payload(
            rows=[encode_rows(_without(rows, frozenset(gone)))],
            kept=payload.kept,
            episodes=[episode for episode in payload.episodes if episode not in gone],
            pinned=payload.pinned,
        )
        undecided = [episode for episode in gone if episode not in self._heads]
        transaction = Transaction(
            withdrawn=[key for episode in undecided for key in self._keys(episode)],
            drop_episodes=gone,
            conversations=talks,
            drop_outbox=[row.id],
            outbox=[OutboxRow(created_ns=row.created_ns, payload=encode(rest))],
        )
        (new,) = self._journal.commit(transaction).result()
        self._count("kafka_conversations_moved_total", len(gone), how="withdrawn")
        return {row.id: new}

    def _forgotten(self, episode: str, now_ns: int) -> list[ConversationRow]:
        found = self._assembler.withdraw(episode)
        if found is None:
            return []
        talk, decided = found
        self._pins.unpin_all(decided.pinned)
        return [conversation_row(talk, now=now_ns / 1e9)]

    def _keys(self, episode: str) -> Iterator[bytes]:
        """Give the keys by which the episode's spans and traces are remembered as decided."""
        decided = self._episodes[episode][1]
        places: dict[int, list[int]] = {}
        for request, position in decided.refs:
            places.setdefault(request, []).append(position)
        for entry in self._journal.read(sorted(places)):
            items = batch_of(entry).items()
            for position in places[entry.id]:
                yield key_of(items[position])
        for trace_id in decided.traces:
            yield trace_key(trace_id)

    def _outbox(self) -> Iterator[OutboxRow]:
        last = 0
        while rows := self._journal.outbox(_PAGE, after=last):
            yield from rows
            last = rows[-1].id


def _without(rows: Mapping[str, list[Any]], gone: frozenset[str]) -> dict[str, list[Any]]:
    """Leave out the rows of some episodes."""
    names = {
        (head[_HEAD.index("conversation_id")], head[_HEAD.index("episode")])
        for head in rows.get("conversations", ())
        if head[_HEAD.index("episode_id")] in gone
    }

    def stays(table: str, line: Any) -> bool:
        columns = TABLES[table]
        if "episode_id" in columns:
            return line[columns.index("episode_id")] not in gone
        if table == "observations":
            at = columns.index("conversation_id"), columns.index("episode")
            return (line[at[0]], line[at[1]]) not in names
        return True

    return {table: [line for line in lines if stays(table, line)] for table, lines in rows.items()}
