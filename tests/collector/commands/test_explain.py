"""`outrider explain` says how soon a drop would be found."""

import json
import re
from pathlib import Path

import pytest

from collector.cli import main

ASKED = ("explain", "--rate", "10%", "--scorers", "1")


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def explained(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    """Run the command and return what it prints."""
    assert main([*ASKED, *arguments]) == 0
    return capsys.readouterr().out


def answer(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, object]:
    """Run the command with `--json` and return what it says."""
    found: dict[str, object] = json.loads(explained(capsys, "--json", *arguments))
    return found


def test_it_prints_a_table_of_delays(capsys: pytest.CaptureFixture[str]) -> None:
    """Each rise has a line, the larger ones are found sooner, and the same day is named."""
    out = explained(capsys, "--traffic", "200", "--budget", "90d")
    assert re.search(r"^ +20 % +\d+ +1\.\d h +1\.\d h$", out, re.MULTILINE)
    assert re.search(r"^ +50 % +\d+ +\d\.\d min +\d\.\d min$", out, re.MULTILINE)
    assert "Within a day a rise to 13 % or more pages" in out
    assert "Only big drops" not in out


def test_it_says_plainly_when_only_big_drops_are_found(capsys: pytest.CaptureFixture[str]) -> None:
    """With little traffic the answer is a warning, with next to none it is no."""
    assert "Only big drops page within a day: a rise to " in explained(capsys, "--traffic", "10")
    assert "Nothing pages within a day" in explained(capsys, "--traffic", "2/d")


def test_a_scorer_that_always_fails_is_not_watched(capsys: pytest.CaptureFixture[str]) -> None:
    """Where nothing can get worse there is nothing to foresee."""
    out = explained(capsys, "--traffic", "200", "--rate", "1")
    assert "cannot get worse" in out
    assert "up to a third" not in out


def test_the_budget_is_the_configured_one(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without `--budget` and `--tolerance` the configuration decides."""
    monkeypatch.setenv("OUTRIDER__DETECT__FALSE_ALARM_BUDGET", "30d")
    configured = answer(capsys, "--traffic", "200")
    given = answer(capsys, "--traffic", "200", "--budget", "60d", "--tolerance", "2%")
    assert configured["page_threshold"] == 200 * 24 * 30 * 2
    assert given["page_threshold"] == 200 * 24 * 60 * 2
    assert given["null_rate"] == pytest.approx(float(str(configured["null_rate"])) + 0.015)


def test_traffic_takes_units(capsys: pytest.CaptureFixture[str]) -> None:
    """So many an hour and as many a day are the same."""
    assert answer(capsys, "--traffic", "200/h") == answer(capsys, "--traffic", "4800/d")


def test_a_simulation_is_repeatable(capsys: pytest.CaptureFixture[str]) -> None:
    """`--simulate` adds what was measured, the same for the same seed."""
    asked = ("--traffic", "200", "--simulate", "--to", "0.3", "--to", "0.5")
    first = explained(capsys, *asked)
    assert "simulated page" in first
    assert re.search(r"^ +50 %.* ± 0\.\d min +\d+ min +200$", first, re.MULTILINE)
    assert explained(capsys, *asked) == first
    assert explained(capsys, *asked, "--seed", "2") != first


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("--rate", "1.5"),
        ("--rate", "ten"),
        ("--traffic", "0"),
        ("--traffic", "5/y"),
        ("--budget", "1m"),
    ],
)
def test_what_makes_no_sense_is_a_usage_error(
    option: str, value: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """A share above one, no traffic, an unknown unit or a budget of minutes is refused."""
    with pytest.raises(SystemExit) as ended:
        main([*ASKED, "--traffic", "200", option, value])
    assert ended.value.code == 2
    assert option in capsys.readouterr().err
