"""Read one conversation with everything that was concluded about it."""

from __future__ import annotations

from typing import Any

import msgspec

from alerts.console.hindsight import LabelTold, OutcomeTold, read_hindsight
from alerts.console.store import Query, Row
from collector.model import Document, Evidence, LlmCall

MOST_BYTES = 16 * 1024 * 1024
"""Messages larger than this are not read: a page of them helps nobody."""
_CALL_BYTES = 200_000
"""Bytes read of one tool call's arguments and of its result."""
_CALLS = 2_000
_VERDICTS = 5_000

_HEAD = """
SELECT conversation_id, episode, revision, episode_id, agent, agent_version, environment, variant,
  tenant, toUnixTimestamp64Nano(started) AS started_ns, toUnixTimestamp64Nano(ended) AS ended_ns,
  toUnixTimestamp64Nano(decided) AS decided_ns, end_reason, truncated, first_message,
  message_count, turn_count, tool_call_count, llm_call_count, document_count, span_count,
  input_tokens, output_tokens, cache_read_tokens, cost_usd, models, providers,
  arraySlice(c.trace_ids, 1, 50) AS trace_ids, length(c.trace_ids) AS trace_count, kept, probability,
  sampling_rule, length(c.messages) AS message_bytes,
  if(length(c.messages) <= {most:UInt64}, c.messages, '') AS messages,
  substringUTF8(c.system_prompt, 1, 100000) AS system_prompt,
  if(length(c.tools) <= 2000000, c.tools, '') AS tools,
  if(length(c.llm_calls) <= 2000000, c.llm_calls, '') AS llm_calls,
  if(length(c.documents) <= 2000000, c.documents, '') AS documents
FROM conversations AS c WHERE episode_id = {id:String}
ORDER BY revision DESC LIMIT 1"""

_CALLS_SQL = """
SELECT position, call_id, name, substringUTF8(t.arguments, 1, {bytes:UInt32}) AS arguments,
  length(t.arguments) AS argument_bytes, substringUTF8(t.result, 1, {bytes:UInt32}) AS result,
  length(ifNull(t.result, '')) AS result_bytes, is_error, asked_at, answered_at, trace_id, span_id,
  toUnixTimestamp64Nano(t.started) AS started_ns, toUnixTimestamp64Nano(t.ended) AS ended_ns,
  requestor, simulated
FROM tool_calls AS t
WHERE conversation_id = {conversation:String} AND episode = {episode:UInt32}
  AND episode_id = {id:String} AND revision = {revision:UInt32}
ORDER BY position LIMIT 1 BY position LIMIT {limit:UInt32}"""

# Partial verdicts of an episode that goes on have no head, so the id alone must do.
_VERDICTS_SQL = """
SELECT scorer, scorer_version, level, target, value, verdict,
  substringUTF8(s.reason, 1, 4000) AS reason, evidence, revision,
  toUnixTimestamp64Nano(scored) AS scored_ns, latency_s, cost_usd, trace_id
FROM scores AS s
WHERE conversation_id = {conversation:String} AND episode_id = {id:String}
  AND (scorer, scorer_version, revision) IN (
    SELECT scorer, scorer_version, max(revision) FROM scores
    WHERE conversation_id = {conversation:String} AND episode_id = {id:String}
    GROUP BY scorer, scorer_version)
ORDER BY scorer, scorer_version, length(target), target
LIMIT 1 BY scorer, scorer_version, level, target
LIMIT {limit:UInt32}"""


_EPISODES = """
SELECT episode_id FROM conversations WHERE conversation_id = {id:String}
GROUP BY episode_id ORDER BY episode_id LIMIT 2"""


class Asked(msgspec.Struct, frozen=True, kw_only=True):
    """A tool call as a message asks for it."""

    id: str = ""
    name: str
    arguments: Any = None
    """Whatever JSON can say."""


class Said(msgspec.Struct, frozen=True, kw_only=True):
    """One message."""

    role: str
    text: str = ""
    tool_requests: tuple[Asked, ...] = ()
    tool_call_id: str = ""
    """The request that a tool's message answers."""
    tool_name: str = ""
    is_error: bool | None = None


class Offered(msgspec.Struct, frozen=True, kw_only=True):
    """A tool that the model could call."""

    name: str
    description: str = ""
    parameters: Any = None
    """JSON Schema of the arguments."""


class Call(msgspec.Struct, frozen=True, kw_only=True):
    """One tool call as stored; large arguments and results are cut."""

    position: int
    call_id: str
    name: str
    arguments: str
    """JSON text."""
    argument_bytes: int
    """Before they were cut."""
    result: str | None
    result_bytes: int
    is_error: bool | None
    asked_at: int
    answered_at: int
    trace_id: str
    span_id: str
    started_ns: int
    ended_ns: int
    requestor: str
    simulated: bool


class Verdict(msgspec.Struct, frozen=True, kw_only=True):
    """What one scorer concluded about one target."""

    scorer: str
    scorer_version: str
    level: str
    target: str
    value: float | None
    verdict: str
    reason: str
    evidence: tuple[Evidence, ...] = ()
    revision: int = 0
    scored_ns: int = 0
    latency_s: float = 0.0
    cost_usd: float = 0.0
    trace_id: str = ""


class Head(msgspec.Struct, frozen=True, kw_only=True):
    """One episode's facts, without what was said."""

    conversation_id: str
    episode: int
    revision: int
    episode_id: str
    agent: str
    agent_version: str
    environment: str
    variant: str
    tenant: str
    started_ns: int
    ended_ns: int
    decided_ns: int
    end_reason: str
    truncated: bool
    first_message: int
    """Messages before it are context from earlier episodes."""
    message_count: int
    turn_count: int
    tool_call_count: int
    llm_call_count: int
    document_count: int
    span_count: int
    input_tokens: int
    output_tokens: int
    cache_read_tokens: int
    cost_usd: float | None
    models: tuple[str, ...]
    providers: tuple[str, ...]
    trace_ids: tuple[str, ...]
    """The first fifty."""
    trace_count: int
    kept: bool
    """Whether the sampling kept what was said."""
    probability: float
    sampling_rule: str
    message_bytes: int
    """Size of the stored messages; 0 when they were not kept or have expired."""


class Told(msgspec.Struct, frozen=True, kw_only=True):
    """One conversation's episode in its newest revision."""

    head: Head
    verdicts: tuple[Verdict, ...] = ()
    outcomes: tuple[OutcomeTold, ...] = ()
    """What turned out to be true."""
    labels: tuple[LabelTold, ...] = ()
    """What people say about it."""
    system_prompt: str = ""
    messages: tuple[Said, ...] = ()
    tools: tuple[Offered, ...] = ()
    documents: tuple[Document, ...] = ()
    llm_calls: tuple[LlmCall, ...] = ()
    tool_calls: tuple[Call, ...] = ()


def read_conversation(query: Query, episode_id: str) -> Told | None:
    """Read an episode; ``None`` when there is none of this id."""
    rows = query(_HEAD, {"id": episode_id, "most": MOST_BYTES})
    if not rows:
        return None
    row = rows[0]
    content = {
        name: _parsed(row.pop(name), kind)
        for name, kind in (
            ("messages", tuple[Said, ...]),
            ("tools", tuple[Offered, ...]),
            ("documents", tuple[Document, ...]),
            ("llm_calls", tuple[LlmCall, ...]),
        )
    }
    prompt = row.pop("system_prompt")
    later = read_hindsight(query, episode_id=episode_id, row=row)
    head = msgspec.convert(row, Head, strict=False)
    bound: dict[str, Any] = {"id": episode_id, "conversation": head.conversation_id}
    calls = query(
        _CALLS_SQL,
        {
            **bound,
            "episode": head.episode,
            "revision": head.revision,
            "bytes": _CALL_BYTES,
            "limit": _CALLS,
        },
    )
    return Told(
        head=head,
        verdicts=tuple(map(_verdict, query(_VERDICTS_SQL, {**bound, "limit": _VERDICTS}))),
        outcomes=later.outcomes,
        labels=later.labels,
        system_prompt=prompt,
        tool_calls=tuple(msgspec.convert(call, Call, strict=False) for call in calls),
        **content,
    )


def episodes_of(query: Query, conversation_id: str) -> list[str]:
    """Return the ids of a conversation's episodes; two where there are more."""
    return [row["episode_id"] for row in query(_EPISODES, {"id": conversation_id})]


def _verdict(row: Row) -> Verdict:
    evidence = _parsed(row.pop("evidence"), tuple[Evidence, ...])
    return msgspec.convert({**row, "evidence": evidence}, Verdict, strict=False)


def _parsed(text: str, kind: Any) -> Any:
    """Decode a stored text; what another version wrote otherwise is left out, not an error."""
    if not text:
        return ()
    try:
        return msgspec.json.decode(text, type=kind)
    except (msgspec.MsgspecError, RecursionError):
        return ()
