"""Say what an alarm means: which conversations fail, since when, and what changed about then."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any
from urllib.parse import quote, urlencode

import msgspec

from alerts.stream_view import AlertDetail, AlertEvent, Change

FAILING = 5
"""Failing conversations that are named."""
VERSIONS = 5
"""New versions that are named."""
REASON_CHARACTERS = 500
"""Of a scorer's reason."""
_NAME_CHARACTERS = 100
_HOUR_NS = 3_600_000_000_000
_DAY_NS = 24 * _HOUR_NS
_LOOK_BACK_NS = 30 * _DAY_NS
"""A version that was silent for this long before the change counts as new."""

# Of each episode only the scorer's newest revision counts: it replaces all earlier verdicts,
# those on targets that no longer exist included.
_FAILING_SQL = """
SELECT episode_id, any(conversation_id) AS conversation_id, any(agent_version) AS agent_version,
       argMin(reason, (value, target)) AS reason,
       toUnixTimestamp64Nano(min(episode_started)) AS started_ns
FROM (
  SELECT episode_id, conversation_id, agent_version, target, reason, value, verdict,
         episode_started, revision, max(revision) OVER (PARTITION BY episode_id) AS newest
  FROM scores
  WHERE episode_started >= fromUnixTimestamp64Nano({since:Int64}, 'UTC')
    AND scorer = {scorer:String} AND scorer_version = {scorer_version:String}
    AND agent = {agent:String} AND environment = {environment:String}
    AND variant = 'production'
    AND ({agent_version:String} = '' OR agent_version = {agent_version:String})
)
WHERE revision = newest AND verdict = 'fail'
GROUP BY episode_id
ORDER BY started_ns DESC, episode_id
LIMIT {limit:UInt32}
"""

_VERSIONS_SQL = """
SELECT agent_version, toUnixTimestamp64Nano(min(started)) AS first_ns
FROM conversations
WHERE started >= fromUnixTimestamp64Nano({since:Int64}, 'UTC')
  AND agent = {agent:String} AND environment = {environment:String}
  AND variant = 'production'
GROUP BY agent_version
HAVING first_ns BETWEEN {low:Int64} AND {high:Int64}
ORDER BY first_ns DESC, agent_version
LIMIT {limit:UInt32}
"""

Query = Callable[[str, Mapping[str, Any]], list[dict[str, Any]]]
"""Run SQL with bound parameters and return the rows; raises ``OutriderError``."""


class Failing(msgspec.Struct, frozen=True, kw_only=True):
    """An episode that shows what the alarm is about."""

    conversation_id: str
    episode_id: str
    agent_version: str
    reason: str
    """Of the worst of its failing verdicts; at most ``REASON_CHARACTERS``."""
    started_ns: int


class NewVersion(msgspec.Struct, frozen=True, kw_only=True):
    """A version of the agent that appeared about when the quality changed."""

    agent_version: str
    first_ns: int
    """Start of its first conversation."""


class Incident(msgspec.Struct, frozen=True, kw_only=True):
    """An alarm event with the facts that a person asks for first."""

    event: AlertEvent
    failing: tuple[Failing, ...] = ()
    """Since the change, the newest first; none of an alarm that ended."""
    versions: tuple[NewVersion, ...] = ()
    """First seen around the change, the newest first."""


def gather(event: AlertEvent, query: Query) -> Incident:
    """Look up the facts about an alarm.

    Raises:
        OutriderError: the store did not answer.
    """
    change = event.detail.change
    if event.kind != "fired" or change is None:
        return Incident(event=event)
    detail = event.detail
    who = {"agent": detail.agent, "environment": detail.environment}
    failing = query(
        _FAILING_SQL,
        {
            **who,
            "agent_version": detail.agent_version,
            "scorer": detail.scorer,
            "scorer_version": detail.scorer_version,
            "since": change.low_ns,
            "limit": FAILING,
        },
    )
    margin = max(_HOUR_NS, change.high_ns - change.low_ns)
    versions = query(
        _VERSIONS_SQL,
        {
            **who,
            "since": max(0, change.low_ns - margin - _LOOK_BACK_NS),
            "low": change.low_ns - margin,
            "high": change.high_ns + margin,
            "limit": VERSIONS,
        },
    )
    return Incident(
        event=event,
        failing=tuple(_failing(row) for row in failing),
        versions=tuple(msgspec.convert(row, NewVersion) for row in versions),
    )


def headline(event: AlertEvent) -> str:
    """Say in one line what happened, in plain text without markup of any chat."""
    detail = event.detail
    version = f" {named(detail.agent_version)}" if detail.agent_version else ""
    where = f" ({named(detail.environment)})" if detail.environment else ""
    subject = f"{named(detail.scorer)} of {named(detail.agent)}{version}{where}"
    if event.kind == "armed":
        return f"{subject}: the usual failure rate is learned, {share(detail.reference_rate)}"
    if event.kind == "rebaselined":
        return f"{subject}: told to learn anew what is usual"
    if event.kind == "cleared":
        why = _ENDS.get(detail.reason, "back to usual")
        return f"{subject}: {why}, the {detail.severity} is over"
    floor = f", acceptable up to {share(detail.null_rate)}" if event.slice == "floor" else ""
    return f"{subject}: {_rates(detail)}{floor}"


def told(incident: Incident, *, url: str = "") -> str:
    """Tell the whole alarm in two or three sentences of plain text.

    Args:
        incident: What happened.
        url: Where to read on; put at the end.
    """
    event, change = incident.event, incident.event.detail.change
    severity = event.detail.severity.capitalize() if event.kind == "fired" else ""
    parts = [f"{severity}: {headline(event)}." if severity else f"{headline(event)}."]
    if event.kind == "fired" and change is not None:
        parts.append(
            f"The change lies between {clock_of(change.low_ns)} and {clock_of(change.high_ns)} UTC "
            f"({_day_of(change)})."
        )
        if incident.versions:
            seen = (
                f"{named(v.agent_version) or 'without a name'} at {clock_of(v.first_ns)}"
                for v in incident.versions
            )
            parts.append(f"Versions first seen about then: {', '.join(seen)}.")
    return " ".join([*parts, url] if url else parts)


def rate_since(change: Change) -> float:
    """Return the failure rate since the change."""
    return change.failures / change.observations if change.observations else 0.0


def alarm_url(console: str, detail: AlertDetail) -> str:
    """Link to the page that shows the agent's quality.

    Args:
        console: Where the console is, without a slash at the end.
        detail: Whose alarm it is.
    """
    who = {"agent": detail.agent, "environment": detail.environment}
    return f"{console}/?{urlencode(who)}"


def conversation_url(console: str, episode_id: str) -> str:
    """Link to the page of one episode."""
    return f"{console}/conversations/{quote(episode_id, safe='')}"


_ENDS = {
    "silent": "no more traffic",
    "retired": "no longer watched",
    "rebaselined": "what is usual is learned anew",
}
_MARKUP = str.maketrans({"<": "\u2039", ">": "\u203a", "@": "@\u200b"})
_UNPRINTABLE = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]+")


def named(name: str) -> str:
    """Return a name that an agent gave as plain text.

    Chats turn ``<…>`` into links and ``@…`` into calls for whole teams; a name does neither.
    """
    return printable(name[:_NAME_CHARACTERS]).translate(_MARKUP)


def printable(text: str) -> str:
    """Return what an agent gave without what moves a cursor or turns the direction of writing."""
    return _UNPRINTABLE.sub(" ", text)


def share(rate: float) -> str:
    """Write a rate in percent, with the digits that matter: ``41 %``, ``1.8 %``, ``0.25 %``."""
    percent = 100 * rate
    digits = 0 if percent >= 10 or percent == 0 else 1 if percent >= 1 else 2
    return f"{percent:.{digits}f} %"


def clock_of(time_ns: int) -> str:
    """Write a time of the day in UTC: ``10:13``."""
    return datetime.fromtimestamp(time_ns // 1_000_000_000, UTC).strftime("%H:%M")


def _day_of(change: Change) -> str:
    days = [
        datetime.fromtimestamp(ns // 1_000_000_000, UTC).strftime("%Y-%m-%d")
        for ns in (change.low_ns, change.high_ns)
    ]
    return days[0] if days[0] == days[1] else f"{days[0]} to {days[1]}"


def _rates(detail: AlertDetail) -> str:
    usual = f"usual {share(detail.reference_rate)}"
    change = detail.change
    if change is None or not change.observations:
        return f"fails more often than the {usual}"
    many = f"{change.observations} conversation{'s' if change.observations != 1 else ''}"
    since = f"{clock_of(change.at_ns)} UTC"
    return f"{share(rate_since(change))} of {many} failed since {since}, {usual}"


def _failing(row: dict[str, Any]) -> Failing:
    return Failing(
        conversation_id=row["conversation_id"],
        episode_id=row["episode_id"],
        agent_version=row["agent_version"],
        reason=row["reason"][:REASON_CHARACTERS],
        started_ns=row["started_ns"],
    )
