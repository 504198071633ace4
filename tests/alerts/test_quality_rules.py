"""When alarms about quality fire in Prometheus's own simulation, and what they say."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.alerts.promtool import JOB, constant, simulate, traffic

pytestmark = pytest.mark.slow

GAUGE = (
    f"{JOB},"
    'agent="atlas",agent_version="2.4.0",environment="prod",scorer="false_success",'
    'slice="version=2.4.0",stream="atlas/prod/false_success@1"'
)


def test_a_page_comes_and_ends(tmp_path: Path) -> None:
    """A firing detector pages at once, once for two instances, with its numbers; it ends later."""
    two = GAUGE.replace("a:9464", "b:9464")
    rate = (
        'outrider_failure_rate{job="outrider",agent="atlas",environment="prod",'
        'scorer="false_success",variant="production",window="1h",agent_version='
    )
    series = {
        **traffic((60, 1.0)),
        f'outrider_detector_firing{{{GAUGE},severity="page"}}': "0x9 1x19 0x29",
        f'outrider_detector_firing{{{two},severity="page"}}': "0x9 1x19 0x29",
        f"outrider_detector_change_timestamp_seconds{{{GAUGE}}}": constant(300, 60),
        f"outrider_detector_reference_rate{{{GAUGE}}}": constant(0.018, 60),
        f"outrider_detector_evidence{{{GAUGE}}}": constant(91_000, 60),
        f'outrider_detector_threshold{{{GAUGE},severity="page"}}': constant(86_400, 60),
        f'{rate}"2.4.0"}}': constant(0.41, 60),
        f'{rate}"2.3.0"}}': constant(0.02, 60),
    }
    dropped = {"OutriderQualityDropped"}
    labels = {
        "severity": "page",
        "job": "outrider",
        "agent": "atlas",
        "agent_version": "2.4.0",
        "environment": "prod",
        "scorer": "false_success",
        "slice": "version=2.4.0",
        "stream": "atlas/prod/false_success@1",
    }
    says = {
        "summary": "false_success of atlas 2.4.0 (prod) fails more often than usual",
        "description": (
            "Since: 1970-01-01 00:05:00 +0000 UTC\n"
            "Usual failure rate: 1.8%\n"
            "Failing in the last hour, by version: 2.3.0 2%; 2.4.0 41%; \n"
            "Evidence: 91k of 86.4k"
        ),
        "dashboard": "http://127.0.0.1:8090/?agent=atlas&environment=prod",
        "runbook_url": "R#outriderqualitydropped",
    }
    simulate(
        tmp_path,
        series,
        {9: set(), 10: dropped, 29: dropped, 38: dropped, 41: set(), 55: set()},
        alerts=[
            {
                "eval_time": "15m",
                "alertname": "OutriderQualityDropped",
                "exp_alerts": [{"exp_labels": labels, "exp_annotations": says}],
            }
        ],
    )


def test_a_ticket_does_not_page(tmp_path: Path) -> None:
    """A detector over its ticket's threshold alone opens a ticket."""
    series = {
        **traffic((40, 1.0)),
        f'outrider_detector_firing{{{GAUGE},severity="page"}}': constant(0, 40),
        f'outrider_detector_firing{{{GAUGE},severity="ticket"}}': "0x9 1x29",
    }
    simulate(tmp_path, series, {5: set(), 12: {"OutriderQualityDoubtful"}})


def test_a_restart_does_not_end_a_page(tmp_path: Path) -> None:
    """While the process restarts its gauges are absent; the page goes on and nothing else fires."""
    gone = "_x3"
    series = {
        **traffic((40, 1.0)),
        f"up{{{JOB}}}": "1x19 0x2 1x17",
        f'outrider_detector_firing{{{GAUGE},severity="page"}}': f"1x19 stale {gone} 1x16",
    }
    page = {"OutriderQualityDropped"}
    simulate(tmp_path, series, dict.fromkeys((10, 20, 21, 22, 23, 24, 30, 39), page))
