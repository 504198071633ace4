"""Keep decided episodes for a while, so that late spans revise them."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Iterator

from collector.model import Facts
from collector.talk import DecidedEpisode, Due, Held, Talk

_Key = tuple[str, int]


class LateWindow:
    """Hold the decided episodes whose late window is not over."""

    def __init__(self, *, quiet: float, context_bytes: int) -> None:
        """Take the limits.

        Args:
            quiet: Seconds after the last late span until a revision is due.
            context_bytes: Text of messages kept for episodes that may follow; over it the oldest
                episodes keep none, as after a restart.
        """
        self._quiet = quiet
        self._context_bytes = context_bytes
        self._context: OrderedDict[_Key, int] = OrderedDict()
        self.context_size = 0
        """Bytes of the text of messages kept."""
        self._decided: OrderedDict[_Key, tuple[Talk, DecidedEpisode]] = OrderedDict()
        self._waiting: dict[_Key, tuple[Talk, DecidedEpisode]] = {}
        self._by_id: dict[str, DecidedEpisode] = {}
        self._unfinished: dict[bytes, tuple[Talk, DecidedEpisode]] = {}

    def __len__(self) -> int:
        """Return how many decided episodes are still held."""
        return len(self._decided)

    def settle(self, talk: Talk, decided: DecidedEpisode) -> None:
        """Start, or after a revision go on with, the late window of an episode."""
        talk.decided[decided.number] = decided
        self._decided[talk.key, decided.number] = (talk, decided)
        self._by_id[decided.episode_id] = decided
        for key in decided.unfinished:
            self._unfinished[key] = (talk, decided)
        self._forget_context((talk.key, decided.number))
        size = sum(len(message.text) for message in decided.messages)
        if decided.messages:
            self._context[talk.key, decided.number] = size
            self.context_size += size
        while self.context_size > self._context_bytes:
            oldest = next(iter(self._context))
            self._forget_context(oldest)
            self._decided[oldest][1].messages = ()

    def _forget_context(self, key: _Key) -> None:
        self.context_size -= self._context.pop(key, 0)

    def finished(self, held: Held) -> tuple[Talk, DecidedEpisode] | None:
        """Return the episode in which this span was decided while it was open, once."""
        found = self._unfinished.get(held.key)
        if found is None or held.richness <= found[1].unfinished[held.key]:
            return None
        del self._unfinished[held.key], found[1].unfinished[held.key]
        return found

    def stored(self, episode_ids: Iterable[str]) -> list[DecidedEpisode]:
        """Mark episodes that the store has; return those that are held here."""
        found = [self._by_id[key] for key in episode_ids if key in self._by_id]
        for decided in found:
            decided.stored = True
        return found

    def add(self, talk: Talk, earlier: DecidedEpisode, held: Held, now: float) -> bool:
        """Take in a late span; return False when it is there already."""
        if held.key in earlier.late:
            return False
        earlier.late[held.key] = held
        earlier.late_s = now
        self._waiting[talk.key, earlier.number] = (talk, earlier)
        return True

    def due(self, now: float) -> Iterator[Due]:
        """Yield a revision for every episode whose late spans have gone quiet."""
        ready = [k for k, (_, e) in self._waiting.items() if e.late_s + self._quiet <= now]
        for key in ready:
            talk, earlier = self._waiting.pop(key)
            held, earlier.late = list(earlier.late.values()), {}
            yield Due(
                kind="revision",
                talk=talk,
                number=earlier.number,
                reason=earlier.end_reason,
                held=held,
                earlier=earlier,
            )

    def withdraw(self, episode_id: str) -> tuple[Talk, DecidedEpisode] | None:
        """Let go of an episode at once; ``None`` when it is not held."""
        decided = self._by_id.get(episode_id)
        for (key, number), (talk, held) in self._decided.items():
            if held is decided:
                self._waiting.pop((key, number), None)
                self._let_go((key, number))
                return talk, held
        return None

    def expired(self, before_s: float, *, limit: int) -> Iterator[tuple[Talk, DecidedEpisode]]:
        """Yield and let go of stored episodes decided before a time, and the oldest over a limit."""
        excess = len(self._decided) - limit
        over: list[_Key] = []
        for key, (_, decided) in self._decided.items():
            if decided.decided_s > before_s and len(over) >= excess:
                break
            if decided.stored and not decided.late:
                over.append(key)
        for key in over:
            yield self._let_go(key)

    def _let_go(self, key: _Key) -> tuple[Talk, DecidedEpisode]:
        talk, decided = self._decided.pop(key)
        self._forget_context(key)
        talk.decided.pop(decided.number, None)
        del self._by_id[decided.episode_id]
        for span in decided.unfinished:
            self._unfinished.pop(span, None)
        return talk, decided


def belongs_to(earlier: DecidedEpisode, facts: Facts) -> bool:
    """Say whether a span began before the decided episode was over."""
    return 0 < facts.start_ns <= earlier.ended_ns
