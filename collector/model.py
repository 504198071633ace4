"""Hold the records that every stage hands to the next.

Frozen records without behaviour. Times are Unix nanoseconds (``*_ns``), durations are
seconds unless the name says otherwise, money is US dollars. An empty string or tuple means
"not said"; ``None`` is used where zero or empty would be a fact of its own.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

import msgspec

JsonValue: TypeAlias = "bool | int | float | str | list[JsonValue] | dict[str, JsonValue] | None"
"""Anything JSON can say."""

MessageRole = Literal["system", "user", "assistant", "tool"]
FactRole = Literal[
    "llm", "tool", "agent", "retriever", "embedding", "chain", "guardrail", "evaluation", "other"
]
"""What a span is. ``llm`` is a leaf inference, the only role whose usage counts."""
FinishReason = Literal["", "stop", "length", "tool_call", "content_filter", "pause", "error"]
Level = Literal["conversation", "turn", "tool_call"]
VerdictName = Literal["pass", "fail", "skip", "failure"]
DecisionName = Literal["scored", "skipped", "sampled_out", "over_budget", "throttled", "failed"]
EndReason = Literal["explicit", "idle", "lone_trace", "truncated", "shutdown", "transcript"]


# --- what a convention makes of it ------------------------------------------------------


class ToolRequest(msgspec.Struct, frozen=True, kw_only=True):
    """A tool call as the model asked for it, inside an assistant message."""

    id: str = ""
    name: str
    arguments: JsonValue = None
    """The parsed arguments; the raw string where they are not valid JSON."""


class Message(msgspec.Struct, frozen=True, kw_only=True):
    """One message in normal form: an assistant turn, one user text, or one tool result."""

    role: MessageRole
    text: str = ""
    tool_requests: tuple[ToolRequest, ...] = ()
    """Only on assistant messages."""
    tool_call_id: str = ""
    """Only on tool messages: the request this answers."""
    tool_name: str = ""
    is_error: bool | None = None
    """Only on tool messages: the producer's own error flag; ``None`` when it has none."""


class ToolDefinition(msgspec.Struct, frozen=True, kw_only=True):
    """A tool the model was offered."""

    name: str
    description: str = ""
    parameters: JsonValue = None
    """JSON Schema of the arguments; ``None`` when the producer does not say."""
    read_only: bool | None = None
    """MCP ``readOnlyHint``; ``None`` when undeclared."""
    destructive: bool | None = None
    """MCP ``destructiveHint``; ``None`` when undeclared."""


class Document(msgspec.Struct, frozen=True, kw_only=True):
    """A passage that retrieval gave the agent."""

    id: str = ""
    text: str = ""
    score: float | None = None


class Usage(msgspec.Struct, frozen=True, kw_only=True):
    """Tokens of one LLM call; ``input`` includes the cached ones, ``output`` the reasoning ones."""

    input: int = 0
    output: int = 0
    cache_read: int = 0
    cache_write: int = 0
    reasoning: int = 0


class Identity(msgspec.Struct, frozen=True, kw_only=True):
    """Who spoke: the labels that every score and metric carries."""

    agent: str = ""
    agent_version: str = ""
    """Declared version; empty until the assembler derives one."""
    environment: str = ""
    variant: str = "production"
    tenant: str = ""
    pair_id: str = ""
    user_hash: str = ""
    credential_hash: str = ""


class Facts(msgspec.Struct, frozen=True, kw_only=True):
    """What one span, or the log records that belong to it, says in our own terms."""

    trace_id: str = ""
    span_id: str = ""
    parent_id: str = ""
    role: FactRole
    dialect: str
    """Name of the dialect that read it; empty when none did."""
    name: str = ""
    start_ns: int
    end_ns: int = 0
    error: str = ""
    """``error.type`` or the status message of a failed span."""
    identity: Identity
    realm: str = ""
    """Tenant that the sender's token proves, outside of which its trace and span ids mean nothing."""
    conversation_id: str = ""
    thread_id: str = ""
    """A server-side thread; joins like a conversation id inside one scope."""
    previous_response_id: str = ""
    ends_conversation: bool = False
    partial: bool = False
    """``input`` and ``output`` are one event's share and are appended to the span's others."""
    truncated: bool = False
    """Something of it was cut short, or left out, before it came here."""
    # llm, agent
    provider: str = ""
    model: str = ""
    response_id: str = ""
    usage: Usage | None = None
    cost_usd: float | None = None
    finish_reason: FinishReason = ""
    first_token_s: float | None = None
    system_prompt: str = ""
    tools: tuple[ToolDefinition, ...] = ()
    input: tuple[Message, ...] = ()
    output: tuple[Message, ...] = ()
    # tool
    tool: ToolRequest | None = None
    tool_result: str | None = None
    """Result text; ``None`` when the span does not carry it."""
    tool_is_error: bool | None = None
    simulated: bool = False
    user_side: bool = False
    """The user ran this tool, not the agent (dual control)."""
    # retriever
    documents: tuple[Document, ...] = ()


# --- what a conversation is -------------------------------------------------------------


class LlmCall(msgspec.Struct, frozen=True, kw_only=True):
    """One model call, whatever number of spans described it."""

    span_ids: tuple[str, ...] = ()
    trace_id: str = ""
    provider: str = ""
    model: str = ""
    response_id: str = ""
    usage: Usage | None = None
    cost_usd: float | None = None
    started_ns: int = 0
    ended_ns: int = 0
    finish_reason: FinishReason = ""
    first_token_s: float | None = None
    error: str = ""
    has_input: bool = False
    has_output: bool = False
    truncated: bool = False
    """Its content was cut short, or attributes were left out, before it came here."""
    agent: str = ""
    """Span id of the agent that made the call; empty when no agent span is known."""


class ToolCall(msgspec.Struct, frozen=True, kw_only=True):
    """One tool call with its result, joined from spans and message history."""

    id: str = ""
    name: str
    arguments: JsonValue = None
    result: str | None = None
    """Result text; ``None`` when it was never seen."""
    is_error: bool | None = None
    """The producer's own flag; what the text says is for the scorers to judge."""
    asked_at: int = -1
    """Index of the assistant message that asked; -1 when only a span told of the call."""
    answered_at: int = -1
    """Index of the tool message that answered; -1 when there is none."""
    span_id: str = ""
    trace_id: str = ""
    started_ns: int = 0
    ended_ns: int = 0
    requestor: Literal["agent", "user"] = "agent"
    simulated: bool = False
    truncated: bool = False
    """Its arguments or result were cut short before they came here."""
    agent: str = ""
    """Span id of the agent that ran the tool; empty when no agent span is known."""


class AgentRun(msgspec.Struct, frozen=True, kw_only=True):
    """One run of an agent inside a conversation: a node of the tree of agents."""

    span_id: str
    parent: str = ""
    """Span id of the agent that started it; empty for an outermost one."""
    name: str = ""
    trace_id: str = ""
    started_ns: int = 0
    ended_ns: int = 0
    error: str = ""


class Turn(msgspec.Struct, frozen=True, kw_only=True):
    """One user request up to the agent's final reply to it."""

    index: int
    """Counted over the whole conversation, from 0."""
    first_message: int
    end_message: int
    """Half-open: ``conversation.messages[first_message:end_message]``."""
    started_ns: int = 0
    ended_ns: int = 0


class Episode(msgspec.Struct, frozen=True, kw_only=True):
    """A stretch of activity of a conversation: the unit that is decided."""

    number: int = 1
    first_message: int = 0
    """Messages before this index are context from earlier episodes."""
    started_ns: int = 0
    ended_ns: int = 0
    end_reason: EndReason = "transcript"
    truncated: bool = False


class Conversation(msgspec.Struct, frozen=True, kw_only=True):
    """One conversation as of one episode: what a scorer is given."""

    id: str
    """The producer's id, else one derived from the scope and the first call."""
    explicit: bool = True
    """Whether the id came from the producer."""
    identity: Identity
    episode: Episode
    system_prompt: str = ""
    tools: tuple[ToolDefinition, ...] = ()
    messages: tuple[Message, ...] = ()
    """In order, system messages left out; earlier episodes' first, as context."""
    turns: tuple[Turn, ...] = ()
    """The turns of this episode."""
    tool_calls: tuple[ToolCall, ...] = ()
    """The calls of this episode, in the order they were asked for."""
    llm_calls: tuple[LlmCall, ...] = ()
    """The model calls of this episode, in order of start."""
    documents: tuple[Document, ...] = ()
    agents: tuple[AgentRun, ...] = ()
    """The agents that ran in this episode, in order of start."""
    trace_ids: tuple[str, ...] = ()
    span_count: int = 0


# --- what is written down ---------------------------------------------------------------


class Evidence(msgspec.Struct, frozen=True, kw_only=True):
    """Where a verdict looked: a message or a span, and the exact words."""

    message: int = -1
    """Index into ``conversation.messages``; -1 when the evidence is not a message."""
    tool_call_id: str = ""
    span_id: str = ""
    quote: str = ""


class ScoreRecord(msgspec.Struct, frozen=True, kw_only=True):
    """One verdict of one scorer on one target, as stored."""

    score_id: str
    conversation_id: str
    episode: int
    level: Level
    target: str
    """Empty for the conversation, the turn's index, or the tool call's id."""
    scorer: str
    scorer_version: str
    revision: int = 0
    value: float | None = None
    """0..1, 1 is good; ``None`` for skip and failure."""
    verdict: VerdictName
    reason: str = ""
    evidence: tuple[Evidence, ...] = ()
    cost_usd: float = 0.0
    latency_s: float = 0.0
    scored_ns: int = 0
    trace_id: str = ""


class DecisionRecord(msgspec.Struct, frozen=True, kw_only=True):
    """The ledger's row: why an episode was or was not scored by one scorer."""

    conversation_id: str
    episode: int
    scorer: str
    scorer_version: str
    decision: DecisionName
    reason: str = ""
    targets: int = 0
    """How many targets were scored."""
    decided_ns: int = 0


class Observation(msgspec.Struct, frozen=True, kw_only=True):
    """One detector input: how an episode did under one scorer, appended once, never changed."""

    producer: str
    sequence: int
    """Gapless per producer, from 1."""
    conversation_id: str
    episode: int
    scorer: str
    scorer_version: str
    shortfall: float
    """1 when any target failed, 0 when none did; in between only where a score is a rate."""
    weight: float = 1.0
    stratum: Literal["uniform", "targeted"] = "uniform"
    identity: Identity
    observed_ns: int
    started_ns: int
    """When the episode began, never later than ``observed_ns``: the time that detectors go by."""


class Sampling(msgspec.Struct, frozen=True, kw_only=True):
    """Whether an episode's content is kept, and how likely that was."""

    kept: bool
    probability: float
    """Inclusion probability of this episode, in (0, 1]."""
    rule: str
    """``hash``, or the always-keep rule that decided (``failing``, ``error``, ``new_version``)."""


class Decided(msgspec.Struct, frozen=True, kw_only=True):
    """One decided episode with everything that was concluded about it."""

    episode_id: str
    conversation: Conversation
    revision: int = 0
    complete: bool = True
    """False while the episode goes on and only finished turns were scored."""
    decided_ns: int
    sampling: Sampling
    scores: tuple[ScoreRecord, ...] = ()
    decisions: tuple[DecisionRecord, ...] = ()
    observations: tuple[Observation, ...] = ()
