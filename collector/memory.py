"""Spell and restore what outlives the process about conversations and their episodes."""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from collector.journal_records import ConversationRow, EpisodeRow, TipRow
from collector.model import EndReason
from collector.talk import DecidedEpisode, OpenEpisode, Ref, Talk, Verdict

_NS = 1_000_000_000


class _EpisodeRecord(msgspec.Struct, frozen=True, kw_only=True, array_like=True):
    """What a decided episode needs to be revised after a restart."""

    revision: int
    started_ns: int
    ended_ns: int
    end_reason: EndReason
    refs: list[Ref]
    pinned: list[int]
    traces: list[str]
    verdicts: list[Verdict]
    kept: bool
    tip: bytes
    context_tip: bytes
    unfinished: dict[bytes, int]
    open: bool = False
    """Whether the episode goes on; only the verdicts matter then."""


class _ConversationRecord(msgspec.Struct, frozen=True, kw_only=True, array_like=True):
    """What a conversation needs to go on with its next episode."""

    id: str
    explicit: bool
    number: int
    last_ended_ns: int
    last_tip: bytes
    tips: list[bytes]
    labels: tuple[str, str, str]


_EPISODE = msgspec.msgpack.Decoder(_EpisodeRecord)
_CONVERSATION = msgspec.msgpack.Decoder(_ConversationRecord)


def episode_row(talk: Talk, decided: DecidedEpisode, *, late_window: float) -> EpisodeRow:
    """Spell a decided episode."""
    record = _EpisodeRecord(
        revision=decided.revision,
        started_ns=decided.started_ns,
        ended_ns=decided.ended_ns,
        end_reason=decided.end_reason,
        refs=decided.refs,
        pinned=decided.pinned,
        traces=decided.traces,
        verdicts=decided.verdicts,
        kept=decided.kept,
        tip=decided.tip,
        context_tip=decided.context_tip,
        unfinished=decided.unfinished,
    )
    return EpisodeRow(
        episode_id=decided.episode_id,
        conversation_key=talk.key,
        number=decided.number,
        decided_ns=int(decided.decided_s * _NS),
        free_at_ns=int((decided.decided_s + late_window) * _NS),
        stored=decided.stored,
        record=msgspec.msgpack.encode(record),
    )


def open_row(talk: Talk, episode: OpenEpisode, *, id: str, now: float) -> EpisodeRow:
    """Spell what was said about the finished turns of an episode that goes on."""
    record = _EpisodeRecord(
        revision=0,
        started_ns=0,
        ended_ns=0,
        end_reason="idle",
        refs=[],
        pinned=[],
        traces=[],
        verdicts=episode.verdicts,
        kept=False,
        tip=b"",
        context_tip=b"",
        unfinished={},
        open=True,
    )
    return EpisodeRow(
        episode_id=id,
        conversation_key=talk.key,
        number=episode.number,
        decided_ns=int(now * _NS),
        free_at_ns=0,
        stored=False,
        record=msgspec.msgpack.encode(record),
    )


def open_verdicts(row: EpisodeRow) -> list[Verdict] | None:
    """Return what was said about an episode that goes on; ``None`` for a decided one."""
    record = _EPISODE.decode(row.record)
    return record.verdicts if record.open else None


def conversation_row(talk: Talk, *, now: float) -> ConversationRow:
    """Spell what is remembered of a conversation between its episodes."""
    record = _ConversationRecord(
        id=talk.id,
        explicit=talk.explicit,
        number=talk.number,
        last_ended_ns=talk.last_ended_ns,
        last_tip=talk.last_tip,
        tips=list(talk.tips),
        labels=talk.labels,
    )
    return ConversationRow(
        key=talk.key, touched_ns=int(now * _NS), record=msgspec.msgpack.encode(record)
    )


def number_of(row: ConversationRow) -> int:
    """Return the number of a conversation's latest episode."""
    return _CONVERSATION.decode(row.record).number


def tip_rows(talk: Talk, *, now: float) -> list[TipRow]:
    """Spell the histories by which a conversation without an id is found again."""
    if talk.explicit:
        return []
    return [TipRow(tip=tip, key=talk.key, touched_ns=int(now * _NS)) for tip in talk.tips]


def restored_episode(row: EpisodeRow) -> DecidedEpisode:
    """Read a decided episode back."""
    record = _EPISODE.decode(row.record)
    return DecidedEpisode(
        episode_id=row.episode_id,
        number=row.number,
        revision=record.revision,
        decided_s=row.decided_ns / _NS,
        started_ns=record.started_ns,
        ended_ns=record.ended_ns,
        end_reason=record.end_reason,
        refs=record.refs,
        pinned=record.pinned,
        traces=record.traces,
        verdicts=record.verdicts,
        kept=record.kept,
        stored=row.stored,
        tip=record.tip,
        context_tip=record.context_tip,
        unfinished=record.unfinished,
    )


class Memory:
    """Find conversations that are no longer in memory; what the stitcher calls remembered."""

    def __init__(
        self,
        *,
        conversation: Callable[[str], ConversationRow | None],
        tip: Callable[[bytes], str | None],
    ) -> None:
        self._conversation = conversation
        self._tip = tip

    def talk(self, key: str) -> Talk | None:
        """Return a conversation as its last episode left it."""
        row = self._conversation(key)
        if row is None:
            return None
        record = _CONVERSATION.decode(row.record)
        return Talk(
            key=key,
            id=record.id,
            explicit=record.explicit,
            number=record.number,
            last_ended_ns=record.last_ended_ns,
            last_tip=record.last_tip,
            tips=dict.fromkeys(record.tips),
            labels=record.labels,
        )

    def key_of_tip(self, tip: bytes) -> str | None:
        """Return the key of the conversation whose history ends in ``tip``."""
        return self._tip(tip)
