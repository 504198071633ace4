"""Build alarm events for tests."""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from alerts.stream_view import AlertDetail, AlertEvent, Change, Severity
from collector.stamps import stamp

SECOND = 1_000_000_000
MINUTE = 60 * SECOND
NOW_NS = 2_000_000_000 * SECOND
"""In 2033, on 18 May at 03:33:20 UTC."""
CHANGE = Change(
    low_ns=NOW_NS - 20 * MINUTE,
    at_ns=NOW_NS - 10 * MINUTE,
    high_ns=NOW_NS - 5 * MINUTE,
    observations=118,
    failures=48.38,
)


def alarm(
    id: str = "a",
    *,
    kind: Literal["armed", "fired", "cleared", "rebaselined"] = "fired",
    severity: Severity = "page",
    age_s: float = 60.0,
    version: str = "2.4.0",
    change: Change | None = CHANGE,
    **detail: Any,
) -> AlertEvent:
    """Build an event about false_success of the agent atlas."""
    found: dict[str, Any] = {
        "agent": "atlas",
        "agent_version": version,
        "environment": "prod",
        "scorer": "false_success",
        "scorer_version": "1",
        "severity": severity,
        "evidence": 91_000.0,
        "threshold": 86_400.0,
        "reference_rate": 0.018,
        "null_rate": 0.03,
        "observations": 400,
        "traffic_ns": NOW_NS - int(age_s * SECOND),
        "change": change if kind == "fired" else None,
        "reason": "recovered" if kind == "cleared" else "",
        **detail,
    }
    return AlertEvent(
        event_id=(id * 32)[:32],
        at_ns=NOW_NS - int(age_s * SECOND),
        kind=kind,
        stream="atlas/prod/false_success@1",
        slice=f"version={version}" if version else "all",
        detail=AlertDetail(**found),
    )


def rows(*events: AlertEvent) -> dict[str, list[list[Any]]]:
    """Spell events as the detectors store them."""
    return {
        "alert_events": [
            [
                event.event_id,
                stamp(event.at_ns),
                event.kind,
                event.stream,
                event.slice,
                msgspec.json.encode(event.detail).decode(),
            ]
            for event in events
        ]
    }
