"""Conclude what is to be said about an episode that is due.

Build the conversation, score it on the raw text, compare with what was said before, choose
whether to keep it, and redact what leaves the process. Nothing here is durable yet: the
pipeline commits a conclusion as a whole.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from typing import Any, Protocol

import msgspec

from collector.conversations import Built, build
from collector.held import merged_facts
from collector.message_keys import MessageKeys
from collector.model import (
    Conversation,
    Decided,
    DecisionRecord,
    Episode,
    Facts,
    Identity,
    Observation,
    Sampling,
    ScoreRecord,
)
from collector.realms import trace_of
from collector.redactor import Redactor
from collector.talk import DecidedEpisode, Due, Held, Verdict
from collector.telemetry import Span
from collector.totals import Deltas

Rows = dict[str, list[tuple[Any, ...]]]


class Judge(Protocol):
    """Score a conversation; never raises."""

    def run(
        self, conversation: Conversation, *, parts_only: bool = False
    ) -> tuple[list[ScoreRecord], list[DecisionRecord]]:
        """Return a record per (scorer, target) and a ledger row per scorer.

        With ``parts_only`` the scorers of whole conversations are left out.
        """


class Sample(Protocol):
    """Choose which episodes are kept in full."""

    def decide(
        self, conversation: Conversation, scores: Sequence[ScoreRecord], *, had_error: bool
    ) -> Sampling:
        """Return the choice and its inclusion probability."""


class Measure(Protocol):
    """Turn verdicts into counters."""

    def deltas(
        self,
        decided: Decided,
        first: Sequence[ScoreRecord],
        revised: Sequence[tuple[ScoreRecord, ScoreRecord]],
    ) -> Deltas:
        """Return what to add to the totals."""


class Conclusion(msgspec.Struct, frozen=True, kw_only=True):
    """Everything that follows from one due episode."""

    record: DecidedEpisode
    decided: Decided
    rows: Rows
    keep: list[Held]
    """Spans that are to be stored, with content."""
    deltas: Deltas
    new_scores: list[ScoreRecord]
    """Redacted; those that were not said before in this form."""


class TurnsSaid(msgspec.Struct, frozen=True, kw_only=True):
    """What follows from the finished turns of an episode that goes on."""

    episode_id: str
    deltas: Deltas
    rows: Rows
    new_scores: list[ScoreRecord]
    """Redacted."""
    verdicts: list[Verdict]
    """Everything said so far."""


class _Comparison(msgspec.Struct, kw_only=True):
    """What a decision says beside what was said before."""

    all: list[ScoreRecord] = []
    """Every verdict, with its revision."""
    new: list[ScoreRecord] = []
    """Those that are to be written down."""
    first: list[ScoreRecord] = []
    """Those on targets that had none."""
    revised: list[tuple[ScoreRecord, ScoreRecord]] = []
    """Earlier and later verdict on one target, where they differ."""


class Decider:
    """Turn due episodes into conclusions."""

    def __init__(
        self,
        *,
        keys: MessageKeys,
        judge: Judge,
        sample: Sample,
        measure: Measure,
        redactor: Redactor,
        rows_of: Callable[[Decided], Rows],
        score_id: Callable[..., str],
        producer: str,
        sequence: int,
        clock_ns: Callable[[], int],
    ) -> None:
        self._keys = keys
        self._judge = judge
        self._sample = sample
        self._measure = measure
        self._redactor = redactor
        self._rows_of = rows_of
        self._score_id = score_id
        self._producer = producer
        self._clock_ns = clock_ns
        self.sequence = sequence
        """The last observation number given."""

    def decide(self, due: Due, held: list[Held], *, now: float) -> Conclusion:
        """Conclude an episode or a revision; ``held`` are all its spans, with content."""
        earlier = due.earlier
        facts = merged_facts(held)
        built = self._build(due, facts)
        conversation = built.conversation
        scores, decisions = self._judge.run(conversation)
        before = earlier.verdicts if earlier else due.opened.verdicts if due.opened else []
        found = self._compare(scores, conversation, before)
        had_error = any(f.error for f in facts) or any(s.verdict == "failure" for s in scores)
        sampling = self._sample.decide(conversation, scores, had_error=had_error)
        if earlier is not None and earlier.kept and not sampling.kept:
            sampling = Sampling(kept=True, probability=1.0, rule="kept_before")
        now_ns = self._clock_ns()
        decided = Decided(
            episode_id=episode_id(due.talk.key, due.number),
            conversation=conversation,
            revision=earlier.revision + 1 if earlier else 0,
            decided_ns=now_ns,
            sampling=sampling,
            scores=tuple(found.new),
            decisions=tuple(decisions),
            observations=self._observe(conversation, found.all, now_ns) if earlier is None else (),
        )
        deltas = self._measure.deltas(decided, found.first, found.revised)
        safe = self._redactor.decided(decided)
        keep = list(due.held) if earlier is not None and earlier.kept else held
        return Conclusion(
            record=_record(due, held, decided, scores=found.all, built=built, now=now),
            decided=decided,
            rows=self._rows_of(safe),
            keep=keep if sampling.kept else [],
            deltas=deltas,
            new_scores=list(safe.scores),
        )

    def turns(self, due: Due, held: list[Held]) -> TurnsSaid | None:
        """Say what is new about the finished turns of an episode that goes on.

        ``None`` when nothing is, or when the agent still waits for a tool.
        """
        conversation = self._build(due, merged_facts(held)).conversation
        if not conversation.turns or not _replied(conversation):
            return None
        scores = [
            score for score in self._judge.run(conversation, parts_only=True)[0] if score.target
        ]
        before = due.opened.verdicts if due.opened else []
        found = self._compare(scores, conversation, before)
        if not found.new:
            return None
        partial = Decided(
            episode_id=episode_id(due.talk.key, due.number),
            conversation=conversation,
            complete=False,
            decided_ns=self._clock_ns(),
            sampling=Sampling(kept=False, probability=1.0, rule=""),
            scores=tuple(found.new),
        )
        deltas = self._measure.deltas(partial, found.first, found.revised)
        safe = self._redactor.decided(partial)
        return TurnsSaid(
            episode_id=partial.episode_id,
            deltas=deltas,
            rows={"scores": self._rows_of(safe)["scores"]},
            new_scores=list(safe.scores),
            verdicts=_verdicts(found.all),
        )

    def _build(self, due: Due, facts: Sequence[Facts]) -> Built:
        opened, earlier = due.opened, due.earlier
        times = [f.start_ns for f in facts if f.start_ns]
        return build(
            facts,
            id=due.talk.id,
            explicit=due.talk.explicit,
            episode=Episode(
                number=due.number,
                started_ns=min(times, default=0),
                ended_ns=max((max(f.end_ns, f.start_ns) for f in facts), default=0),
                end_reason=due.reason,
                truncated=due.reason == "truncated",
            ),
            keys=self._keys,
            context=opened.context if opened else (),
            context_tip=opened.context_tip if opened else earlier.context_tip if earlier else b"",
        )

    def _compare(
        self,
        scores: Sequence[ScoreRecord],
        conversation: Conversation,
        verdicts: Sequence[Verdict],
    ) -> _Comparison:
        """Sort verdicts into first ones, changed ones and repeated ones.

        A scorer that takes anything back says everything again, one revision up, so that its
        newest revision is all that holds; what it only adds joins the present revision.
        """
        found = _Comparison()
        for scorer in dict.fromkeys((s.scorer, s.scorer_version) for s in scores):
            now = [s for s in scores if (s.scorer, s.scorer_version) == scorer]
            before = {(v.level, v.target): v for v in verdicts if (v.scorer, v.version) == scorer}
            said = {(str(s.level), s.target): (s.verdict, s.value) for s in now}
            holds = all(said.get(key) == (v.verdict, v.value) for key, v in before.items())
            revision = max((v.revision for v in before.values()), default=0)
            for score in now:
                new = self._numbered(score, conversation, revision if holds else revision + 1)
                old = before.get((score.level, score.target))
                found.all.append(new)
                if old is None or not holds:
                    found.new.append(new)
                if old is None:
                    found.first.append(new)
                elif (old.verdict, old.value) != (score.verdict, score.value):
                    earlier = msgspec.structs.replace(
                        score, verdict=old.verdict, value=old.value, revision=old.revision
                    )
                    found.revised.append((earlier, new))
        return found

    def _numbered(
        self, score: ScoreRecord, conversation: Conversation, revision: int
    ) -> ScoreRecord:
        if revision == score.revision:
            return score
        return msgspec.structs.replace(
            score,
            revision=revision,
            score_id=self._score_id(
                conversation_id=conversation.id,
                episode=conversation.episode.number,
                level=score.level,
                target=score.target,
                scorer=score.scorer,
                version=score.scorer_version,
                revision=revision,
            ),
        )

    def _observe(
        self, conversation: Conversation, scores: Sequence[ScoreRecord], now_ns: int
    ) -> tuple[Observation, ...]:
        """Give each scorer's worst verdict on a production episode its number.

        The verdict and not the value, so that the detectors' rates are those of the counters,
        the console and whoever counts the failing conversations.
        """
        identity: Identity = conversation.identity
        if identity.variant != "production":
            return ()
        worst: dict[tuple[str, str], float] = {}
        for score in scores:
            if score.verdict in ("pass", "fail"):
                key = (score.scorer, score.scorer_version)
                worst[key] = max(worst.get(key, 0.0), float(score.verdict == "fail"))
        observations = []
        for (scorer, version), shortfall in worst.items():
            self.sequence += 1
            observations.append(
                Observation(
                    producer=self._producer,
                    sequence=self.sequence,
                    conversation_id=conversation.id,
                    episode=conversation.episode.number,
                    scorer=scorer,
                    scorer_version=version,
                    shortfall=shortfall,
                    identity=identity,
                    observed_ns=now_ns,
                    started_ns=min(conversation.episode.started_ns or now_ns, now_ns),
                )
            )
        return tuple(observations)


def episode_id(key: str, number: int) -> str:
    """Name an episode: 32 hex digits that are the same whenever it is decided again."""
    return hashlib.sha256(f"{key}\x1f{number}".encode("utf-8", "surrogatepass")).hexdigest()[:32]


def spans_of(held: Sequence[Held]) -> list[Span]:
    """Return the spans among what is held; log records are not spans."""
    return [h.span for h in held if h.span is not None]


def _record(
    due: Due,
    held: list[Held],
    decided: Decided,
    *,
    scores: Sequence[ScoreRecord],
    built: Built,
    now: float,
) -> DecidedEpisode:
    earlier, opened = due.earlier, due.opened
    conversation = decided.conversation
    pinned = list(opened.requests) if opened else list(earlier.pinned) if earlier else []
    if earlier is not None:
        pinned.extend(h.ref[0] for h in due.held)
    return DecidedEpisode(
        episode_id=decided.episode_id,
        number=due.number,
        revision=decided.revision,
        decided_s=earlier.decided_s if earlier else now,
        started_ns=conversation.episode.started_ns,
        ended_ns=max(opened.ended_ns, opened.end_ns)
        if opened
        else earlier.ended_ns
        if earlier
        else 0,
        end_reason=due.reason,
        refs=[h.ref for h in held],
        pinned=pinned,
        traces=list(dict.fromkeys(trace_of(h.facts) for h in held if h.facts and h.facts.trace_id)),
        verdicts=_verdicts(scores),
        kept=decided.sampling.kept,
        tip=built.tip,
        context_tip=opened.context_tip if opened else earlier.context_tip if earlier else b"",
        messages=() if built.repeats else conversation.messages,
        unfinished={
            h.key: h.richness
            for h in held
            if h.facts is not None and not h.facts.end_ns and not h.is_log
        },
    )


def _verdicts(scores: Sequence[ScoreRecord]) -> list[Verdict]:
    return [
        Verdict(
            scorer=s.scorer,
            version=s.scorer_version,
            level=s.level,
            target=s.target,
            revision=s.revision,
            verdict=s.verdict,
            value=s.value,
        )
        for s in scores
    ]


def _replied(conversation: Conversation) -> bool:
    """Say whether the last word is the agent's and it waits for no tool."""
    last = conversation.messages[-1]
    return last.role == "assistant" and not last.tool_requests
