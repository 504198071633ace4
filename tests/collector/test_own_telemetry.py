"""Test how our own telemetry is known when it comes back, and what is marked as if it were."""

from __future__ import annotations

from typing import Any

import pytest

from collector.own_telemetry import EXPORT_SCOPE, MARK, SCORE_ID, SCORES_SCOPE, is_own
from collector.telemetry import LogRecord
from tests.build import span


def record(attributes: dict[str, Any] | None = None, *, scope: str = "") -> LogRecord:
    """Build a log record."""
    return LogRecord(time_ns=1, attributes=attributes or {}, scope_name=scope, resource={})


@pytest.mark.parametrize(
    "item",
    [
        span("x", resource={"service.name": "outrider"}),
        span("x", scope_name=EXPORT_SCOPE),
        span("x", attributes={MARK: True}),
        span("x", attributes={MARK: "true"}),
        span("x", resource={"service.name": "desk", MARK: "1"}),
        record(scope=SCORES_SCOPE),
        record({SCORE_ID: "5f0c"}),
        record({MARK: True}),
    ],
)
def test_own_telemetry_is_known(item: Any) -> None:
    """By its service, its scope, its content or its mark, whichever is left."""
    assert is_own(item)


@pytest.mark.parametrize(
    "item",
    [
        span("x", resource={"service.name": "outrider-demo-shop"}),
        span("x", scope_name="outrider.proxy"),
        span("x", attributes={MARK: False}),
        span("x", attributes={MARK: "false"}),
        span("x", attributes={MARK: 1}),
        record({"outrider.score.level": "turn"}),
    ],
)
def test_what_is_not_ours_is_scored(item: Any) -> None:
    """Names that only begin like ours, captured calls, and people's labels are traffic."""
    assert not is_own(item)
