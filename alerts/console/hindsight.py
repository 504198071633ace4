"""Read what was learned of a conversation after it was over: outcomes, and people's labels."""

from __future__ import annotations

from typing import Any, TypeAlias

import msgspec

from alerts.console.store import Query, Row

_MOST = 500
"""Of each that are shown of one conversation."""
_COMMENT = 4_000

# What names no conversation names a trace; what is not said (tenant, episode) means any.
_WHERE = """
WHERE (conversation_id = {conversation:String}
  OR (conversation_id = '' AND trace_id IN (
    SELECT arrayJoin(trace_ids) FROM conversations
    WHERE conversation_id = {conversation:String} AND episode_id = {id:String})))
  AND episode IN (0, {episode:UInt32}) AND tenant IN ('', {tenant:String})
  AND environment IN ('', {environment:String}) AND variant IN ('', {variant:String})"""

_OUTCOMES = f"""
SELECT name, success, number, text, source, call_id, tool,
  toUnixTimestamp64Nano(observed) AS at_ns, toUnixTimestamp64Nano(received) AS received_ns
FROM outcomes FINAL {_WHERE}
ORDER BY name, observed LIMIT {_MOST}"""

_LABELS = f"""
SELECT scorer, verdict, value, category, level, target, author, source,
  substringUTF8(comment, 1, {_COMMENT}) AS comment,
  toUnixTimestamp64Nano(created) AS at_ns, toUnixTimestamp64Nano(received) AS received_ns
FROM labels FINAL {_WHERE}
ORDER BY scorer, level, length(target), target, created LIMIT {_MOST}"""


class OutcomeTold(msgspec.Struct, frozen=True, kw_only=True):
    """Something that was verified."""

    name: str
    value: bool | float | str
    source: str = ""
    """The system that knows it."""
    call_id: str = ""
    tool: str = ""
    at_ns: int
    received_ns: int


class LabelTold(msgspec.Struct, frozen=True, kw_only=True):
    """What a person says about the conversation, a turn or a call."""

    scorer: str
    verdict: str = ""
    """``pass``, ``fail``, or empty where there is only a value or a category."""
    value: float | None = None
    category: str = ""
    level: str = "conversation"
    target: str = ""
    author: str = ""
    source: str = ""
    comment: str = ""
    at_ns: int
    received_ns: int


Place: TypeAlias = tuple[str, str, str]
"""What a verdict or a label is on: scorer, level and target."""


class Hindsight(msgspec.Struct, frozen=True, kw_only=True):
    """Everything that was learned later."""

    outcomes: tuple[OutcomeTold, ...] = ()
    labels: tuple[LabelTold, ...] = ()


def read_hindsight(query: Query, *, episode_id: str, row: Row) -> Hindsight:
    """Read it of the episode whose head is ``row``."""
    bound: dict[str, Any] = {
        "id": episode_id,
        "conversation": row["conversation_id"],
        **{key: row[key] for key in ("episode", "tenant", "environment", "variant")},
    }
    return Hindsight(
        outcomes=tuple(map(_outcome, query(_OUTCOMES, bound))),
        labels=tuple(
            msgspec.convert(found, LabelTold, strict=False) for found in query(_LABELS, bound)
        ),
    )


def by_place(labels: tuple[LabelTold, ...]) -> dict[Place, list[LabelTold]]:
    """Sort labels by what they are on."""
    places: dict[Place, list[LabelTold]] = {}
    for label in labels:
        places.setdefault((label.scorer, label.level, label.target), []).append(label)
    return places


def _outcome(row: Row) -> OutcomeTold:
    truth, number, text = row.pop("success"), row.pop("number"), row.pop("text")
    value = bool(truth) if truth is not None else text if number is None else float(number)
    return OutcomeTold(value=value, **row)
