"""Say in words what fires now."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from alerts.console.conversation_list import Search, count
from alerts.console.parameters import Period
from alerts.console.store import Query
from alerts.stream_view import Change, StreamView

MOST = 12
"""Alarms told of in full."""


class Alarm(msgspec.Struct, frozen=True, kw_only=True):
    """One scorer of one agent that fails more often than it used to."""

    view: StreamView
    """The slice with the most to say: a version's where one fires, else all together."""
    severity: str
    rate: float
    """Since the change."""
    change: Change | None
    also: list[str]
    """The other slices that fire for the same scorer."""
    search: Search
    """Finds the failing conversations since the change."""
    failing: int = 0
    """How many these are."""


def alarms_of(streams: Sequence[StreamView]) -> list[Alarm]:
    """Return what fires, pages first; one entry for each agent, environment and scorer."""
    groups: dict[tuple[str, str, str, str], list[StreamView]] = {}
    for view in streams:
        if view.firing:
            key = (view.agent, view.environment, view.scorer, view.scorer_version)
            groups.setdefault(key, []).append(view)
    alarms = [_alarm(group) for group in groups.values()]
    alarms.sort(key=lambda alarm: (alarm.severity != "page", -alarm.view.traffic_ns))
    return alarms


def counted(query: Query, alarms: Sequence[Alarm]) -> list[Alarm]:
    """Add how many conversations failed since each change."""
    return [msgspec.structs.replace(alarm, failing=count(query, alarm.search)) for alarm in alarms]


def _alarm(group: Sequence[StreamView]) -> Alarm:
    # A page says more than a ticket, a version more than all together, and then the evidence.
    first, *rest = sorted(
        group,
        key=lambda v: ("page" in v.firing, bool(v.agent_version), v.evidence),
        reverse=True,
    )
    change = first.change
    seen, failed = first.observations, first.failures
    if change is not None and change.observations:
        seen, failed = change.observations, change.failures
    since = 0 if change is None else max(0, change.at_ns)
    return Alarm(
        view=first,
        severity="page" if "page" in first.firing else "ticket",
        rate=failed / seen if seen else 0.0,
        change=change,
        also=[view.slice for view in rest],
        search=Search(
            scorer=first.scorer,
            agent=first.agent,
            version=first.agent_version,
            environment=first.environment,
            period=Period(since_ns=since),
        ),
    )
