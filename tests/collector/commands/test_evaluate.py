"""`outrider evaluate` compares verdicts with labels."""

import gzip
import json
import os
from pathlib import Path
from typing import Any

import pytest

from collector.cli import main
from collector.commands.labelled_texts import holds_texts

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


def test_files_of_single_texts_are_measured_beside_transcripts(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Messages and results have rows of their own in the table; a broken line is told once."""
    path = tmp_path / "messages.jsonl.gz"
    rows = [
        {"id": "a", "text": "Get me a human.", "wants_human": True},
        {"id": "b", "text": "Where is my parcel?", "wants_human": False},
    ]
    text = "\n".join(map(json.dumps, rows)) + "\nnot a row\n"
    path.write_bytes(gzip.compress(text.encode()))
    assert main(["evaluate", str(path), str(EXAMPLE), "--json"]) == 1
    told = capsys.readouterr()
    measures = {m["scorer"]: m for m in json.loads(told.out)["measures"] if m["kind"] == "all"}
    assert measures["person_request"]["f1"] == 1
    assert "looping" in measures
    assert told.err.count("line 3") == 1


def test_a_pipe_is_not_looked_into(tmp_path: Path) -> None:
    """What was read from it to see what it holds would be gone."""
    os.mkfifo(tmp_path / "pipe")
    assert not holds_texts(tmp_path / "pipe")


def test_redacted_text_is_what_scorers_see(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """With `--redacted` an address that only redaction hides cannot be told from a made-up one."""
    call = {"function": {"name": "send", "arguments": json.dumps({"to": "mia@example.com"})}}
    messages = [
        {"role": "user", "content": "Write to jonas@example.org."},
        {"role": "assistant", "content": "", "tool_calls": [{"id": "1", **call}]},
        {"role": "tool", "tool_call_id": "1", "content": "sent"},
        {"role": "assistant", "content": "It is sent."},
    ]
    path = tmp_path / "addresses.jsonl"
    path.write_text(
        json.dumps({"id": "a", "messages": messages, "labels": {"invented_argument": True}})
    )
    caught = []
    for options in ([], ["--redacted"]):
        assert main(["evaluate", str(path), "--json", *options]) == 0
        (measure, *_) = json.loads(capsys.readouterr().out)["measures"]
        caught.append(measure["recall"]["value"])
    assert caught == [1, 0]


@pytest.mark.parametrize("name", ["none.jsonl", "directory"])
def test_a_file_that_cannot_be_read_is_one_line(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A path that is nowhere, or no file, is told and nothing is measured."""
    (tmp_path / "directory").mkdir()
    assert main(["evaluate", str(tmp_path / name)]) == 2
    error = capsys.readouterr().err
    assert error.startswith(f"outrider: error: cannot read {tmp_path / name}: ")
    assert error.count("\n") == 1
