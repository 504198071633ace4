"""Gather spans into episodes and say when one is finished.

The assembler holds no thread, no clock and no disk: the pipeline feeds it what arrived and
what time it is, and takes from it what is due. Every item given to :meth:`Assembler.add` has
exactly one outcome, so what was received equals the sum of the outcomes.
"""

from __future__ import annotations

import heapq
import itertools
from collections import OrderedDict
from collections.abc import Callable, Container, Iterable, Iterator
from typing import Literal

from collector.config import AssembleConfig
from collector.deadlines import deadline
from collector.kinship import Kinship, parent_key, trace_key
from collector.late_window import LateWindow, belongs_to
from collector.model import EndReason, Facts
from collector.progress import note
from collector.quiet_turns import QuietTurns
from collector.realms import trace_of
from collector.stitcher import Stitcher
from collector.talk import DecidedEpisode, Due, Held, OpenEpisode, Talk, Verdict

Outcome = Literal["new", "replaced", "duplicate", "late", "too_late"]
"""``too_late``: after the late window, or after its content was let go; stored, not scored."""


class Assembler:
    """Hold the open episodes and the recently decided ones.

    ``seen`` holds the keys of spans that were decided before; ``pin(request)`` and
    ``unpin(request)`` are called as episodes take hold of journal rows and let go of them.
    """

    def __init__(
        self,
        config: AssembleConfig,
        stitcher: Stitcher,
        *,
        seen: Container[bytes],
        pin: Callable[[int], None],
        unpin: Callable[[int], None],
    ) -> None:
        self._config = config
        self._stitcher = stitcher
        self._seen = seen
        self._pin = pin
        self._unpin = unpin
        self._where: dict[bytes, tuple[Talk, Held]] = {}
        self._kinship = Kinship()
        self._idle: OrderedDict[str, Talk] = OrderedDict()
        self._due: list[tuple[float, int, Talk, int]] = []
        self._warm: OrderedDict[str, Talk] = OrderedDict()
        self._turns = QuietTurns(quiet=config.turn_quiet)
        self._window = LateWindow(quiet=config.turn_quiet, context_bytes=config.content_budget // 2)
        self.resumed: dict[tuple[str, int], list[Verdict]] = {}
        """Verdicts on finished turns of episodes that an earlier process left open."""
        self._order = itertools.count()
        self._content_size = 0

    # --- what is there

    @property
    def open_episodes(self) -> int:
        """Return how many episodes are open."""
        return len(self._idle)

    @property
    def recent_episodes(self) -> int:
        """Return how many decided episodes are still in their late window."""
        return len(self._window)

    @property
    def content_size(self) -> int:
        """Return the bytes of decoded content in memory, roughly."""
        return self._content_size

    @property
    def oldest_activity_s(self) -> float | None:
        """Return when the longest-idle open episode last saw anything."""
        talk = next(iter(self._idle.values()), None)
        return talk.open.last_s if talk is not None and talk.open is not None else None

    # --- what arrives

    def add(self, held: Held, now: float) -> Outcome:
        """Take in one span or log record with its facts."""
        facts = held.facts
        if facts is None:
            raise ValueError("a span is added with its facts")
        known = self._where.get(held.key)
        if known is not None:
            return self._again(known[0], known[1], held)
        if held.key in self._seen:
            return self._again_decided(held, now)
        if self._is_of_a_finished_trace(facts):
            return "too_late"
        parent = self._parent(facts)
        talk = self._stitcher.place(facts, parent, key=held.key.hex())
        if talk.open is None:
            earlier = talk.decided.get(talk.number)
            if earlier is not None and belongs_to(earlier, facts):
                return self._add_late(talk, earlier, held, now)
            if earlier is None and talk.number and 0 < facts.start_ns <= talk.last_ended_ns:
                self.drop(talk)
                return "too_late"
            self._open(talk, earlier, now)
        self._hold(talk, held, facts, now)
        self._adopt_children(talk, held)
        self._bound()
        return "new"

    def end(self, talk: Talk, request: int, *, now: float, sent_ns: int) -> bool:
        """Note an explicit end that came as a request of its own.

        The episode is decided after ``end_grace`` and keeps the request until then. Says
        whether there was an open episode to end.
        """
        episode = talk.open
        if episode is None:
            return False
        self._take(episode, request)
        episode.end_s = now
        episode.end_ns = max(episode.end_ns, sent_ns)
        self._schedule(talk, episode)
        return True

    def _is_of_a_finished_trace(self, facts: Facts) -> bool:
        """Say whether a span without an id belongs to a trace whose conversation is long decided."""
        return (
            bool(facts.trace_id)
            and not facts.conversation_id
            and not self._stitcher.knows_trace(trace_of(facts))
            and trace_key(trace_of(facts)) in self._seen
        )

    def _parent(self, facts: Facts) -> Talk | None:
        if not facts.parent_id:
            return None
        known = self._where.get(parent_key(facts))
        return known[0] if known is not None else None

    def _open(self, talk: Talk, earlier: DecidedEpisode | None, now: float) -> None:
        talk.number += 1
        talk.open = OpenEpisode(number=talk.number, opened_s=now, last_s=now)
        talk.open.context_tip = talk.last_tip
        talk.open.verdicts = self.resumed.pop((talk.key, talk.number), [])
        if earlier is not None:
            talk.open.context = earlier.messages

    def _hold(self, talk: Talk, held: Held, facts: Facts, now: float) -> None:
        episode = talk.open
        if episode is None:
            raise ValueError("an episode is open while spans are held")
        episode.held[held.key] = held
        self._where[held.key] = (talk, held)
        self._kinship.add(held, facts)
        self._take(episode, held.ref[0])
        episode.content_size += held.size
        self._content_size += held.size
        note(episode, held, facts, now)
        if facts.ends_conversation:
            episode.end_s = now
        self._touch(talk, episode, now)

    def _take(self, episode: OpenEpisode, request: int) -> None:
        if request not in episode.requests:
            self._pin(request)
        episode.requests[request] = episode.requests.get(request, 0) + 1

    def _again(self, talk: Talk, known: Held, held: Held) -> Outcome:
        """Let the richer of two descriptions of one span win."""
        episode = talk.open
        if episode is None or held.richness <= known.richness or held.facts is None:
            return "duplicate"
        self._take(episode, held.ref[0])
        change = held.size - (known.size if known.facts is not None else 0)
        episode.content_size += change
        self._content_size += change
        # The poorer description keeps its request pinned until the episode is decided.
        known.ref, known.size, known.richness = held.ref, held.size, held.richness
        known.facts, known.span = held.facts, held.span
        note(episode, held, held.facts, episode.last_s)
        if held.facts.ends_conversation:
            episode.end_s = episode.last_s
        self._schedule(talk, episode)
        self._turns.touch(talk)
        return "replaced"

    def _again_decided(self, held: Held, now: float) -> Outcome:
        found = self._window.finished(held)
        if found is None:
            return "duplicate"
        self._add_late(*found, held, now)
        return "replaced"

    def _add_late(self, talk: Talk, earlier: DecidedEpisode, held: Held, now: float) -> Outcome:
        if not self._window.add(talk, earlier, held, now):
            return "duplicate"
        self._pin(held.ref[0])
        return "late"

    def _adopt_children(self, talk: Talk, held: Held) -> None:
        """Move descendants that came before a span with an id of its own into its conversation."""
        if not held.own_id or talk.open is None:
            return
        above = [held.key]
        while above:
            for child in self._kinship.children(above.pop()):
                owner = self._where[child.key][0]
                if child.own_id or child.facts is None or owner is talk or owner.open is None:
                    continue
                self._move(child, owner.open, talk, talk.open)
                above.append(child.key)

    def _move(self, held: Held, source: OpenEpisode, talk: Talk, target: OpenEpisode) -> None:
        del source.held[held.key]
        source.content_size -= held.size
        self._let_go(source, held.ref[0])
        target.held[held.key] = held
        target.content_size += held.size
        self._where[held.key] = (talk, held)
        self._take(target, held.ref[0])
        if held.facts is not None:
            note(target, held, held.facts, target.last_s)

    def _let_go(self, episode: OpenEpisode, request: int) -> None:
        episode.requests[request] -= 1
        if not episode.requests[request]:
            del episode.requests[request]
            self._unpin(request)

    def merged(self, source: Talk, target: Talk) -> None:
        """Move the open episode of an anonymous conversation into the one it is part of."""
        episode = source.open
        self._idle.pop(source.key, None)
        self._warm.pop(source.key, None)
        source.open = None
        if episode is None:
            return
        if target.open is None:
            target.number += 1
            target.open = OpenEpisode(
                number=target.number, opened_s=episode.opened_s, last_s=episode.last_s
            )
            target.open.context_tip = target.last_tip
        goal = target.open
        for held in list(episode.held.values()):
            goal.held[held.key] = held
            self._where[held.key] = (target, held)
            self._take(goal, held.ref[0])
        for request in episode.requests:
            self._unpin(request)
        goal.content_size += episode.content_size
        goal.active |= episode.active
        goal.failed |= episode.failed
        if episode.latest_call_ns >= goal.latest_call_ns:
            goal.latest_call_ns = episode.latest_call_ns
            goal.waits_for_tool = episode.waits_for_tool
        goal.opened_s = min(goal.opened_s, episode.opened_s)
        goal.started_ns = min(goal.started_ns or episode.started_ns, episode.started_ns)
        goal.ended_ns = max(goal.ended_ns, episode.ended_ns)
        goal.end_s = goal.end_s if episode.end_s is None else episode.end_s
        for trace_id, ended in episode.traces.items():
            goal.traces[trace_id] = goal.traces.get(trace_id, False) or ended
        self._touch(target, goal, max(goal.last_s, episode.last_s))

    # --- what is due

    def advance(self, now: float) -> Iterator[Due]:
        """Yield every episode that is finished by ``now``, and every revision."""
        while self._due and self._due[0][0] <= now:
            _, _, talk, number = heapq.heappop(self._due)
            episode = talk.open
            if episode is None or episode.number != number:
                continue
            due_s, reason = deadline(self._config, talk, episode)
            if due_s > now:
                episode.scheduled_s = due_s
                heapq.heappush(self._due, (due_s, next(self._order), talk, number))
                continue
            yield self._close(talk, episode, reason)
        yield from self._window.due(now)
        yield from self._turns.due(now)

    def overflow(self) -> Iterator[Due]:
        """Yield the longest-idle episodes that are over the cap, marked truncated."""
        while len(self._idle) > self._config.max_open_episodes:
            talk = next(iter(self._idle.values()))
            if talk.open is not None:
                yield self._close(talk, talk.open, "truncated")

    def _touch(self, talk: Talk, episode: OpenEpisode, now: float) -> None:
        episode.last_s = max(episode.last_s, now)
        self._idle[talk.key] = talk
        self._idle.move_to_end(talk.key)
        self._warm[talk.key] = talk
        self._warm.move_to_end(talk.key)
        self._turns.touch(talk)
        self._schedule(talk, episode)

    def _schedule(self, talk: Talk, episode: OpenEpisode) -> None:
        due, _ = deadline(self._config, talk, episode)
        if due < episode.scheduled_s:
            episode.scheduled_s = due
            heapq.heappush(self._due, (due, next(self._order), talk, episode.number))

    def _close(self, talk: Talk, episode: OpenEpisode, reason: EndReason) -> Due:
        talk.open = None
        self._idle.pop(talk.key, None)
        self._warm.pop(talk.key, None)
        self._turns.drop(talk)
        self._content_size -= episode.content_size
        for key, held in episode.held.items():
            self._where.pop(key, None)
            self._kinship.drop(key, held)
        return Due(
            kind="episode" if episode.active else "plain",
            talk=talk,
            number=episode.number,
            reason=reason,
            held=list(episode.held.values()),
            opened=episode,
        )

    def abandon(self, requests: Container[int]) -> tuple[list[tuple[str, int]], int]:
        """Let go, undecided, of the open episodes that rest on these requests alone.

        Return their conversations' keys and numbers, and how many rest on others as well; those
        stay.
        """
        resting = [
            (talk, talk.open)
            for talk in self._idle.values()
            if talk.open and any(request in requests for request in talk.open.requests)
        ]
        alone = [(t, e) for t, e in resting if all(request in requests for request in e.requests)]
        for talk, episode in alone:
            self._close(talk, episode, "idle")
            for request in episode.requests:
                self._unpin(request)
            talk.number -= 1
            self.drop(talk)
        return [(talk.key, episode.number) for talk, episode in alone], len(resting) - len(alone)

    def withdraw(self, episode_id: str) -> tuple[Talk, DecidedEpisode] | None:
        """Forget a decided episode, which others decide instead; ``None`` when it is not held."""
        found = self._window.withdraw(episode_id)
        if found is not None:
            talk, decided = found
            talk.number = min(talk.number, decided.number - 1)
            talk.last_ended_ns = 0
            self.drop(talk)
        return found

    # --- after the decision

    def settle(self, talk: Talk, decided: DecidedEpisode) -> None:
        """Keep a decided episode for the late window."""
        self._window.settle(talk, decided)

    def expired(self, before_s: float, *, limit: int) -> Iterator[DecidedEpisode]:
        """Yield and let go of stored episodes decided before a time, and the oldest over a limit."""
        for talk, decided in self._window.expired(before_s, limit=limit):
            self.drop(talk)
            yield decided

    def stored(self, episode_ids: Iterable[str]) -> list[DecidedEpisode]:
        """Note that the store has these episodes; return those still in their late window."""
        return self._window.stored(episode_ids)

    def drop(self, talk: Talk) -> None:
        """Forget a conversation that has neither an open nor a recent episode."""
        if talk.open is None and not talk.decided:
            self._stitcher.forget(talk)

    def _bound(self) -> None:
        """Take the content of the longest-idle episodes out of memory, down to the budget."""
        while self._warm and self._content_size > self._config.content_budget:
            _, talk = self._warm.popitem(last=False)
            if talk.open is None:
                continue
            for held in talk.open.held.values():
                held.facts = held.span = None
            self._content_size -= talk.open.content_size
            talk.open.content_size = 0
