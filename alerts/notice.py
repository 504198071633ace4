"""Spell an incident as the JSON document that a webhook gets."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Literal

import msgspec

from alerts.incident import Incident, alarm_url, conversation_url, rate_since, told
from alerts.stream_view import Severity


class ChangeNotice(msgspec.Struct, frozen=True, kw_only=True):
    """When the failure rate changed: RFC 3339, in the time of the conversations."""

    low: str
    at: str
    high: str


class FailingNotice(msgspec.Struct, frozen=True, kw_only=True):
    """One conversation that failed since the change."""

    conversation_id: str
    episode_id: str
    reason: str
    url: str


class VersionNotice(msgspec.Struct, frozen=True, kw_only=True):
    """A version of the agent that appeared around the change."""

    agent_version: str
    first_seen: str


class Notice(msgspec.Struct, frozen=True, kw_only=True):
    """The body that is posted."""

    event_id: str
    """The same in every repetition; also the header ``Idempotency-Key``."""
    kind: Literal["armed", "fired", "cleared", "rebaselined"]
    severity: Severity | Literal[""]
    agent: str
    agent_version: str
    """Empty when all versions together are meant."""
    environment: str
    scorer: str
    scorer_version: str
    slice: str
    stream: str
    attribution: str
    at: str
    """When it was noticed."""
    evidence: float
    threshold: float
    reference_rate: float
    """The usual failure rate, 0 to 1."""
    rate_since: float | None
    """Failure rate since the change."""
    observations_since: int | None
    """Conversations scored since the change."""
    change: ChangeNotice | None
    failing_conversations: tuple[FailingNotice, ...]
    versions_since: tuple[VersionNotice, ...]
    url: str
    """The console's page about this agent."""
    text: str
    """The alarm in a few sentences of plain text, for receivers that show only this."""


def notice_of(incident: Incident, *, console: str) -> Notice:
    """Spell an incident.

    Args:
        incident: What happened.
        console: Base URL of the console, without a slash at the end.
    """
    event, detail = incident.event, incident.event.detail
    change = detail.change
    url = alarm_url(console, detail)
    return Notice(
        event_id=event.event_id,
        kind=event.kind,
        severity=detail.severity,
        agent=detail.agent,
        agent_version=detail.agent_version,
        environment=detail.environment,
        scorer=detail.scorer,
        scorer_version=detail.scorer_version,
        slice=event.slice,
        stream=event.stream,
        attribution=detail.attribution,
        at=rfc3339(event.at_ns),
        evidence=detail.evidence,
        threshold=detail.threshold,
        reference_rate=detail.reference_rate,
        rate_since=rate_since(change) if change else None,
        observations_since=change.observations if change else None,
        change=ChangeNotice(
            low=rfc3339(change.low_ns), at=rfc3339(change.at_ns), high=rfc3339(change.high_ns)
        )
        if change
        else None,
        failing_conversations=tuple(
            FailingNotice(
                conversation_id=found.conversation_id,
                episode_id=found.episode_id,
                reason=found.reason,
                url=conversation_url(console, found.episode_id),
            )
            for found in incident.failing
        ),
        versions_since=tuple(
            VersionNotice(agent_version=v.agent_version, first_seen=rfc3339(v.first_ns))
            for v in incident.versions
        ),
        url=url,
        text=told(incident, url=url),
    )


def rfc3339(time_ns: int) -> str:
    """Write a time in UTC with milliseconds: ``2026-03-01T10:13:00.250Z``."""
    seconds, nanos = divmod(time_ns, 1_000_000_000)
    second = datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%S")
    return f"{second}.{nanos // 1_000_000:03d}Z"
