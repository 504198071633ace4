"""`outrider evaluate` compares verdicts with labels."""

import json
from pathlib import Path
from typing import Any

import pytest

from collector.cli import main

EXAMPLE = Path(__file__).parents[3] / "examples" / "support.jsonl"
LOOPS = {"bike-3"}


@pytest.fixture
def labelled(tmp_path: Path) -> Path:
    """Write the example with labels, one of which is wrong on purpose."""
    rows: list[dict[str, Any]] = [json.loads(line) for line in EXAMPLE.read_text().splitlines()]
    for row in rows:
        row["labels"] = {"looping": row["id"] in {*LOOPS, "bike-1"}}
    path = tmp_path / "labelled.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)))
    return path


def test_prints_a_table(labelled: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Only scorers that the labels speak of are measured."""
    assert main(["evaluate", str(labelled)]) == 0
    out = capsys.readouterr().out
    assert "recall" in out.splitlines()[0]
    assert "looping" in out
    assert "false_success" not in out


def test_prints_json_and_the_errors(labelled: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """`--json` is for programs, and `--errors` names what a scorer got wrong."""
    assert main(["evaluate", str(labelled), "--json"]) == 0
    quiet = json.loads(capsys.readouterr().out)
    assert "bike-1" not in json.dumps(quiet)
    assert main(["evaluate", str(labelled), "--json", "--errors"]) == 0
    assert "bike-1" in json.dumps(json.loads(capsys.readouterr().out))


def test_files_without_labels_are_an_error(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """An empty table would look like a perfect score."""
    row = json.loads(EXAMPLE.read_text().splitlines()[0])
    del row["labels"]
    path = tmp_path / "bare.jsonl"
    path.write_text(json.dumps(row))
    assert main(["evaluate", str(path)]) == 2
    assert "hold no label" in capsys.readouterr().err


def test_the_example_can_be_measured(capsys: pytest.CaptureFixture[str]) -> None:
    """The example's own labels agree with the verdicts."""
    assert main(["evaluate", str(EXAMPLE), "--json", "--errors"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert {m["scorer"] for m in found["measures"]} == {
        "false_success",
        "looping",
        "missed_escalation",
        "unnecessary_escalation",
    }
    assert found["errors"] == []
