"""What the rules do in Prometheus's own simulation: when they fire, when they do not, what they say."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from alerts.rule import rule_file
from alerts.rules import Settings, groups
from tests.debian import program

pytestmark = pytest.mark.slow

JOB = 'job="outrider",instance="a:9464"'
FIRING = "count by (alertname) (ALERTS{alertstate='firing'})"
DAY = 1_440
"""Minutes; a sample a minute."""
PER_MINUTE = {
    f'outrider_spans_received_total{{{JOB},receiver="otlp_http"}}': 24,
    f'outrider_stitch_total{{{JOB},method="id",result="joined"}}': 8,
    f'outrider_episodes_total{{{JOB},agent="atlas"}}': 2,
    f'outrider_scores_total{{{JOB},scorer="looping",verdict="pass"}}': 2,
    f'outrider_scores_total{{{JOB},scorer="looping",verdict="fail"}}': 1,
}
GAUGE = (
    f"{JOB},"
    'agent="atlas",agent_version="2.4.0",environment="prod",scorer="false_success",'
    'slice="version=2.4.0",stream="atlas/prod/false_success@1"'
)
Expected = Mapping[int, set[str]]
"""Alerts that fire, by minute."""


def constant(value: float, minutes: int) -> str:
    """Write a gauge that stays."""
    return f"{value}x{minutes - 1}"


def rising(*phases: tuple[int, float], start: int = 0) -> str:
    """Write a counter that rises by so much a minute for so many minutes, phase after phase."""
    parts, value = [], float(start)
    for minutes, step in phases:
        parts.append(f"{value:g}+{step:g}x{minutes - 1}")
        value += step * minutes
    return " ".join(parts)


def traffic(*phases: tuple[int, float], **stopped: tuple[int, float]) -> dict[str, str]:
    """Write the series of a service whose traffic has phases; (minutes, times the usual).

    A keyword names a counter that goes its own way in a last phase that is put after these.
    """
    minutes = sum(length for length, _ in phases) + sum({m for m, _ in stopped.values()} or {0})
    series = {
        f"up{{{JOB}}}": constant(1, minutes),
        f"outrider_pipeline_lag_seconds{{{JOB}}}": constant(0, minutes),
        f"outrider_journal_bytes{{{JOB}}}": constant(1_000, minutes),
    }
    for name, per_minute in PER_MINUTE.items():
        counter = name.partition("{")[0].removeprefix("outrider_").removesuffix("_total")
        usual = next(iter(stopped.values()), None)
        last = [stopped.get(counter, (usual[0], 1.0))] if usual else []
        series[name] = rising(*((m, per_minute * times) for m, times in [*phases, *last]))
    return series


def simulate(
    tmp_path: Path,
    series: Mapping[str, str],
    expected: Expected,
    *,
    settings: Settings | None = None,
    alerts: Any = (),
) -> None:
    """Let promtool evaluate the rules over the series and compare what fires when."""
    rules = tmp_path / "outrider.rules.yml"
    rules.write_text(rule_file(groups(settings or Settings()), runbooks="R"))
    test = {
        "rule_files": [str(rules)],
        "evaluation_interval": "1m",
        "tests": [
            {
                "interval": "1m",
                "input_series": [{"series": s, "values": v} for s, v in series.items()],
                "alert_rule_test": list(alerts),
                "promql_expr_test": [
                    {
                        "expr": FIRING,
                        "eval_time": f"{minute}m",
                        "exp_samples": [
                            {"labels": f'{{alertname="{name}"}}', "value": 1}
                            for name in sorted(names)
                        ],
                    }
                    for minute, names in expected.items()
                ],
            }
        ],
    }
    path = tmp_path / "test.yml"
    path.write_text(yaml.safe_dump(test))
    done = subprocess.run(
        [program("promtool"), "test", "rules", str(path)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("settings", [Settings(), Settings(job='a "b"', always_busy=True)])
def test_prometheus_takes_the_rules(tmp_path: Path, settings: Settings) -> None:
    """`promtool check rules` has nothing against the file."""
    path = tmp_path / "outrider.rules.yml"
    path.write_text(rule_file(groups(settings), runbooks="R"))
    done = subprocess.run(
        [program("promtool"), "check", "rules", str(path)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


SHIPPED = Path(__file__).parent.parent.parent / "deploy" / "alertmanager" / "alertmanager.yml"


@pytest.mark.parametrize(
    ("labels", "receiver"),
    [
        (("alertname=OutriderQualityDropped", "severity=page"), "pages"),
        (("alertname=OutriderDown", "severity=page"), "pages"),
        (("alertname=OutriderQualityDoubtful", "severity=ticket"), "tickets"),
    ],
)
def test_the_shipped_alertmanager_routes_by_severity(
    labels: tuple[str, ...], receiver: str
) -> None:
    """`amtool` has nothing against the example, and pages reach the pager."""
    amtool, file = program("amtool"), f"--config.file={SHIPPED}"
    subprocess.run([amtool, "check-config", str(SHIPPED)], check=True, capture_output=True)
    done = subprocess.run(
        [amtool, "config", "routes", "test", file, f"--verify.receivers={receiver}", *labels],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


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


def test_a_target_that_is_down_pages(tmp_path: Path) -> None:
    """A scrape that fails for minutes pages; a short restart does not."""
    series = {**traffic((60, 1.0)), f"up{{{JOB}}}": "1x9 0x2 1x16 0x30"}
    simulate(tmp_path, series, {13: set(), 28: set(), 32: set(), 36: {"OutriderDown"}})


@pytest.mark.parametrize("series", [{}, {'up{job="other"}': "1x30"}])
def test_a_target_that_is_absent_pages(tmp_path: Path, series: dict[str, str]) -> None:
    """A target that Prometheus does not know, or knows under another name, pages too."""
    simulate(tmp_path, {'other{x="y"}': "1x30", **series}, {3: set(), 8: {"OutriderDown"}})


@pytest.mark.parametrize("episodes", [0.0, 1.0])
def test_calls_without_verdicts_page(tmp_path: Path, episodes: float) -> None:
    """When verdicts stop while calls come, decided or not, somebody is called within the hour."""
    series = traffic((DAY, 1.0), scores=(240, 0.0), episodes=(240, episodes))
    expected = {DAY - 1: set[str](), DAY + 20: set(), DAY + 64: {"OutriderBlind"}}
    simulate(tmp_path, series, {**expected, DAY + 239: {"OutriderBlind"}})


def test_little_traffic_without_verdicts_pages_later(tmp_path: Path) -> None:
    """With two or three conversations an hour it takes a working day to be sure, not longer."""
    little = dict.fromkeys(("spans_received", "stitch", "episodes"), (600, 0.02))
    series = traffic((DAY, 0.02), scores=(600, 0.0), **little)
    simulate(tmp_path, series, {DAY + 60: set(), DAY + 480: {"OutriderBlind"}})


def test_a_quiet_night_does_not_page(tmp_path: Path) -> None:
    """Nothing fires over a night without traffic, nor in the morning before the first verdict."""
    series = traffic((DAY, 1.0), (600, 0.0), scores=(25, 0.0), episodes=(25, 0.0))
    at = [*range(30, DAY, 90), *range(DAY, DAY + 625, 5)]
    simulate(tmp_path, series, {m: set() for m in at})


def test_traffic_without_agents_does_not_page(tmp_path: Path) -> None:
    """At night spans of other services may come; they are not missed by the scorers."""
    series = traffic((DAY, 1.0), stitch=(600, 0.0), episodes=(600, 0.0), scores=(600, 0.0))
    series[f'outrider_stitch_total{{{JOB},method="trace",result="joined"}}'] = rising(
        (DAY + 600, 50)
    )
    simulate(tmp_path, series, {m: set() for m in range(DAY, DAY + 600, 20)})


def test_silence_pages_where_it_is_never_quiet(tmp_path: Path) -> None:
    """With --always-busy half an hour without a verdict pages."""
    series = traffic((120, 1.0), (120, 0.0))
    settings = Settings(always_busy=True)
    expected = {100: set[str](), 140: set(), 165: {"OutriderSilent"}}
    simulate(tmp_path, series, expected, settings=settings)


def test_a_stuck_pipeline_pages(tmp_path: Path) -> None:
    """Requests that wait ever longer page before the journal is full."""
    series = {
        **traffic((60, 1.0)),
        f"outrider_pipeline_lag_seconds{{{JOB}}}": "0x9 0+60x49",
        f"outrider_journal_bytes{{{JOB}}}": f"{constant(1_000, 50)} {constant(4e9, 10)}",
    }
    stuck = "OutriderStuck"
    expected = {20: set[str](), 37: {stuck}, 58: {stuck, "OutriderJournalFilling"}}
    simulate(tmp_path, series, expected)


def test_another_instance_takes_over_in_silence(tmp_path: Path) -> None:
    """A new pod exports the old totals under another name; no rise is made of that."""
    series: dict[str, str] = {}
    for name, values in traffic((300, 1.0)).items():
        series[name] = values + " stale"
        start = 300 * PER_MINUTE.get(name, 0)
        step = PER_MINUTE.get(name, 0)
        value = f"{start}+{step}x299" if step else f"{values.partition('x')[0]}x299"
        series[name.replace("a:9464", "b:9464")] = f"_x299 {value}"
    simulate(tmp_path, series, {m: set() for m in range(280, 590, 10)})


@pytest.mark.parametrize(
    ("more", "alert"),
    [
        ({f'outrider_store_errors_total{{{JOB},kind="unavailable"}}': "0+3x59"}, "StoreFails"),
        ({f'outrider_detector_errors_total{{{JOB},error="X"}}': "0+1x59"}, "DetectorsFail"),
        ({f"outrider_detector_behind_observations{{{JOB}}}": "5000x59"}, "DetectorsBehind"),
        (
            {f'outrider_score_failures_total{{{JOB},scorer="looping",error="E"}}': "0+1x59"},
            "ScorerFails",
        ),
        (
            {f'outrider_score_failures_total{{{JOB},scorer="other",error="E"}}': "0+1x59"},
            "ScorerFails",
        ),
        (
            {
                f'outrider_notifications_total{{{JOB},channel="webhook",result="refused"}}': (
                    "0x39 1x19"
                )
            },
            "NotTold",
        ),
    ],
)
def test_trouble_of_our_own_opens_a_ticket(
    tmp_path: Path, more: dict[str, str], alert: str
) -> None:
    """What loses nothing yet is told in working hours."""
    simulate(tmp_path, {**traffic((60, 1.0)), **more}, {5: set(), 58: {f"Outrider{alert}"}})


def test_a_few_failures_of_a_scorer_are_no_ticket(tmp_path: Path) -> None:
    """One failure among thirty verdicts is counted and wakes nobody."""
    failing = f'outrider_score_failures_total{{{JOB},scorer="looping",error="E"}}'
    simulate(tmp_path, {**traffic((120, 1.0)), failing: "0+0.1x119"}, {110: set()})


def test_a_day_without_traffic_opens_a_ticket(tmp_path: Path) -> None:
    """Senders that went away are noticed, not at once, and not by a page."""
    series = traffic((DAY, 1.0), (DAY + 120, 0.0))
    simulate(tmp_path, series, {DAY + 600: set(), 2 * DAY + 90: {"OutriderNoTraffic"}})


def test_a_new_installation_is_left_in_peace(tmp_path: Path) -> None:
    """Neither a Prometheus that is minutes old nor one without any traffic yet tells anything."""
    simulate(tmp_path, traffic((300, 0.0)), {m: set() for m in range(0, 300, 20)})


def test_spans_without_agents_open_a_ticket(tmp_path: Path) -> None:
    """An instrumentation that records nothing of use any more is noticed within a day."""
    after = dict.fromkeys(("stitch", "episodes", "scores"), (DAY + 120, 0.0))
    series = traffic((DAY, 1.0), **after)
    simulate(tmp_path, series, {DAY + 600: set(), 2 * DAY + 90: {"OutriderSeesNoAgents"}})
