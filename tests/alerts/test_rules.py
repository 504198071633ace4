"""The alerting rules agree with the metrics, the runbooks and the file that is shipped."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from alerts.metric import PREFIX
from alerts.metrics import CATALOGUE, family_of
from alerts.rule import duration, quoted, rule_file, rule_resource
from alerts.rules import Settings, groups
from collector.cli import main

ROOT = Path(__file__).parent.parent.parent
SHIPPED = ROOT / "deploy" / "prometheus" / "outrider.rules.yml"
EVERY = Settings(always_busy=True)
RULES = [rule for group in groups(EVERY) for rule in group.rules]
OF_THE_TARGET = {"job", "instance", "pod"}
"""Labels that Prometheus adds to what it scrapes."""


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run where no configuration lies about."""
    monkeypatch.chdir(tmp_path)


def printed(capsys: pytest.CaptureFixture[str], *arguments: str) -> Any:
    """Return what the command prints, parsed."""
    assert main(["rules", *arguments]) == 0
    return yaml.safe_load(capsys.readouterr().out)


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.alert)
def test_every_metric_exists(rule: Any) -> None:
    """Each rule asks for metrics and labels of the catalogue and for no others."""
    text = f"{rule.expr} {rule.summary} {rule.description}"
    found = re.findall(rf"{PREFIX}(\w+)(?:\{{([^}}]*)\}})?", text)
    for name, selector in found:
        metric = family_of(name)
        assert metric is not None, name
        wanted = set(re.findall(r"(\w+)(?:=|!=|=~)", selector))
        assert wanted <= {*metric.labels, *OF_THE_TARGET}, name
    known = {label for name, _ in found for label in CATALOGUE[name].labels} | OF_THE_TARGET
    kept = set(re.findall(r"\$labels\.(\w+)", text))
    for listed in re.findall(r"(?:by|without) \(([^)]*)\)", rule.expr):
        kept |= set(listed.split(", "))
    assert kept <= known


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.alert)
def test_every_rule_has_a_runbook(rule: Any) -> None:
    """For each alert it is written down what to do at night."""
    assert f"\n### {rule.alert}\n" in (ROOT / "docs" / "alerts.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.alert)
def test_every_rule_is_seen_firing(rule: Any) -> None:
    """Some simulation expects each alert by its name."""
    simulations = "".join(
        path.read_text(encoding="utf-8") for path in Path(__file__).parent.glob("test_*_rules.py")
    )
    assert re.search(rf'"(Outrider)?{rule.alert.removeprefix("Outrider")}"', simulations)


def test_the_shipped_file_is_current(capsys: pytest.CaptureFixture[str]) -> None:
    """The file in deploy/ is what the command prints; `make docs` writes it again."""
    assert main(["rules"]) == 0
    assert SHIPPED.read_text(encoding="utf-8") == capsys.readouterr().out


def test_rules_follow_the_configuration(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """Limits and links are those of the configuration; the command line has the last word."""
    config = tmp_path / "outrider.yaml"
    config.write_text(
        "console: {address: '127.0.0.1:9999'}\njournal: {max_size: 1000B}\n"
        "assemble: {idle_timeout: 1h}\n"
    )
    text = str(printed(capsys))
    assert "http://127.0.0.1:9999/?agent=" in text
    assert 'journal_bytes{job="outrider"} > 800' in text.replace("\\", "")
    assert "offset 1h" in text
    config.write_text("alerts: {console_url: 'https://a.example/x/'}\n")
    assert "https://a.example/x/?agent=" in str(printed(capsys))
    rules = printed(capsys, "--console-url", "https://b.example", "--job", 'a"b')
    assert "https://b.example/?agent=" in str(rules)
    assert 'job="a\\"b"' in rules["groups"][0]["rules"][0]["expr"]


def test_silence_pages_only_where_asked(capsys: pytest.CaptureFixture[str]) -> None:
    """A site that is never quiet can say so."""
    assert "OutriderSilent" not in str(printed(capsys))
    assert "OutriderSilent" in str(printed(capsys, "--always-busy"))


def test_the_operator_gets_a_resource(capsys: pytest.CaptureFixture[str]) -> None:
    """The same rules come as a PrometheusRule."""
    plain = printed(capsys)
    resource = printed(capsys, "--format", "operator", "--name", "agents")
    assert resource["kind"] == "PrometheusRule"
    assert resource["metadata"]["name"] == "agents"
    assert resource["spec"] == plain
    assert yaml.safe_load(rule_resource(groups(EVERY), runbooks="x", name="n"))


def test_every_page_says_how_to_go_on() -> None:
    """Each alert links to its runbook, and those about an agent to its page."""
    rules = [
        r
        for g in yaml.safe_load(rule_file(groups(EVERY), runbooks="R"))["groups"]
        for r in g["rules"]
    ]
    assert len({rule["alert"] for rule in rules}) == len(rules)
    for rule in rules:
        assert rule["annotations"]["runbook_url"] == f"R#{rule['alert'].lower()}"
        assert rule["labels"]["severity"] in ("page", "ticket")
    assert "$labels.agent" in rules[0]["annotations"]["dashboard"]


@pytest.mark.parametrize(
    "arguments", [("--blind-after", "5s"), ("--blind-after", "x"), ("--name", "A b")]
)
def test_a_wrong_argument_is_told(arguments: tuple[str, str]) -> None:
    """What cannot be meant is refused with exit code 2."""
    with pytest.raises(SystemExit) as stop:
        main(["rules", *arguments])
    assert stop.value.code == 2


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0.2, "1s"), (90, "90s"), (900, "15m"), (2_700, "45m"), (21_600, "6h"), (86_400, "1d")],
)
def test_durations_are_spelled_as_promql_wants(seconds: float, text: str) -> None:
    """A duration is a whole number of its largest unit."""
    assert duration(seconds) == text


def test_label_values_are_quoted() -> None:
    """A job of any name stays one string."""
    assert quoted('a"b\\c\nd') == '"a\\"b\\\\c\\nd"'
