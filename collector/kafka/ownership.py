"""Decide where to go on in a partition that was just given to us.

The metadata of every committed offset names the instance that wrote it. When that is us, nobody
has read the partition since, and we go on where our journal ends. Otherwise what we held of it
is others' by now, and we begin at the committed offset.
"""

from __future__ import annotations

from typing import Protocol

import msgspec

from collector.journal_records import ReadPosition


class Committed(Protocol):
    """A committed offset, as the client library gives it."""

    offset: int
    metadata: str


class Mark(msgspec.Struct, frozen=True, kw_only=True):
    """What we write beside a committed offset."""

    outrider: str
    """Id of the instance."""
    read: int = 0
    """Where it had read to, for people."""
    taken: bool = False
    """Whether others had read there before."""


class Start(msgspec.Struct, frozen=True, kw_only=True):
    """Where to go on."""

    offset: int | None
    """``None`` for where the group's setting says."""
    taken: bool
    """Whether others have read there."""
    ours: bool
    """Whether what the journal holds of the partition is still ours."""
    floor: int = 0
    """The offset committed so far, which is never taken back."""


def mark(producer: str, *, read: int, taken: bool) -> str:
    """Spell what goes beside a committed offset."""
    return msgspec.json.encode(Mark(outrider=producer, read=read, taken=taken)).decode()


def read_mark(metadata: str) -> Mark:
    """Read it back; nobody's when it is not ours, as after a reset by hand."""
    try:
        return msgspec.json.decode(metadata, type=Mark)
    except (msgspec.DecodeError, UnicodeEncodeError):
        return Mark(outrider="", taken=True)


def start(committed: Committed | None, local: ReadPosition | None, *, producer: str) -> Start:
    """Decide where to go on.

    Args:
        committed: The group's offset; ``None`` when it has none.
        local: How far our journal has read the partition; ``None`` when it holds nothing of it,
            or gave it up.
        producer: Our id.
    """
    if committed is None:
        # Our first commit may not have got through; offsets that expired are nobody's.
        if local is not None:
            return Start(offset=local.next_offset, taken=local.taken, ours=True)
        return Start(offset=None, taken=False, ours=False)
    wrote = read_mark(committed.metadata)
    floor = committed.offset
    if wrote.outrider != producer:
        return Start(offset=floor, taken=True, ours=False, floor=floor)
    if local is not None:
        return Start(offset=local.next_offset, taken=local.taken, ours=True, floor=floor)
    # Given up, and back before anybody else had it.
    return Start(offset=floor, taken=wrote.taken, ours=False, floor=floor)
