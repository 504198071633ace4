"""Tell Prometheus how the detectors stand."""

from __future__ import annotations

from collections.abc import Iterable

from alerts.detectors.settings import Settings
from alerts.labels import Labels
from alerts.stream_view import StreamView
from collector.totals import SeriesKey, series

SEVERITIES = ("ticket", "page")


def gauges(
    views: Iterable[StreamView], *, settings: Settings, labels: Labels
) -> dict[SeriesKey, float]:
    """Return the series of all streams.

    Label values are capped, so two streams can become one series: the worse is shown.
    """
    values: dict[SeriesKey, float] = {}

    def put(name: str, value: float, **pairs: str) -> None:
        key = series(name, **pairs)
        values[key] = max(value, values.get(key, value))

    for view in views:
        who = _who(view, labels)
        put("detector_reference_rate", view.reference_rate, **who)
        put("detector_learned_ratio", _learned(view, settings), **who)
        if view.phase == "learning":
            continue
        put("detector_null_rate", view.null_rate, **who)
        put("detector_evidence", view.evidence, **who)
        put("detector_observations", float(view.observations), **who)
        put("detector_threshold", view.threshold, **who, severity="page")
        put("detector_threshold", view.ticket_threshold, **who, severity="ticket")
        for severity in SEVERITIES:
            put(
                "detector_firing",
                float(severity in view.firing),
                **who,
                severity=severity,
                attribution="system",
            )
        if view.change is not None:
            put("detector_change_timestamp_seconds", view.change.at_ns / 1e9, **who)
    return values


def _who(view: StreamView, labels: Labels) -> dict[str, str]:
    agent = labels.admit("agent", view.agent)
    environment = labels.admit("environment", view.environment)
    scorer = labels.admit("scorer", view.scorer)
    scorer_version = labels.admit("scorer_version", view.scorer_version)
    whole = not view.slice.startswith("version=")
    version = "" if whole else labels.admit("agent_version", view.agent_version)
    return {
        "stream": f"{agent}/{environment}/{scorer}@{scorer_version}",
        "agent": agent,
        "agent_version": version,
        "environment": environment,
        "scorer": scorer,
        "slice": view.slice if whole else f"version={version}",
    }


def _learned(view: StreamView, settings: Settings) -> float:
    if view.phase == "armed":
        return 1.0
    hours = view.learned_hours / settings.reference_hours
    return min(1.0, hours, view.learned / settings.reference_min)
