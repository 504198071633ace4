"""Give the page's script what it draws: numbers, and labels that it sets as text."""

from __future__ import annotations

import msgspec

from alerts.console.quality import Quality, ScorerQuality, Section

FLOOR = 1e-3
"""Share of the threshold below which evidence is drawn as this: the axis is logarithmic."""


class Track(msgspec.Struct, frozen=True, kw_only=True):
    """A detector's evidence as a share of its page threshold."""

    label: str
    all_versions: bool
    at_ms: list[int]
    share: list[float]


class Chart(msgspec.Struct, frozen=True, kw_only=True):
    """One scorer of one agent. Times are Unix milliseconds, shares 0..1."""

    step_ms: int
    """Width of a point of the lines."""
    lines: list[dict[str, object]]
    versions: list[dict[str, object]]
    """Where each version begins, if inside the period, and its colour's number."""
    changes: list[dict[str, int]]
    """The intervals in which a firing detector sees its change."""
    tracks: list[Track]
    ticket: float
    """The ticket threshold as a share of the page's; 0 when no detector is armed."""


def chart_data(quality: Quality) -> dict[str, object]:
    """Return what the quality page's script draws, by section and scorer in their order."""
    return {
        "charts": [
            [_chart(section, scorer, quality.since_ns) for scorer in section.scorers]
            for section in quality.sections
        ],
    }


def _chart(section: Section, scorer: ScorerQuality, since_ns: int) -> Chart:
    colours = {v.agent_version: number for number, v in enumerate(section.versions)}
    began = {v.agent_version: v.first_ns for v in section.versions}
    seen = {line.agent_version for line in scorer.lines}
    armed = [view for view in scorer.streams if view.threshold > 0]
    return Chart(
        step_ms=section.step_s * 1_000,
        lines=[
            {
                "version": line.agent_version,
                "colour": colours[line.agent_version],
                "from": began[line.agent_version] // 1_000_000,
                "at": [at // 1_000_000 for at in line.at_ns],
                "n": line.episodes,
                "k": line.failing,
                "rate": line.rate,
                "low": line.low,
                "high": line.high,
            }
            for line in scorer.lines
        ],
        versions=[
            {
                "version": version.agent_version,
                "colour": colours[version.agent_version],
                "at": version.first_ns // 1_000_000,
            }
            for version in section.versions
            if version.agent_version in seen and version.first_ns >= since_ns
        ],
        changes=[
            {
                "low": view.change.low_ns // 1_000_000,
                "at": view.change.at_ns // 1_000_000,
                "high": view.change.high_ns // 1_000_000,
            }
            for view in scorer.streams
            if view.firing and view.change is not None
        ][:3],
        tracks=[
            Track(
                label=line.slice,
                all_versions=line.slice == "all",
                at_ms=[at // 1_000_000 for at in line.at_ns],
                share=[
                    max(FLOOR, evidence / threshold) if threshold > 0 else FLOOR
                    for evidence, threshold in zip(line.evidence, line.threshold, strict=True)
                ],
            )
            for line in scorer.evidence[-8:]
        ],
        ticket=max((v.ticket_threshold / v.threshold for v in armed), default=0.0),
    )
