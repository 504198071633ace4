"""Drive the stitcher and the assembler by hand: facts in, due episodes out, a clock in between."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Sequence
from typing import Any

import msgspec

from collector.assembler import Assembler, Outcome
from collector.config import AssembleConfig
from collector.held import merged_facts
from collector.message_keys import MessageKeys
from collector.model import FactRole, Facts, Identity, Message
from collector.pins import Pins
from collector.stitcher import Stitcher
from collector.talk import DecidedEpisode, Due, Held, Talk


class Forgetful:
    """Remember what a test puts in."""

    def __init__(self) -> None:
        self.talks: dict[str, Talk] = {}
        self.tips: dict[bytes, str] = {}

    def talk(self, key: str) -> Talk | None:
        """Return a conversation of old."""
        return self.talks.get(key)

    def key_of_tip(self, tip: bytes) -> str | None:
        """Return whose history this is."""
        return self.tips.get(tip)


class Bench:
    """One stitcher and one assembler on a clock that the test sets."""

    def __init__(self, **config: Any) -> None:
        self.now = 1_000.0
        self.seen: set[bytes] = set()
        self.pins = Pins()
        self.counts: Counter[tuple[str, str]] = Counter()
        self.remembered = Forgetful()
        self.stitcher = Stitcher(
            keys=MessageKeys(),
            remembered=self.remembered,
            count=lambda method, result: self.counts.update([(method, result)]),
            merged=lambda source, target: self.assembler.merged(source, target),  # noqa: PLW0108 - made below
        )
        self.assembler = Assembler(
            AssembleConfig(**config),
            self.stitcher,
            seen=self.seen,
            pin=self.pins.pin,
            unpin=self.pins.unpin,
        )
        self._request = 0

    def add(
        self, facts: Facts, *, richness: int = 0, log: bool = False, key: bytes = b""
    ) -> Outcome:
        """Let one span arrive in a request of its own; a log record has a key of its own."""
        self._request += 1
        held = Held(
            key=key or key_of(facts),
            ref=(self._request, 0),
            size=1_000,
            richness=richness,
            span_id=facts.span_id,
            parent_id=facts.parent_id,
            own_id=bool(facts.conversation_id),
            facts=facts,
            is_log=log,
        )
        return self.assembler.add(held, self.now)

    def wait(self, seconds: float) -> list[Due]:
        """Let time pass and return what is decided; each is settled as stored."""
        dues = [due for due in self.peek(seconds) if due.kind != "turn"]
        for due in dues:
            self.settle(due)
        return dues

    def peek(self, seconds: float) -> list[Due]:
        """Let time pass and return what is due, without settling it."""
        self.now += seconds
        return list(self.assembler.advance(self.now))

    def settle(self, due: Due) -> None:
        """Do what the pipeline does once an episode is decided."""
        self.seen.update(held.key for held in due.held)
        opened, earlier = due.opened, due.earlier
        if due.kind == "plain":
            self.pins.unpin_all(opened.requests if opened else ())
            self.assembler.drop(due.talk)
            return
        pinned = list(opened.requests) if opened else list(earlier.pinned if earlier else ())
        if earlier is not None:
            pinned += [held.ref[0] for held in due.held]
        facts = [held.facts for held in due.held if held.facts is not None]
        decided = DecidedEpisode(
            episode_id=f"{due.talk.key}/{due.number}",
            number=due.number,
            revision=earlier.revision + 1 if earlier else 0,
            decided_s=self.now,
            started_ns=0,
            ended_ns=earlier.ended_ns if earlier else max((f.end_ns for f in facts), default=0),
            end_reason=due.reason,
            refs=[],
            pinned=pinned,
            traces=[],
            verdicts=[],
            kept=True,
            stored=True,
            unfinished={h.key: h.richness for h in due.held if h.facts and not h.facts.end_ns},
        )
        due.talk.last_ended_ns = decided.ended_ns
        self.assembler.settle(due.talk, decided)


def key_of(facts: Facts) -> bytes:
    """Return the 24-byte key of a span."""
    return bytes.fromhex(facts.trace_id + facts.span_id)


def trace(name: str) -> str:
    """Return a trace id from a name."""
    return hashlib.sha256(name.encode()).hexdigest()[:32]


def span_id(name: str) -> str:
    """Return a span id from a name."""
    return hashlib.sha256(name.encode()).hexdigest()[:16]


def facts(
    role: FactRole = "llm",
    *,
    on: str = "t1",
    name: str = "",
    under: str = "",
    at: float = 0.0,
    seconds: float = 1.0,
    given: Sequence[Message] = (),
    said: Sequence[Message] = (),
    who: Identity | None = None,
    **more: Any,
) -> Facts:
    """Build facts: ``on`` a trace, ``under`` a parent span, ``at`` a second."""
    name = name or f"{role}-{on}-{at}"
    start = int((900.0 + at) * 1e9)
    return Facts(
        trace_id=trace(on),
        span_id=span_id(name),
        parent_id=span_id(under) if under else "",
        role=role,
        dialect="test",
        start_ns=start,
        end_ns=start + int(seconds * 1e9),
        identity=who or Identity(agent="shop"),
        input=tuple(given),
        output=tuple(said),
        **more,
    )


def held_facts(due: Due) -> list[Facts]:
    """Return the facts of what is due, in order of time."""
    return sorted(merged_facts(due.held), key=lambda f: f.start_ns)


def without_end(given: Facts) -> Facts:
    """Return the same span as it was when it started."""
    return msgspec.structs.replace(given, end_ns=0)
