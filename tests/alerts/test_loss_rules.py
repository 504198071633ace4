"""When it is told that something was given up."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.alerts.promtool import JOB, simulate, traffic

pytestmark = pytest.mark.slow


def counter(name: str, **labels: str) -> str:
    """Write the name of a series."""
    pairs = ",".join(f'{label}="{value}"' for label, value in labels.items())
    return f"outrider_{name}_total{{{JOB},{pairs}}}"


ONE = "0x39 1x79"
"""A single one."""
MANY = "0x39 0+2x79"
FEW = "0x39 3x79"


@pytest.mark.parametrize(
    ("series", "alert"),
    [
        ({counter("spans_dropped", reason="unstorable"): ONE}, "DropsSpans"),
        ({counter("spans_dropped", reason="own_telemetry"): MANY}, ""),
        ({counter("log_records_dropped", reason="unusable"): ONE}, "DropsSpans"),
        ({counter("log_records_dropped", reason="own_telemetry"): MANY}, ""),
        (
            {counter("requests_rejected", receiver="otlp_http", reason="unauthenticated"): MANY},
            "Refuses",
        ),
        ({counter("requests_rejected", receiver="otlp_http", reason="malformed"): FEW}, ""),
        ({counter("spans_rejected", receiver="kafka", reason="invalid"): MANY}, "Refuses"),
        ({counter("log_records_rejected", receiver="kafka", reason="invalid"): MANY}, "Refuses"),
        (
            {counter("kafka_dead_letters", topic="t", reason="r", result="sent"): MANY},
            "KafkaUnreadable",
        ),
        ({counter("kafka_dead_letters", topic="t", reason="r", result="sent"): FEW}, ""),
        ({counter("requests_failed", error="KeyError"): ONE}, "CannotProcess"),
        ({counter("episodes_failed", error="KeyError"): ONE}, "CannotProcess"),
        ({counter("normalise_errors", error="KeyError"): MANY}, "CannotProcess"),
        ({counter("normalise_errors", error="KeyError"): FEW}, ""),
        ({counter("notifications", channel="webhook", result="refused"): ONE}, "NotTold"),
        ({counter("notifications", channel="webhook", result="failed"): MANY}, ""),
        ({counter("evaluation_events", result="failed"): MANY}, "NotExported"),
        ({counter("evaluation_events", result="sent"): MANY}, ""),
        ({counter("proxy_export", result="dropped"): MANY}, "NotExported"),
    ],
)
def test_what_is_given_up_opens_a_ticket(
    tmp_path: Path, series: dict[str, str], alert: str
) -> None:
    """Each loss is told by its own name, a single one where it is ours and many where it is a sender's."""
    expected = {f"Outrider{alert}"} if alert else set()
    simulate(tmp_path, {**traffic((120, 1.0)), **series}, {38: set(), 70: expected})


@pytest.mark.parametrize(("passed", "fires"), [(None, True), (10, True), (1_000, False)])
def test_calls_that_the_proxy_does_not_capture_open_a_ticket(
    tmp_path: Path, passed: int | None, fires: bool
) -> None:
    """A few that are more than one in a hundred are told, as many among very many are not."""
    series = {
        **traffic((120, 1.0)),
        counter("proxy_capture_dropped", reason="too_large"): "0x39 0+1x79",
        counter("proxy_capture_dropped", reason="error"): "0x119",
        counter("proxy_capture_dropped", reason="own"): "0+2000x119",
    }
    if passed is not None:
        answers = counter("proxy_responses", upstream="anthropic", status="200")
        series[answers] = f"0+{passed}x119"
    expected = {"OutriderProxyMisses"} if fires else set()
    simulate(tmp_path, series, {38: set(), 110: expected})
