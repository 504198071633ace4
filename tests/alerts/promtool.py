"""Let Prometheus's own simulation evaluate the rules over series that a test makes up."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from alerts.rule import rule_file
from alerts.rules import Settings, groups
from tests.debian import program

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
