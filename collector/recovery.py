"""Take over what an earlier process left in the journal.

Only index entries are read here; requests of open episodes are read by the pipeline itself,
beside receiving.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from collector.assembler import Assembler
from collector.journal_records import EpisodeRow, OutboxRow
from collector.memory import Memory, open_verdicts, restored_episode
from collector.pins import Pins
from collector.shipping import Shipping
from collector.stitcher import Stitcher
from collector.talk import Talk

_PAGE = 64


def restore(
    *,
    episodes: Iterable[EpisodeRow],
    outbox: Callable[[int, int], list[OutboxRow]],
    memory: Memory,
    stitcher: Stitcher,
    assembler: Assembler,
    shipping: Shipping,
    pins: Pins,
) -> None:
    """Bring back decided episodes in their late window, and rows the store has yet to get."""
    for row in sorted(episodes, key=lambda row: row.decided_ns):
        verdicts = open_verdicts(row)
        if verdicts is not None:
            assembler.resumed[row.conversation_key, row.number] = verdicts
            continue
        decided = restored_episode(row)
        talk = stitcher.talks.get(row.conversation_key)
        if talk is None:
            talk = memory.talk(row.conversation_key) or Talk(
                key=row.conversation_key, id=row.conversation_key, explicit=True
            )
        talk.traces.update(dict.fromkeys(decided.traces))
        stitcher.adopt(talk)
        for request in decided.pinned:
            pins.pin(request)
        assembler.settle(talk, decided)
    for unsent in _pages(outbox):
        shipping.restore(unsent)


def _pages(outbox: Callable[[int, int], list[OutboxRow]]) -> Iterator[OutboxRow]:
    last = 0
    while rows := outbox(last, _PAGE):
        yield from rows
        last = rows[-1].id
