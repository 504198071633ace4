"""Run every scorer on one conversation and write down what each concluded."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Literal

import msgspec

from collector.model import (
    Conversation,
    DecisionRecord,
    Evidence,
    Level,
    ScoreRecord,
    VerdictName,
)
from scorers.result import Failure, Score, ScorerResult, Skip
from scorers.scorer import ScorerInfo

_NO_TARGET: dict[Level, str] = {
    "conversation": "no_content",
    "turn": "no_turns",
    "tool_call": "no_tool_calls",
}


def score_id(
    *,
    conversation_id: str,
    episode: int,
    level: Level,
    target: str,
    scorer: str,
    version: str,
    revision: int,
) -> str:
    """Name one verdict: 32 hex digits that are the same whenever it is concluded again."""
    text = f"{conversation_id}\x1f{episode}\x1f{level}\x1f{target}\x1f{scorer}\x1f{version}\x1f{revision}"
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32]


class Runner:
    """Hold the scorers of one process and run them on conversations, one at a time.

    ``clock_ns`` stamps the records; ``seconds`` is monotonic and measures latency.
    Asynchronous scorers are not run here.
    """

    def __init__(
        self,
        scorers: Sequence[ScorerInfo],
        *,
        clock_ns: Callable[[], int],
        seconds: Callable[[], float],
    ) -> None:
        self._scorers = tuple(info for info in scorers if not info.asynchronous)
        self._clock_ns = clock_ns
        self._seconds = seconds

    def run(
        self, conversation: Conversation, *, revision: int = 0, parts_only: bool = False
    ) -> tuple[list[ScoreRecord], list[DecisionRecord]]:
        """Score one episode: a record per (scorer, target) and a ledger row per scorer.

        With ``parts_only`` the scorers of whole conversations are left out: while an episode
        goes on, only what is finished is judged. A scorer that has no target at all gives one ``skip`` record with an empty target.
        Never raises: what a scorer raises becomes its ``failure`` record.
        """
        now = self._clock_ns()
        names = _call_targets(conversation)
        scores: list[ScoreRecord] = []
        decisions: list[DecisionRecord] = []
        for info in self._scorers:
            if parts_only and info.level == "conversation":
                continue
            verdicts = self._judge(conversation, info, names)
            decisions.append(_decision(conversation, info, verdicts, now))
            scores.extend(
                _record(conversation, info, verdict, revision=revision, scored_ns=now)
                for verdict in verdicts
            )
        return scores, decisions

    def _judge(
        self, conversation: Conversation, info: ScorerInfo, names: Sequence[str | None]
    ) -> list[_Verdict]:
        verdicts = []
        for target, trace_id, arguments in _targets(conversation, info.level, names):
            started = self._seconds()
            result = _call(info, conversation, arguments)
            latency = max(0.0, self._seconds() - started)
            verdicts.append(
                _Verdict(target=target, trace_id=trace_id, result=result, latency_s=latency)
            )
        if not verdicts:
            skip = Skip(reason=_NO_TARGET[info.level])
            verdicts.append(_Verdict(target="", trace_id="", result=skip, latency_s=0.0))
        return verdicts


class _Verdict(msgspec.Struct, frozen=True, kw_only=True):
    """What one scorer concluded about one target."""

    target: str
    trace_id: str
    result: ScorerResult
    latency_s: float


def _call(info: ScorerInfo, conversation: Conversation, arguments: tuple[Any, ...]) -> ScorerResult:
    try:
        result = info.function(conversation, *arguments, **info.options)
    except (Exception, SystemExit) as error:  # noqa: BLE001 - a scorer's fault is a failure record, which is counted
        return Failure(error=type(error).__name__, detail=str(error)[:500])
    if isinstance(result, Score):
        # written so that NaN is refused too
        if not 0.0 <= result.value <= 1.0:
            return Failure(error="ValueError", detail=f"value {result.value} is not in 0..1")
        return result
    if isinstance(result, Skip | Failure):
        return result
    return Failure(error="TypeError", detail=f"returned {type(result).__name__}, not a result")


def _targets(
    conversation: Conversation, level: Level, names: Sequence[str | None]
) -> Iterator[tuple[str, str, tuple[Any, ...]]]:
    """Yield (target, trace id, positional arguments) for each thing a scorer judges."""
    trace_id = conversation.trace_ids[-1] if conversation.trace_ids else ""
    if level == "conversation":
        yield "", trace_id, ()
    elif level == "turn":
        for turn in conversation.turns:
            yield str(turn.index), trace_id, (turn,)
    else:
        for call, name in zip(conversation.tool_calls, names, strict=True):
            if name is not None:
                yield name, call.trace_id or trace_id, (call,)


def _call_targets(conversation: Conversation) -> list[str | None]:
    """Give each tool call a target that is its own; ``None`` for those the user ran."""
    taken: set[str] = set()
    repeats: dict[str, int] = {}
    names: list[str | None] = []
    for position, call in enumerate(conversation.tool_calls):
        if call.requestor == "user":
            names.append(None)
            continue
        stem = call.id or f"call-{position}"
        name = stem
        while name in taken:
            repeats[stem] = repeats.get(stem, 1) + 1
            name = f"{stem}#{repeats[stem]}"
        taken.add(name)
        names.append(name)
    return names


def _record(
    conversation: Conversation,
    info: ScorerInfo,
    verdict: _Verdict,
    *,
    revision: int,
    scored_ns: int,
) -> ScoreRecord:
    result = verdict.result
    value: float | None = None
    name: VerdictName
    evidence: tuple[Evidence, ...] = ()
    cost_usd = 0.0
    match result:
        case Score():
            value, name, reason = result.value, result.verdict, result.reason
            evidence, cost_usd = result.evidence, result.cost_usd
        case Skip():
            name, reason = "skip", result.reason
        case Failure():
            name, reason = "failure", ": ".join(p for p in (result.error, result.detail) if p)
    target = _sound(verdict.target)
    number = conversation.episode.number
    return ScoreRecord(
        score_id=score_id(
            conversation_id=conversation.id,
            episode=number,
            level=info.level,
            target=target,
            scorer=info.name,
            version=info.version,
            revision=revision,
        ),
        conversation_id=conversation.id,
        episode=number,
        level=info.level,
        target=target,
        scorer=info.name,
        scorer_version=info.version,
        revision=revision,
        value=value,
        verdict=name,
        reason=_sound(reason),
        evidence=tuple(map(_sound_evidence, evidence)) if evidence else (),
        cost_usd=cost_usd,
        latency_s=verdict.latency_s,
        scored_ns=scored_ns,
        trace_id=verdict.trace_id,
    )


def _decision(
    conversation: Conversation, info: ScorerInfo, verdicts: Sequence[_Verdict], decided_ns: int
) -> DecisionRecord:
    """Write the ledger row: scored when any target was, else why the first one was not."""
    scored = sum(isinstance(v.result, Score) for v in verdicts)
    failed = next((v.result for v in verdicts if isinstance(v.result, Failure)), None)
    skipped = next((v.result for v in verdicts if isinstance(v.result, Skip)), None)
    decision: Literal["scored", "failed", "skipped"]
    if scored:
        decision, reason = "scored", ""
    elif failed is not None:
        decision, reason = "failed", failed.error
    else:
        decision, reason = "skipped", skipped.reason if skipped is not None else ""
    return DecisionRecord(
        conversation_id=conversation.id,
        episode=conversation.episode.number,
        scorer=info.name,
        scorer_version=info.version,
        decision=decision,
        reason=reason,
        targets=scored,
        decided_ns=decided_ns,
    )


def _sound(text: str) -> str:
    """Replace lone surrogates, which no store and no JSON takes."""
    if text.isascii():
        return text
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _sound_evidence(item: Evidence) -> Evidence:
    if item.quote.isascii() and item.tool_call_id.isascii():
        return item
    return msgspec.structs.replace(
        item, quote=_sound(item.quote), tool_call_id=_sound(item.tool_call_id)
    )
