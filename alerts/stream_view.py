"""Show the state of a detector's streams to whoever looks: metrics, console, notifications."""

from __future__ import annotations

from typing import Literal

import msgspec

Severity = Literal["ticket", "page"]
Phase = Literal["learning", "armed"]


class Change(msgspec.Struct, frozen=True, kw_only=True):
    """When a stream's failure rate changed, in the time of the conversations themselves."""

    low_ns: int
    """The change came after this, with 95 % posterior probability together with ``high_ns``."""
    at_ns: int
    """The most plausible moment (the posterior's median)."""
    high_ns: int
    observations: int
    """Conversations scored since ``at_ns``."""
    failures: float
    """How many of them failed; divided by ``observations`` it is the rate since the change."""


class StreamView(msgspec.Struct, frozen=True, kw_only=True):
    """One detector as of its last observation."""

    stream: str
    """``agent/environment/scorer@scorer_version``; not to be taken apart, the parts follow."""
    slice: str
    """``all``, ``version=…`` for one version of the agent, or ``floor`` for all held against the configured floor."""
    agent: str
    agent_version: str
    """Empty for the slice ``all``."""
    environment: str
    scorer: str
    scorer_version: str
    phase: Phase
    """``learning`` until the reference is complete; only ``armed`` streams can fire."""
    learned: int
    """Conversations that the reference holds."""
    learned_hours: int
    """Hours of traffic that it holds."""
    reference_rate: float
    """Failure rate of the reference."""
    null_rate: float
    """What the rate may be without being an alarm: upper 90 % bound of the reference plus tolerance; 0 while learning."""
    evidence: float
    """The e-detector's value; it fires at the threshold. 0 while learning."""
    threshold: float
    """Of a page; 0 while learning."""
    ticket_threshold: float
    observations: int
    """Since armed."""
    failures: float
    """How many of them failed."""
    traffic_ns: int
    """The latest start among the conversations seen."""
    firing: tuple[Severity, ...] = ()
    change: Change | None = None
    """Where it fires."""


class AlertDetail(msgspec.Struct, frozen=True, kw_only=True):
    """What an alert event says; the JSON in ``alert_events.detail``."""

    agent: str
    agent_version: str
    """Empty when all versions together are meant."""
    environment: str
    scorer: str
    scorer_version: str
    severity: Severity | Literal[""] = ""
    """Empty for ``armed``."""
    attribution: Literal["system", "judge", "undetermined"] = "system"
    """Whether the agent changed or its judge; a rule does not drift."""
    evidence: float
    threshold: float
    reference_rate: float
    null_rate: float
    observations: int
    """Conversations scored since armed."""
    traffic_ns: int
    """Start of the conversation that made the difference: the event in the traffic's own time."""
    conversation_id: str = ""
    """That conversation."""
    change: Change | None = None
    reason: str = ""
    """Why it cleared: ``recovered``, ``silent`` (no traffic any more), ``retired`` (its scorer, that version or the floor is no more) or ``rebaselined``."""
    through: dict[str, int] = {}
    """Of ``rebaselined``: the last observation of each producer that came before it."""


class AlertEvent(msgspec.Struct, frozen=True, kw_only=True):
    """Something that happened to a detector: a row of ``alert_events``."""

    event_id: str
    """32 hex digits, the same whenever the same observations are folded again."""
    at_ns: int
    """When the observation that caused it was made: the wall clock's time."""
    kind: Literal["armed", "fired", "cleared", "rebaselined"]
    """``rebaselined``: told to, a stream forgot its reference and learns a new one."""
    stream: str
    slice: str
    detail: AlertDetail
