"""Invent the observations of an agent whose failure rate is known."""

from __future__ import annotations

import random
from collections.abc import Iterator

from alerts.detectors.observed import Observed
from alerts.detectors.settings import Settings
from alerts.stream_view import AlertEvent

HOUR_NS = 3_600_000_000_000
START_NS = 500_000 * HOUR_NS
"""In 2027, at the start of an hour."""

SETTINGS = Settings(
    page_hours=24.0 * 90,
    ticket_hours=24.0 * 7,
    reference_hours=24,
    reference_min=1_000,
    tolerance=0.005,
    scorers=8,
    max_slices=50,
)


def observed(sequence: int, shortfall: float, **fields: object) -> Observed:
    """Build one observation; 200 an hour unless told otherwise."""
    started_ns = START_NS + sequence * HOUR_NS // 200
    values: dict[str, object] = {
        "producer": "here",
        "conversation_id": f"c-{sequence}",
        "scorer": "false_success",
        "scorer_version": "1",
        "agent": "kettle",
        "agent_version": "1",
        "environment": "production",
        "started_ns": started_ns,
        "observed_ns": started_ns + 60_000_000_000,
    }
    return Observed(sequence=sequence, shortfall=shortfall, **{**values, **fields})  # type: ignore[arg-type]  # checked by the struct


def traffic(
    seed: int,
    *,
    healthy: float,
    worse: float,
    change_hours: float,
    hours: float,
    per_hour: float = 200.0,
    lasting_hours: float = 0.1,
) -> Iterator[Observed]:
    """Yield conversations in the order in which they are decided.

    From ``change_hours`` on, conversations are held by version 2 and fail at the worse rate.
    They last up to ``lasting_hours``, so that the order of decisions is not that of starts.
    """
    rng = random.Random(seed)  # noqa: S311 - repeatable, not secret
    starts: list[tuple[float, float]] = []
    now = 0.0
    while (now := now + rng.expovariate(per_hour)) < hours:
        starts.append((now + rng.random() * lasting_hours, now))
    for sequence, (decided, started) in enumerate(sorted(starts), start=1):
        changed = started >= change_hours
        yield observed(
            sequence,
            float(rng.random() < (worse if changed else healthy)),
            agent_version="2" if changed else "1",
            started_ns=START_NS + int(started * HOUR_NS),
            observed_ns=START_NS + int(decided * HOUR_NS),
        )


def pages(events: list[AlertEvent]) -> list[AlertEvent]:
    """Pick the pages that began."""
    return [e for e in events if e.kind == "fired" and e.detail.severity == "page"]
