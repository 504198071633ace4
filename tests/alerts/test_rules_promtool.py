"""Prometheus and Alertmanager take the files that are shipped."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from alerts.rule import rule_file
from alerts.rules import Settings, groups
from tests.debian import program

pytestmark = pytest.mark.slow


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
