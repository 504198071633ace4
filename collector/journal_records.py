"""Hold the records that go into and come out of the journal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import msgspec

from collector.totals import Deltas

HindsightSignal = Literal["outcomes", "labels"]
EntrySignal = Literal["traces", "logs", "end", HindsightSignal]
"""``end`` is a ``ConversationEnd`` that somebody posted; ``outcomes`` and ``labels`` lists of these."""
EntryEncoding = Literal["proto", "json"]


class Entry(msgspec.Struct, frozen=True, kw_only=True):
    """One request as it was acknowledged."""

    id: int = 0
    """Row id, given by the journal; ids only grow and are never given twice."""
    received_ns: int
    receiver: str
    signal: EntrySignal
    encoding: EntryEncoding
    tenant: str = ""
    credential: str = ""
    """Hash of the sender's credential; part of the scope in which conversations are joined."""
    items: int
    """Accepted spans, log records, outcomes or labels."""
    body: bytes
    """Decompressed."""
    source: str = ""
    """Log that it was read from and could be read from again, one partition; empty for most."""
    source_offset: int = -1
    """Its place there."""


class ReadPosition(msgspec.Struct, frozen=True, kw_only=True):
    """How far a log has been read: everything before is in the journal, or was dealt with."""

    source: str
    next_offset: int
    taken: bool
    """Whether others have read there as well: what they decided must not be decided again."""


class ConversationEnd(msgspec.Struct, frozen=True, kw_only=True):
    """Somebody said that a conversation is over; the JSON body of an ``end`` entry."""

    conversation_id: str
    tenant: str = ""
    environment: str = ""
    variant: str = ""


class EpisodeRow(msgspec.Struct, frozen=True, kw_only=True):
    """One decided episode whose late window is still open."""

    episode_id: str
    conversation_key: str
    number: int
    decided_ns: int
    free_at_ns: int
    """When its requests may be freed."""
    stored: bool
    """Whether the store has it."""
    record: bytes
    """Opaque to the journal."""


class ConversationRow(msgspec.Struct, frozen=True, kw_only=True):
    """What must be remembered of a conversation between its episodes."""

    key: str
    touched_ns: int
    """The rows touched longest ago are dropped when there are too many."""
    record: bytes
    """Opaque to the journal."""


class TipRow(msgspec.Struct, frozen=True, kw_only=True):
    """Which conversation a message history is the latest state of."""

    tip: bytes
    """Hash of the history."""
    key: str
    """Of the conversation."""
    touched_ns: int


class OutboxRow(msgspec.Struct, frozen=True, kw_only=True):
    """What the store has yet to be given."""

    id: int = 0
    created_ns: int
    payload: bytes


class Transaction(msgspec.Struct, frozen=True, kw_only=True):
    """Everything that one step of the pipeline concluded; all of it becomes durable, or nothing.

    Deletions come first, so that a row may be dropped and written again in one transaction.
    """

    processed_through: int | None = None
    """Requests up to this row id are concluded; it never goes back."""
    totals: Deltas = {}
    """Added to the totals."""
    seen: Sequence[bytes] = ()
    """Span keys that are decided from now on."""
    withdrawn: Sequence[bytes] = ()
    """Span keys that count as undecided again."""
    episodes: Sequence[EpisodeRow] = ()
    drop_episodes: Sequence[str] = ()
    stored_episodes: Sequence[str] = ()
    """Ids of episodes that the store has taken."""
    conversations: Sequence[ConversationRow] = ()
    tips: Sequence[TipRow] = ()
    drop_tips: Sequence[bytes] = ()
    outbox: Sequence[OutboxRow] = ()
    drop_outbox: Sequence[int] = ()
    free: Sequence[int] = ()
    """Ids of requests that nothing needs any more."""
    observation_sequence: int | None = None
    """The last sequence number given to an observation."""
    positions: Sequence[ReadPosition] = ()
    drop_sources: Sequence[str] = ()
    """Logs that are others' from now on; requests from there that are left are like any."""
