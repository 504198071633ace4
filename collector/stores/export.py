"""Read what was stored back, one JSON object each.

Pages of keys bound the memory; each page is read again by its key range, so the order is
stable and rows that arrive meanwhile do no harm. Only the current revision is exported.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import Any, Literal, Protocol

import msgspec

from collector.stores.hindsight_export import HindsightKind, Joined, Queries, hindsight

What = Literal["conversations", "scores", "decisions", "observations", HindsightKind]
Line = dict[str, Any]
Page = dict[str, Any]
"""Query parameters: the key before the page and its last key."""

PAGE = 200
"""Episodes read at once."""

_KEYS = """\
SELECT conversation_id, episode FROM conversations
WHERE conversation_id >= {c0:String} AND (conversation_id, episode) > ({c0:String}, {e0:UInt32})
ORDER BY conversation_id, episode LIMIT {limit:UInt32}"""

_HEADS = """\
SELECT *,
  toUnixTimestamp64Nano(started) AS started_ns, toUnixTimestamp64Nano(ended) AS ended_ns,
  toUnixTimestamp64Nano(decided) AS decided_ns
FROM conversations
WHERE conversation_id BETWEEN {c0:String} AND {c1:String}
  AND (conversation_id, episode) > ({c0:String}, {e0:UInt32})
  AND (conversation_id, episode) <= ({c1:String}, {e1:UInt32})
ORDER BY conversation_id, episode, episode_id, revision DESC LIMIT 1 BY episode_id"""

_TOOL_CALLS = """\
SELECT *, toUnixTimestamp64Nano(started) AS started_ns, toUnixTimestamp64Nano(ended) AS ended_ns
FROM tool_calls
WHERE conversation_id BETWEEN {c0:String} AND {c1:String}
  AND (conversation_id, episode) > ({c0:String}, {e0:UInt32})
  AND (conversation_id, episode) <= ({c1:String}, {e1:UInt32})
ORDER BY episode_id, revision, position
LIMIT 1 BY episode_id, revision, position"""

_SCORES = """\
SELECT *, toUnixTimestamp64Nano(scored) AS scored_ns
FROM scores
WHERE conversation_id BETWEEN {c0:String} AND {c1:String}
  AND (conversation_id, episode) > ({c0:String}, {e0:UInt32})
  AND (conversation_id, episode) <= ({c1:String}, {e1:UInt32})
ORDER BY conversation_id, episode, episode_id, scorer, scorer_version, revision DESC,
  level, length(target), target
LIMIT 1 BY episode_id, scorer, scorer_version, revision, level, target"""

_DECISIONS = """\
SELECT *, toUnixTimestamp64Nano(decided) AS decided_ns
FROM decisions
WHERE conversation_id BETWEEN {c0:String} AND {c1:String}
  AND (conversation_id, episode) > ({c0:String}, {e0:UInt32})
  AND (conversation_id, episode) <= ({c1:String}, {e1:UInt32})
ORDER BY conversation_id, episode, episode_id, scorer, revision DESC
LIMIT 1 BY episode_id, scorer"""

_OBSERVATIONS = """\
SELECT *, toUnixTimestamp64Nano(observed) AS observed_ns,
  toUnixTimestamp64Nano(started) AS started_ns
FROM observations
WHERE producer >= {p0:String} AND (producer, sequence) > ({p0:String}, {s0:UInt64})
ORDER BY producer, sequence LIMIT {limit:UInt32}"""


_encoder = msgspec.json.Encoder()


class Stored(Queries, Protocol):
    """A store that may not have been written yet."""

    def has_tables(self) -> bool:
        """Return whether the schema is complete."""


def documents(store: Stored, what: What) -> Iterator[bytes]:
    """Yield an export as JSON texts; nothing before the first row made the tables."""
    if store.has_tables():
        yield from map(_encoder.encode, export(store, what))


def export(store: Queries, what: What, *, page: int = PAGE) -> Iterator[Line]:
    """Yield the lines of one kind in a stable order.

    Conversations, scores and decisions come by conversation id and episode, outcomes and labels
    by conversation id; observations in the order in which they were made.

    Raises:
        StoreUnavailableError: the store did not answer; the lines so far are right.
        PermanentError: the schema is missing or older; run ``outrider migrate``.
    """
    if what == "observations":
        yield from _observations(store, page)
        return
    if what == "outcomes" or what == "labels":  # noqa: PLR1714 - what mypy narrows by
        yield from hindsight(store, what, page=page)
        return
    read = {"conversations": _conversations, "scores": _scores, "decisions": _decisions}[what]
    for bounds in _pages(store, page):
        yield from read(store, bounds)


def _pages(store: Queries, limit: int) -> Iterator[Page]:
    conversation, episode = "", 0
    while True:
        keys = store.query(_KEYS, {"c0": conversation, "e0": episode, "limit": limit})
        if not keys:
            return
        last = keys[-1]
        yield {
            "c0": conversation,
            "e0": episode,
            "c1": last["conversation_id"],
            "e1": last["episode"],
        }
        conversation, episode = last["conversation_id"], last["episode"]


def _conversations(store: Queries, bounds: Page) -> Iterator[Line]:
    calls: dict[tuple[str, int], list[Line]] = defaultdict(list)
    for row in store.query(_TOOL_CALLS, bounds):
        calls[row["episode_id"], row["revision"]].append(_tool_call(row))
    joined = Joined(store, bounds)
    for row in store.query(_HEADS, bounds):
        yield {**_conversation(row, calls[row["episode_id"], row["revision"]]), **joined.of(row)}


def _conversation(row: Line, calls: list[Line]) -> Line:
    return {
        "conversation_id": row["conversation_id"],
        "episode": row["episode"],
        "revision": row["revision"],
        "explicit": row["explicit"],
        "identity": {
            key: row[key]
            for key in (
                "agent",
                "agent_version",
                "environment",
                "variant",
                "tenant",
                "pair_id",
                "user_hash",
            )
        },
        "started_ns": row["started_ns"],
        "ended_ns": row["ended_ns"],
        "decided_ns": row["decided_ns"],
        "end_reason": row["end_reason"],
        "truncated": row["truncated"],
        "first_message": row["first_message"],
        "message_count": row["message_count"],
        "tool_call_count": row["tool_call_count"],
        "llm_call_count": row["llm_call_count"],
        "span_count": row["span_count"],
        "trace_ids": row["trace_ids"],
        "sampling": {
            "kept": row["kept"],
            "probability": float(row["probability"]),
            "rule": row["sampling_rule"],
        },
        "system_prompt": row["system_prompt"],
        "tools": _parsed(row["tools"]),
        "messages": _parsed(row["messages"]),
        "llm_calls": [_llm_call(call) for call in _parsed(row["llm_calls"])],
        "tool_calls": calls,
        "documents": _parsed(row["documents"]),
    }


def _parsed(text: str) -> list[Any]:
    found: list[Any] = msgspec.json.decode(text) if text else []
    return found


def _llm_call(call: Line) -> Line:
    return {
        "model": call["model"],
        "provider": call["provider"],
        "tokens": call["usage"],
        "cost_usd": call["cost_usd"],
        "latency_s": _latency(call),
        "finish_reason": call["finish_reason"],
        "response_id": call["response_id"],
        "span_ids": call["span_ids"],
        "trace_id": call["trace_id"],
        "first_token_s": call["first_token_s"],
        "error": call["error"],
        "truncated": call.get("truncated", False),
        "started_ns": call["started_ns"],
        "ended_ns": call["ended_ns"],
    }


def _tool_call(row: Line) -> Line:
    return {
        "id": row["call_id"],
        "name": row["name"],
        "arguments": msgspec.json.decode(row["arguments"]),
        "result": row["result"],
        "is_error": row["is_error"],
        "latency_s": _latency(row),
        "asked_at": row["asked_at"],
        "answered_at": row["answered_at"],
        "trace_id": row["trace_id"],
        "span_id": row["span_id"],
        "requestor": row["requestor"],
        "simulated": row["simulated"],
        "started_ns": row["started_ns"],
        "ended_ns": row["ended_ns"],
    }


def _latency(row: Line) -> float | None:
    """Return seconds; ``None`` where a span never told both ends."""
    if not row["started_ns"] or row["ended_ns"] < row["started_ns"]:
        return None
    return float(row["ended_ns"] - row["started_ns"]) / 1e9


def _scores(store: Queries, bounds: Page) -> Iterator[Line]:
    newest: tuple[Any, ...] = ()
    for row in store.query(_SCORES, bounds):
        key = (row["episode_id"], row["scorer"], row["scorer_version"])
        if newest[:3] != key:
            newest = (*key, row["revision"])
        if row["revision"] == newest[3]:
            yield _score(row)


def _score(row: Line) -> Line:
    return {
        "conversation_id": row["conversation_id"],
        "scorer": row["scorer"],
        "scorer_version": row["scorer_version"],
        "level": row["level"],
        "target": row["target"],
        "value": None if row["value"] is None else float(row["value"]),
        "verdict": row["verdict"],
        "reason": row["reason"],
        "evidence": _parsed(row["evidence"]),
        "episode": row["episode"],
        "score_id": row["score_id"],
        "revision": row["revision"],
        "cost_usd": float(row["cost_usd"]),
        "latency_s": float(row["latency_s"]),
        "scored_ns": row["scored_ns"],
        "trace_id": row["trace_id"],
        "agent": row["agent"],
        "agent_version": row["agent_version"],
        "environment": row["environment"],
        "variant": row["variant"],
    }


def _decisions(store: Queries, bounds: Page) -> Iterator[Line]:
    for row in store.query(_DECISIONS, bounds):
        yield {
            "conversation_id": row["conversation_id"],
            "episode": row["episode"],
            "scorer": row["scorer"],
            "scorer_version": row["scorer_version"],
            "decision": row["decision"],
            "reason": row["reason"],
            "targets": row["targets"],
            "revision": row["revision"],
            "decided_ns": row["decided_ns"],
            "agent": row["agent"],
            "agent_version": row["agent_version"],
            "environment": row["environment"],
            "variant": row["variant"],
        }


def _observations(store: Queries, limit: int) -> Iterator[Line]:
    producer, sequence = "", 0
    while rows := store.query(_OBSERVATIONS, {"p0": producer, "s0": sequence, "limit": limit}):
        for row in rows:
            if (row["producer"], row["sequence"]) == (producer, sequence):
                continue  # a resend that was not merged away yet
            producer, sequence = row["producer"], row["sequence"]
            yield {
                "producer": producer,
                "sequence": sequence,
                "conversation_id": row["conversation_id"],
                "episode": row["episode"],
                "scorer": row["scorer"],
                "scorer_version": row["scorer_version"],
                "shortfall": float(row["shortfall"]),
                "weight": float(row["weight"]),
                "stratum": row["stratum"],
                "agent": row["agent"],
                "agent_version": row["agent_version"],
                "environment": row["environment"],
                "variant": row["variant"],
                "tenant": row["tenant"],
                "pair_id": row["pair_id"],
                "observed_ns": row["observed_ns"],
                "started_ns": row["started_ns"],
            }
