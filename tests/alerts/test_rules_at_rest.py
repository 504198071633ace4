"""What is usual while all is well is told to nobody."""

from __future__ import annotations

from pathlib import Path

import pytest

from alerts.rules import Settings
from tests.alerts.promtool import DAY, JOB, constant, rising, simulate, traffic

pytestmark = pytest.mark.slow


def counters(minutes: int) -> dict[str, str]:
    """Write counters of everything that happens on a good day, single faults included."""
    half = minutes // 2
    single = f"0x{half - 1} 1x{half - 1}"
    busy = {
        'store_rows_total{%s,table="scores"}': 16,
        'decisions_total{%s,scorer="looping",decision="scored",reason=""}': 2,
        'decisions_total{%s,scorer="tool_calls",decision="skipped",reason="no_tools"}': 2,
        'kafka_messages_total{%s,topic="otlp_spans",result="taken"}': 3,
        'proxy_responses_total{%s,upstream="anthropic",status="200"}': 4,
        'spans_dropped_total{%s,reason="own_telemetry"}': 6,
        'evaluation_events_total{%s,result="sent"}': 3,
        'proxy_export_total{%s,result="sent"}': 4,
        'notifications_total{%s,channel="webhook",result="delivered"}': 0.01,
    }
    rare = (
        'requests_rejected_total{%s,receiver="otlp_http",reason="malformed"}',
        'requests_rejected_total{%s,receiver="otlp_http",reason="unavailable"}',
        'requests_rejected_total{%s,receiver="proxy",reason="unreachable"}',
        'spans_rejected_total{%s,receiver="otlp_http",reason="invalid"}',
        'proxy_capture_dropped_total{%s,reason="too_large"}',
        'store_errors_total{%s,kind="unavailable"}',
        'score_failures_total{%s,scorer="looping",error="KeyError"}',
    )
    return {
        **{f"outrider_{name % JOB}": rising((minutes, step)) for name, step in busy.items()},
        **{f"outrider_{name % JOB}": single for name in rare},
    }


@pytest.mark.parametrize("always_busy", [False, True])
def test_a_good_day_tells_nothing(tmp_path: Path, always_busy: bool) -> None:
    """With traffic on every way in and out, a fault here and there, and nothing behind, no alert fires."""
    series = {
        **traffic((DAY, 1.0)),
        **counters(DAY),
        f"outrider_journal_writable{{{JOB}}}": constant(1, DAY),
        f"outrider_outbox_rows{{{JOB}}}": "0 2 5 " * (DAY // 3),
        f"outrider_kafka_connected{{{JOB}}}": constant(1, DAY),
        f'outrider_kafka_lag{{{JOB},topic="otlp_spans",partition="0"}}': "0 40 3 " * (DAY // 3),
        f"outrider_detector_behind_observations{{{JOB}}}": constant(20, DAY),
    }
    settings = Settings(always_busy=always_busy)
    simulate(tmp_path, series, {m: set() for m in range(60, DAY, 15)}, settings=settings)
