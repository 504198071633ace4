"""Notice when the last turn of an open episode has gone quiet."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator

from collector.talk import Due, Talk


class QuietTurns:
    """Hold the conversations whose last turn may be finished, by their last activity.

    Only conversations with an id of their own: one without may yet turn out to be part of
    another.
    """

    def __init__(self, *, quiet: float) -> None:
        self._quiet = quiet
        self._waiting: OrderedDict[str, Talk] = OrderedDict()

    def touch(self, talk: Talk) -> None:
        """Note activity; a turn can be finished once a root span has ended."""
        episode = talk.open
        if talk.explicit and episode is not None and any(episode.traces.values()):
            self._waiting[talk.key] = talk
            self._waiting.move_to_end(talk.key)

    def drop(self, talk: Talk) -> None:
        """Forget a conversation whose episode is decided."""
        self._waiting.pop(talk.key, None)

    def due(self, now: float) -> Iterator[Due]:
        """Yield the episodes that went quiet and of which no known span is open."""
        while self._waiting:
            key, talk = next(iter(self._waiting.items()))
            episode = talk.open
            if episode is not None and episode.last_s + self._quiet > now:
                return
            del self._waiting[key]
            if episode is None or episode.end_s is not None:
                continue
            held = list(episode.held.values())
            if all(h.facts is None or h.facts.end_ns or h.is_log for h in held):
                yield Due(kind="turn", talk=talk, number=episode.number, held=held, opened=episode)
