"""Find out what others have decided of the messages that we read after them.

A partition that others have read before us begins with messages of which some were decided
already, and brings messages of conversations whose earlier episodes were. The store, which we
share, knows both. What it says is made durable here before the messages are, as if we had
decided it ourselves: spans of decided episodes are duplicates, a known conversation goes on with
its next episode, and what was said about the turns of an unfinished one is not said again.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Protocol, cast

import msgspec

from collector.conversation_keys import declared_key
from collector.decision import episode_id
from collector.journal_records import ConversationRow, EpisodeRow, Transaction
from collector.kafka.messages import Request
from collector.memory import conversation_row, number_of, open_row
from collector.model import Facts, VerdictName
from collector.normalise import Normaliser
from collector.reading import key_of
from collector.stamps import stamp
from collector.talk import OpenEpisode, Talk, Verdict
from collector.telemetry import Span

REMEMBERED = 100_000
"""Ids of conversations and traces that are not asked about again."""
IDS_A_QUERY = 1_000

_HEADS = """
SELECT conversation_id, episode, episode_id, trace_ids,
       toInt64(toUnixTimestamp64Nano(ended)) AS ended
FROM conversations WHERE {condition}
"""
_SCORES = """
SELECT episode_id, scorer, scorer_version, level, target, max(revision) AS last,
       argMax(verdict, revision) AS verdict, argMax(value, revision) AS value
FROM scores WHERE conversation_id IN {ids:Array(String)} AND episode_id IN {episodes:Array(String)}
GROUP BY episode_id, scorer, scorer_version, level, target
"""
_DECIDED = """
SELECT episode_id, toInt64(toUnixTimestamp64Nano(argMin(decided, revision))) AS first
FROM conversations WHERE episode_id IN {ids:Array(String)} GROUP BY episode_id
"""


class Query(Protocol):
    """Ask the store."""

    def __call__(
        self, sql: str, parameters: Mapping[str, Any] | None = None
    ) -> list[dict[str, Any]]:
        """Return the rows.

        Raises:
            StoreUnavailableError: It did not answer.
        """


class Head(msgspec.Struct, frozen=True, kw_only=True):
    """An episode that is stored."""

    conversation_id: str
    episode: int
    episode_id: str
    trace_ids: tuple[str, ...]
    ended: int
    """Unix nanoseconds, on the sender's clock."""


class _Item(msgspec.Struct, frozen=True, kw_only=True):
    """What matters of one span or log record."""

    seen_key: bytes
    talk_key: str
    """Of the conversation it names; empty when it names none."""
    conversation_id: str
    labels: tuple[str, str, str]
    trace_id: str
    start_ns: int


class Elsewhere:
    """Ask the store about messages before they are taken in; used by one thread."""

    def __init__(
        self,
        *,
        query: Query,
        commit: Callable[[Transaction], object],
        conversation: Callable[[str], ConversationRow | None],
        resume: Callable[[str, int, list[Verdict]], None],
        raise_number: Callable[[str, int, int], None],
        count: Callable[[str, float, dict[str, str]], None],
        clock_ns: Callable[[], int],
        written: Callable[[Sequence[Request]], list[bytes]],
    ) -> None:
        """Keep what is needed.

        Args:
            query: Asks the store.
            commit: Makes a transaction durable before it returns.
            conversation: Reads what the journal remembers of a conversation.
            resume: Tells the assembler what was said about an episode that it may open.
            raise_number: Tells a conversation in memory its latest episode and when that ended.
            count: Takes ``kafka_spans_decided_elsewhere_total``.
            clock_ns: Unix time in nanoseconds.
            written: Returns the keys of outcomes and labels that others wrote down.
        """
        self._query = query
        self._commit = commit
        self._conversation = conversation
        self._resume = resume
        self._raise_number = raise_number
        self._count = count
        self._clock_ns = clock_ns
        self._written = written
        self._normaliser = Normaliser()
        self._heads: OrderedDict[str, tuple[Head, ...]] = OrderedDict()

    def forget(self) -> None:
        """Ask again about everything: others may have gone on meanwhile."""
        self._heads.clear()

    def decided(self, episodes: Sequence[str]) -> dict[str, str]:
        """Return which of these episodes the store has, with the time of the first decision."""
        found: dict[str, str] = {}
        for start in range(0, len(episodes), IDS_A_QUERY):
            ids = list(episodes[start : start + IDS_A_QUERY])
            for row in self._query(_DECIDED, {"ids": ids}):
                found[row["episode_id"]] = stamp(int(row["first"]))
        return found

    def note(self, requests: Sequence[Request]) -> None:
        """Make durable what others decided of these requests' items.

        Raises:
            StoreUnavailableError: The store did not answer; the same call may succeed later.
            RetryableError: The journal cannot be written now.
        """
        written = self._written(requests)
        items = [item for request in requests for item in self._items(request)]
        if not items and not written:
            return
        names = {item.conversation_id for item in items} | {item.trace_id for item in items}
        heads = self._known(sorted(names - {""}))
        numbers, ended_keys, ended_traces = _latest(items, heads)
        seen = [item.seen_key for item in items if _is_decided(item, ended_keys, ended_traces)]
        talks = self._talks(items, numbers, ended_keys)
        said = self._said(items, numbers)
        if seen or talks or said or written:
            self._commit(
                Transaction(
                    seen=[*seen, *written],
                    conversations=[conversation_row(talk, now=self._now()) for talk in talks],
                    episodes=[self._open(key, number, said[key, number]) for key, number in said],
                )
            )
        for talk in talks:
            self._raise_number(talk.key, talk.number, talk.last_ended_ns)
        for (key, number), verdicts in said.items():
            self._resume(key, number, verdicts)
        if seen:
            self._count("kafka_spans_decided_elsewhere_total", len(seen), {})

    def _now(self) -> float:
        return self._clock_ns() / 1e9

    def _items(self, request: Request) -> Iterable[_Item]:
        for item in request.batch.items():
            try:
                read = self._normaliser
                facts = read.span(item) if isinstance(item, Span) else read.log(item)
            except Exception:  # noqa: BLE001, S112 - the pipeline meets the same error, and counts it
                continue
            if facts is not None:
                yield _item(key_of(item), facts)

    def _known(self, ids: Sequence[str]) -> list[Head]:
        """Return every stored episode that has one of these as its id or among its traces."""
        unknown = [name for name in ids if name not in self._heads]
        for start in range(0, len(unknown), IDS_A_QUERY):
            some = unknown[start : start + IDS_A_QUERY]
            found = self._stored(some)
            for name in some:
                self._heads[name] = tuple(
                    head for head in found if head.conversation_id == name or name in head.trace_ids
                )
        heads = {head.episode_id: head for name in ids for head in self._heads.get(name, ())}
        while len(self._heads) > REMEMBERED:
            self._heads.popitem(last=False)
        return list(heads.values())

    def _stored(self, ids: list[str]) -> list[Head]:
        found: dict[str, Head] = {}
        for condition in (
            "conversation_id IN {ids:Array(String)}",
            "hasAny(trace_ids, {ids:Array(String)})",
        ):
            for row in self._query(_HEADS.replace("{condition}", condition), {"ids": ids}):
                head = msgspec.convert(row, Head, strict=False)
                if head.episode_id not in found or found[head.episode_id].ended < head.ended:
                    found[head.episode_id] = head
        return list(found.values())

    def _talks(
        self, items: Sequence[_Item], numbers: Mapping[str, int], ended: Mapping[str, int]
    ) -> list[Talk]:
        """Return the conversations of which the journal knows fewer episodes than the store."""
        named = {item.talk_key: item for item in items if item.talk_key}
        talks: list[Talk] = []
        for key, number in numbers.items():
            row = self._conversation(key)
            if row is not None and number_of(row) >= number:
                continue
            item = named.get(key)
            talks.append(
                Talk(
                    key=key,
                    id=item.conversation_id if item else key.removeprefix("trace:"),
                    explicit=item is not None,
                    labels=item.labels if item else ("", "", ""),
                    number=number,
                    last_ended_ns=ended[key],
                )
            )
        return talks

    def _said(
        self, items: Sequence[_Item], numbers: Mapping[str, int]
    ) -> dict[tuple[str, int], list[Verdict]]:
        """Return what the store has about episodes that come next, though they are not decided."""
        ids: dict[str, str] = {}
        for item in items:
            key = item.talk_key or f"trace:{item.trace_id}"
            ids[key] = item.conversation_id or item.trace_id
        places = {
            episode_id(key, numbers.get(key, 0) + 1): (key, numbers.get(key, 0) + 1) for key in ids
        }
        said: dict[tuple[str, int], list[Verdict]] = {}
        rows = self._query(_SCORES, {"ids": sorted(set(ids.values())), "episodes": list(places)})
        for row in rows:
            said.setdefault(places[row["episode_id"]], []).append(
                Verdict(
                    scorer=row["scorer"],
                    version=row["scorer_version"],
                    level=row["level"],
                    target=row["target"],
                    revision=int(row["last"]),
                    verdict=cast("VerdictName", row["verdict"]),
                    value=row["value"],
                )
            )
        return said

    def _open(self, key: str, number: int, verdicts: list[Verdict]) -> EpisodeRow:
        episode = OpenEpisode(number=number, opened_s=0.0, last_s=0.0, verdicts=verdicts)
        talk = Talk(key=key, id=key, explicit=True)
        return open_row(talk, episode, id=episode_id(key, number), now=self._now())


def _item(seen_key: bytes, facts: Facts) -> _Item:
    who = facts.identity
    return _Item(
        seen_key=seen_key,
        talk_key=declared_key(facts),
        conversation_id=facts.conversation_id or facts.thread_id,
        labels=(who.tenant, who.environment, who.variant),
        trace_id=facts.trace_id,
        start_ns=facts.start_ns,
    )


def _latest(
    items: Sequence[_Item], heads: Sequence[Head]
) -> tuple[dict[str, int], dict[str, int], dict[str, int]]:
    """Return the last decided episode by conversation, and when it ended by conversation and trace."""
    numbers: dict[str, int] = {}
    ended_keys: dict[str, int] = {}
    ended_traces: dict[str, int] = {}
    keys: dict[str, set[str]] = {}
    for item in items:
        if item.talk_key:
            keys.setdefault(item.conversation_id, set()).add(item.talk_key)
    for head in heads:
        # The same id may name several conversations; the episode's id says which one this is.
        possible = (*keys.get(head.conversation_id, ()), f"trace:{head.conversation_id}")
        for key in possible:
            if episode_id(key, head.episode) == head.episode_id:
                numbers[key] = max(numbers.get(key, 0), head.episode)
                ended_keys[key] = max(ended_keys.get(key, 0), head.ended)
        for trace_id in head.trace_ids:
            ended_traces[trace_id] = max(ended_traces.get(trace_id, 0), head.ended)
    return numbers, ended_keys, ended_traces


def _is_decided(
    item: _Item, ended_keys: Mapping[str, int], ended_traces: Mapping[str, int]
) -> bool:
    ended = ended_keys.get(item.talk_key) if item.talk_key else ended_traces.get(item.trace_id)
    return ended is not None and item.start_ns <= ended
