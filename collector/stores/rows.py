"""Turn decided episodes into rows."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

import msgspec

from collector.model import Conversation, Decided, Identity
from collector.stamps import stamp
from collector.stores.span_rows import span_rows

__all__ = ["rows_of", "span_rows"]

_CONTENTLESS = ("", "", "", "", "")

_encoder = msgspec.json.Encoder()


def rows_of(decided: Decided) -> dict[str, list[tuple[Any, ...]]]:
    """Build all rows of one decided episode.

    The head, the verdicts, the ledger and the observations are always there; turns, tool
    calls and content only where the sampling kept the episode.
    """
    conversation = decided.conversation
    who = _who(conversation.identity)
    started = stamp(conversation.episode.started_ns)
    rows: dict[str, list[tuple[Any, ...]]] = {}
    if decided.sampling.kept:
        if conversation.turns:
            rows["turns"] = _turns(decided, started)
        if conversation.tool_calls:
            rows["tool_calls"] = _tool_calls(decided, who, started)
    if decided.scores:
        rows["scores"] = _scores(decided, who, started)
    if decided.decisions:
        rows["decisions"] = _decisions(decided, who, started)
    if decided.observations:
        rows["observations"] = _observations(decided)
    rows["conversations"] = [_head(decided, who, started)]
    return rows


def _json(value: Any) -> str:
    try:
        return _encoder.encode(value).decode()
    except (OverflowError, UnicodeEncodeError):
        # Integers over 64 bits and lone surrogates: valid JSON that only the slow encoder writes.
        return json.dumps(msgspec.to_builtins(value))


def _who(identity: Identity) -> tuple[str, str, str, str]:
    return (identity.agent, identity.agent_version, identity.environment, identity.variant)


def _head(decided: Decided, who: tuple[str, ...], started: str) -> tuple[Any, ...]:
    conversation, sampling = decided.conversation, decided.sampling
    identity, episode = conversation.identity, conversation.episode
    return (
        conversation.id,
        episode.number,
        decided.revision,
        decided.episode_id,
        conversation.explicit,
        *who,
        identity.tenant,
        identity.pair_id,
        identity.user_hash,
        started,
        stamp(episode.ended_ns),
        stamp(decided.decided_ns),
        episode.end_reason,
        episode.truncated,
        episode.first_message,
        len(conversation.messages),
        len(conversation.turns),
        len(conversation.tool_calls),
        len(conversation.llm_calls),
        len(conversation.documents),
        conversation.span_count,
        *_spent(conversation),
        _distinct(call.model for call in conversation.llm_calls),
        _distinct(call.provider for call in conversation.llm_calls),
        list(conversation.trace_ids),
        _distinct(score.scorer for score in decided.scores if score.verdict == "fail"),
        sampling.kept,
        sampling.probability,
        sampling.rule,
        *(_content(conversation) if sampling.kept else _CONTENTLESS),
    )


def _spent(conversation: Conversation) -> tuple[int, int, int, int, int, float | None]:
    """Sum tokens and cost; the cost is ``None`` where no call says one."""
    usages = [call.usage for call in conversation.llm_calls if call.usage is not None]
    costs = [call.cost_usd for call in conversation.llm_calls if call.cost_usd is not None]
    return (
        sum(max(0, usage.input) for usage in usages),
        sum(max(0, usage.output) for usage in usages),
        sum(max(0, usage.cache_read) for usage in usages),
        sum(max(0, usage.cache_write) for usage in usages),
        sum(max(0, usage.reasoning) for usage in usages),
        sum(costs) if costs else None,
    )


def _distinct(values: Iterable[str]) -> list[str]:
    return [value for value in dict.fromkeys(values) if value]


def _content(conversation: Conversation) -> tuple[str, str, str, str, str]:
    return (
        conversation.system_prompt,
        _json(conversation.tools),
        _json(conversation.messages),
        _json(conversation.llm_calls),
        _json(conversation.documents),
    )


def _turns(decided: Decided, started: str) -> list[tuple[Any, ...]]:
    conversation, decided_at = decided.conversation, stamp(decided.decided_ns)
    return [
        (
            conversation.id,
            conversation.episode.number,
            decided.revision,
            turn.index,
            turn.first_message,
            turn.end_message,
            stamp(turn.started_ns),
            stamp(turn.ended_ns),
            started,
            decided_at,
            decided.episode_id,
        )
        for turn in conversation.turns
    ]


def _tool_calls(decided: Decided, who: tuple[str, ...], started: str) -> list[tuple[Any, ...]]:
    conversation, decided_at = decided.conversation, stamp(decided.decided_ns)
    return [
        (
            conversation.id,
            conversation.episode.number,
            decided.revision,
            position,
            call.id,
            call.name,
            _json(call.arguments),
            call.result,
            call.is_error,
            call.asked_at,
            call.answered_at,
            call.trace_id,
            call.span_id,
            stamp(call.started_ns),
            stamp(call.ended_ns),
            call.requestor,
            call.simulated,
            *who,
            conversation.identity.tenant,
            started,
            decided_at,
            decided.episode_id,
        )
        for position, call in enumerate(conversation.tool_calls)
    ]


def _scores(decided: Decided, who: tuple[str, ...], started: str) -> list[tuple[Any, ...]]:
    return [
        (
            score.score_id,
            score.conversation_id,
            score.episode,
            score.revision,
            score.level,
            score.target,
            score.scorer,
            score.scorer_version,
            score.value,
            score.verdict,
            score.reason,
            _json(score.evidence) if score.evidence else "[]",
            score.cost_usd,
            score.latency_s,
            stamp(score.scored_ns),
            score.trace_id,
            *who,
            decided.conversation.identity.tenant,
            started,
            decided.episode_id,
        )
        for score in decided.scores
    ]


def _decisions(decided: Decided, who: tuple[str, ...], started: str) -> list[tuple[Any, ...]]:
    return [
        (
            record.conversation_id,
            record.episode,
            record.scorer,
            record.scorer_version,
            decided.revision,
            record.decision,
            record.reason,
            record.targets,
            stamp(record.decided_ns),
            *who,
            decided.conversation.identity.tenant,
            started,
            decided.episode_id,
        )
        for record in decided.decisions
    ]


def _observations(decided: Decided) -> list[tuple[Any, ...]]:
    return [
        (
            seen.producer,
            seen.sequence,
            seen.conversation_id,
            seen.episode,
            seen.scorer,
            seen.scorer_version,
            seen.shortfall,
            seen.weight,
            seen.stratum,
            *_who(seen.identity),
            seen.identity.tenant,
            seen.identity.pair_id,
            stamp(seen.observed_ns),
            stamp(seen.started_ns),
        )
        for seen in decided.observations
    ]
