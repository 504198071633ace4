"""Read how often each scorer fails, over time and by agent version.

The unit is the episode, as it is for the alarms, and the time is that of the conversations.
Variants other than ``production`` are left out.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence

import msgspec

from alerts.console.current import EPISODE, current, equal, within
from alerts.console.extent import Extent, Who, resolved
from alerts.console.parameters import END_NS, Period
from alerts.console.store import Query, Row
from alerts.stream_view import StreamView
from alerts.wilson import wilson

SECTIONS = 4
"""Agents (and environments) shown in full; the others are named."""
VERSIONS = 8
"""Versions of an agent shown, the newest."""
POINTS = 180
"""Points of a line at most."""
_A_POINT = 80
"""Conversations that a point should rest on, where there are enough of them."""
_TRAIL_S = 600
"""Seconds of traffic between two points of a detector's evidence, as it is stored."""
_FEWEST = 16
"""Points of a line where there are not."""
_STEPS = (
    *(1, 5, 15, 30),
    *(minutes * 60 for minutes in (1, 2, 5, 10, 15, 20, 30)),
    *(hours * 3_600 for hours in (1, 2, 3, 4, 6, 8, 12)),
    *(days * 86_400 for days in (1, 2, 4, 7, 14, 28, 91, 182, 365)),
)
"""Widths of a point in seconds."""

_VERSIONS = f"""
SELECT agent, environment, agent_version,
  uniqExactIf(cityHash64(episode_id), {within("started")}) AS episodes,
  toUnixTimestamp64Nano(min(started)) AS first_ns, toUnixTimestamp64Nano(max(started)) AS last_ns
FROM conversations
WHERE variant = 'production' AND {equal(agent="agent", environment="environment")}
GROUP BY agent, environment, agent_version
HAVING episodes > 0
ORDER BY last_ns DESC, agent_version DESC LIMIT 1000"""

_RATES = f"""
SELECT agent, environment, agent_version, scorer,
  intDiv(toUnixTimestamp(episode_started), {{step:UInt32}}) * {{step:UInt32}} AS at,
  uniqExact({EPISODE}) AS episodes, uniqExactIf({EPISODE}, verdict = 'fail') AS failing
FROM scores
WHERE variant = 'production' AND verdict IN ('pass', 'fail') AND {within("episode_started")}
  AND agent IN {{agents:Array(String)}} AND environment IN {{environments:Array(String)}}
  AND {current("scores")}
GROUP BY agent, environment, agent_version, scorer, at
ORDER BY at LIMIT 100000"""

_EVIDENCE = f"""
SELECT stream, slice, intDiv(toUnixTimestamp(at), {{step:UInt32}}) * {{step:UInt32}} AS bucket,
  toUnixTimestamp64Nano(max(at)) AS last_ns, max(evidence) AS most, argMax(threshold, (at, observations)) AS page
FROM detector_points
WHERE stream IN {{streams:Array(String)}} AND {within("at")}
GROUP BY stream, slice, bucket
ORDER BY bucket LIMIT 100000"""


class Share(msgspec.Struct, frozen=True, kw_only=True):
    """How many episodes failed of those that were scored, with its 95 % Wilson interval."""

    agent_version: str
    episodes: int
    failing: int
    rate: float
    low: float
    high: float


class Line(msgspec.Struct, frozen=True, kw_only=True):
    """A version's shares over time; the lists run in parallel."""

    agent_version: str
    at_ns: list[int] = []
    """Where each point's stretch of time begins; it is ``step_s`` long."""
    episodes: list[int] = []
    failing: list[int] = []
    rate: list[float] = []
    low: list[float] = []
    high: list[float] = []


class Evidence(msgspec.Struct, frozen=True, kw_only=True):
    """A detector's evidence over time; the lists run in parallel."""

    slice: str
    at_ns: list[int] = []
    """Where each point's stretch of time ends: only then was its evidence there."""
    evidence: list[float] = []
    """The largest in its stretch of time; at most ten times the threshold."""
    threshold: list[float] = []


class ScorerQuality(msgspec.Struct, frozen=True, kw_only=True):
    """What one scorer says of one agent."""

    scorer: str
    versions: list[Share] = []
    """In the whole period, in the order of the section's versions."""
    lines: list[Line] = []
    streams: list[StreamView] = []
    """Its detectors as they are now."""
    evidence: list[Evidence] = []


class Version(msgspec.Struct, frozen=True, kw_only=True):
    """One version of an agent."""

    agent_version: str
    episodes: int
    """In the period."""
    first_ns: int
    """Start of its first conversation ever."""
    last_ns: int


class Section(msgspec.Struct, frozen=True, kw_only=True):
    """One agent in one environment."""

    agent: str
    environment: str
    episodes: int
    versions: list[Version]
    """Oldest first; the newest ``VERSIONS`` of them."""
    left_out: int
    """Older versions that are not shown."""
    step_s: int
    """Width of a point."""
    scorers: list[ScorerQuality]
    """Those with a firing detector first, then by name."""


class Quality(msgspec.Struct, frozen=True, kw_only=True):
    """The page of quality."""

    range: str = ""
    """Name of the time range, where it has one."""
    since_ns: int = 0
    until_ns: int | None = None
    """``None`` where the period has no end."""
    who: list[Who] = []
    """Every agent and environment there is."""
    others: list[Who] = []
    """Those with traffic in the period that are not among the sections."""
    sections: list[Section] = []


def read_quality(
    query: Query,
    *,
    agent: str,
    environment: str,
    period: Period,
    streams: Sequence[StreamView],
    now_ns: int,
) -> Quality:
    """Read the page; an empty agent or environment means all."""
    extent = Extent.read(query)
    chosen = extent.of(agent, environment)
    period = resolved(period, chosen, now_ns=now_ns)
    rows = query(_VERSIONS, {"agent": agent, "environment": environment, **period.parameters()})
    versions: dict[tuple[str, str], list[Version]] = defaultdict(list)
    for row in rows:
        versions[row["agent"], row["environment"]].append(
            Version(**{key: row[key] for key in Version.__struct_fields__})
        )
    shown = list(versions)[:SECTIONS]
    firing = [(view.agent, view.environment) for view in streams if view.firing]
    shown = list(dict.fromkeys([*(key for key in firing if key in versions), *shown]))[:SECTIONS]
    steps = {key: step_of(period, chosen, _sum(versions[key])) for key in shown}
    # One query reads all sections at the finest step; the others' points are made of several.
    step = min(steps.values(), default=_STEPS[-1])
    widths = {key: -(-steps[key] // step) for key in shown}
    rates: dict[tuple[str, str], list[Row]] = defaultdict(list)
    if shown:
        bound = {
            "agents": sorted({key[0] for key in shown}),
            "environments": sorted({key[1] for key in shown}),
            "step": step,
            **period.parameters(),
        }
        for row in query(_RATES, bound):
            rates[row["agent"], row["environment"]].append(row)
    views = [view for view in streams if (view.agent, view.environment) in shown]
    evidence = _evidence(query, views, step, period)
    return Quality(
        range=period.name,
        since_ns=period.since_ns,
        until_ns=None if period.until_ns == END_NS else period.until_ns,
        who=extent.who,
        others=[Who(agent=key[0], environment=key[1]) for key in versions if key not in shown],
        sections=[
            _section(
                key,
                versions[key],
                rates[key],
                views=views,
                evidence=evidence,
                step=step * widths[key],
            )
            for key in shown
        ],
    )


def step_of(period: Period, extent: Extent, episodes: int) -> int:
    """Choose how many seconds of traffic a point covers.

    A point should rest on some tens of conversations; there are at least ``_FEWEST`` of them
    where the clock can tell so many apart, and never more than ``POINTS``.
    """
    since = max(period.since_ns, extent.first_ns)
    until = min(period.until_ns, extent.last_ns + 1)
    points = min(POINTS, max(_FEWEST, episodes // _A_POINT))
    span_s = max(0, until - since) / 1e9
    return next((step for step in _STEPS if span_s / step <= points), _STEPS[-1])


def _sum(versions: Iterable[Version]) -> int:
    return sum(version.episodes for version in versions)


def _section(
    key: tuple[str, str],
    versions: list[Version],
    rows: list[Row],
    *,
    views: Sequence[StreamView],
    evidence: dict[str, list[Evidence]],
    step: int,
) -> Section:
    newest = sorted(versions, key=lambda version: version.first_ns)[-VERSIONS:]
    names = [version.agent_version for version in newest]
    by_scorer: dict[str, dict[str, list[Row]]] = defaultdict(lambda: defaultdict(list))
    for row in rows:
        by_scorer[row["scorer"]][row["agent_version"]].append(row)
    own = [view for view in views if (view.agent, view.environment) == key]
    scorers = []
    for scorer in {*by_scorer, *(view.scorer for view in own)}:
        found = by_scorer[scorer]
        streams = [view for view in own if view.scorer == scorer]
        scorers.append(
            ScorerQuality(
                scorer=scorer,
                versions=[_total(name, found[name]) for name in names if found[name]],
                lines=[_line(name, found[name], step) for name in names if found[name]],
                streams=streams,
                evidence=[
                    line
                    for stream in dict.fromkeys(view.stream for view in streams)
                    for line in evidence.get(stream, [])
                ],
            )
        )
    scorers.sort(key=lambda s: (not any(view.firing for view in s.streams), s.scorer))
    return Section(
        agent=key[0],
        environment=key[1],
        episodes=_sum(versions),
        versions=newest,
        left_out=len(versions) - len(newest),
        step_s=step,
        scorers=scorers,
    )


def share(agent_version: str, failing: int, episodes: int) -> Share:
    """Make a share; ``episodes`` is at least 1."""
    low, high = wilson(failing, episodes)
    return Share(
        agent_version=agent_version,
        episodes=episodes,
        failing=failing,
        rate=failing / episodes,
        low=low,
        high=high,
    )


def _total(version: str, rows: list[Row]) -> Share:
    return share(version, sum(r["failing"] for r in rows), sum(r["episodes"] for r in rows))


def _line(version: str, rows: list[Row], step: int) -> Line:
    sums: dict[int, list[int]] = {}
    for row in rows:
        point = sums.setdefault(row["at"] // step * step, [0, 0])
        point[0] += row["failing"]
        point[1] += row["episodes"]
    points = [share(version, failing, episodes) for failing, episodes in sums.values()]
    return Line(
        agent_version=version,
        at_ns=[at * 1_000_000_000 for at in sums],
        episodes=[point.episodes for point in points],
        failing=[point.failing for point in points],
        rate=[round(point.rate, 5) for point in points],
        low=[round(point.low, 5) for point in points],
        high=[round(point.high, 5) for point in points],
    )


def _evidence(
    query: Query, views: Sequence[StreamView], step: int, period: Period
) -> dict[str, list[Evidence]]:
    """Return the evidence of each stream, a line a slice."""
    streams = sorted({view.stream for view in views})
    if not streams:
        return {}
    latest = {(view.stream, view.slice): view.traffic_ns for view in views}
    lines: dict[str, dict[str, Evidence]] = defaultdict(dict)
    bound = {"streams": streams, "step": max(step, _TRAIL_S), **period.parameters()}
    for row in query(_EVIDENCE, bound):
        line = lines[row["stream"]].setdefault(row["slice"], Evidence(slice=row["slice"]))
        # A stretch that goes on, or in which the traffic ended, has an end before its own.
        end_ns = row["last_ns"] + _TRAIL_S * 1_000_000_000
        known_ns = latest.get((row["stream"], row["slice"]), end_ns)
        line.at_ns.append(max(row["last_ns"], min(end_ns, known_ns)))
        line.evidence.append(float(f"{row['most']:.4g}"))
        line.threshold.append(float(f"{row['page']:.4g}"))
    return {stream: list(slices.values()) for stream, slices in lines.items()}
