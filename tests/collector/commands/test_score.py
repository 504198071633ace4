"""`outrider score` runs the scorers on transcripts."""

import gzip
import io
import json
from pathlib import Path
from typing import Any

import pytest

from collector.cli import main
from tests.collector.test_otlp_transcripts import recorded

EXAMPLE = Path(__file__).parents[3] / "examples" / "support.jsonl"
KEYS = [
    "conversation_id",
    "scorer",
    "scorer_version",
    "level",
    "target",
    "value",
    "verdict",
    "reason",
    "evidence",
]


def lines(text: str) -> list[dict[str, Any]]:
    """Parse JSON lines."""
    return [json.loads(line) for line in text.splitlines()]


def test_writes_a_line_per_verdict(capsys: pytest.CaptureFixture[str]) -> None:
    """Each (conversation, scorer, target) is one line with the documented keys."""
    assert main(["score", str(EXAMPLE)]) == 0
    captured = capsys.readouterr()
    rows = lines(captured.out)
    assert all(list(row)[: len(KEYS)] == KEYS for row in rows)
    keys = [(r["conversation_id"], r["scorer"], r["target"]) for r in rows]
    assert len(set(keys)) == len(keys)
    assert {r["conversation_id"] for r in rows} == {f"bike-{n}" for n in range(1, 6)}
    assert captured.err == ""


def test_finds_what_the_example_was_written_for(capsys: pytest.CaptureFixture[str]) -> None:
    """The example's false success, loop and missed escalation are found, and nothing else."""
    main(["score", str(EXAMPLE)])
    found = {
        (r["conversation_id"], r["scorer"])
        for r in lines(capsys.readouterr().out)
        if r["verdict"] == "fail"
    }
    assert {
        ("bike-2", "false_success"),
        ("bike-3", "looping"),
        ("bike-4", "missed_escalation"),
    } <= found
    assert not {pair for pair in found if pair[0] in {"bike-1", "bike-5"}}


def test_runs_only_the_scorers_asked_for(capsys: pytest.CaptureFixture[str]) -> None:
    """`--scorer` chooses, and an unknown one is named with its neighbour."""
    main(["score", str(EXAMPLE), "--scorer", "looping"])
    assert {r["scorer"] for r in lines(capsys.readouterr().out)} == {"looping"}
    assert main(["score", str(EXAMPLE), "--scorer", "loping"]) == 2
    assert "did you mean looping?" in capsys.readouterr().err


def test_goes_on_after_a_bad_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A line that cannot be read is reported with its number, and the rest is scored."""
    good = EXAMPLE.read_text().splitlines()[:2]
    path = tmp_path / "some.jsonl"
    path.write_text("\n".join([good[0], "{not json", good[1], '{"nothing": 1}']))
    assert main(["score", str(path)]) == 1
    captured = capsys.readouterr()
    assert {r["conversation_id"] for r in lines(captured.out)} == {"bike-1", "bike-2"}
    assert f"{path}: line 2: " in captured.err
    assert f"{path}: line 4: " in captured.err
    assert "2 lines could not be read" in captured.err


def test_no_two_conversations_share_an_id(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Rows without an id are named by file and line, repeated ids are numbered over all files."""
    row = json.loads(EXAMPLE.read_text().splitlines()[0])
    named, nameless = json.dumps(row), json.dumps(row | {"id": ""})
    (tmp_path / "a.jsonl").write_text(f"{named}\n{nameless}\n")
    (tmp_path / "b.jsonl").write_text(f"{named}\n{nameless}\n")
    files = [str(tmp_path / name) for name in ("a.jsonl", "b.jsonl")]
    assert main(["score", *files, "--scorer", "looping"]) == 0
    ids = [row["conversation_id"] for row in lines(capsys.readouterr().out)]
    assert ids == ["bike-1", "a-2", "bike-1#2", "b-2"]


def test_writes_a_file_only_when_complete(tmp_path: Path) -> None:
    """The output appears under its name in one step, and overwrites an older one."""
    out = tmp_path / "scores.jsonl"
    out.write_text("old")
    assert main(["score", str(EXAMPLE), "-o", str(out)]) == 0
    assert lines(out.read_text())
    assert [p.name for p in tmp_path.iterdir()] == ["scores.jsonl"]


def test_reads_standard_input_and_gzip(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """`-` is standard input, plain or gzipped."""
    data = io.BufferedReader(io.BytesIO(gzip.compress(EXAMPLE.read_bytes())))
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(data))
    assert main(["score", "-"]) == 0
    assert lines(capsys.readouterr().out)


def test_hides_what_must_not_leave(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Reasons and quotes are redacted like everything that is stored."""
    row = json.loads(EXAMPLE.read_text().splitlines()[2])
    text = json.dumps(row).replace("HL-20711", "ann@shop.example")
    path = tmp_path / "mail.jsonl"
    path.write_text(text)
    main(["score", str(path)])
    assert "ann@shop.example" not in capsys.readouterr().out


def test_a_broken_option_is_a_configuration_error(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A scorer's option that does not exist names the scorer and the option."""
    path = tmp_path / "c.yaml"
    path.write_text("scorers: {looping: {repets: 3}}")
    assert main(["score", str(EXAMPLE), "--config", str(path)]) == 2
    assert "looping" in capsys.readouterr().err


def test_shows_progress_when_asked(capsys: pytest.CaptureFixture[str]) -> None:
    """Progress goes to standard error, so that the data stays clean."""
    main(["score", str(EXAMPLE), "--progress"])
    assert "5 conversations scored" in capsys.readouterr().err


def test_reads_recorded_traffic(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Recorded OTLP requests give the verdicts that the transcript gives."""
    path = tmp_path / "traffic.jsonl"
    path.write_bytes(b"\n".join(recorded(strip_ids=False)))

    def verdicts(file: Path) -> set[tuple[str, str, str, str]]:
        assert main(["score", str(file)]) == 0
        rows = lines(capsys.readouterr().out)
        return {(r["conversation_id"], r["scorer"], r["target"], r["verdict"]) for r in rows}

    assert verdicts(path) == verdicts(EXAMPLE)


def test_files_without_a_conversation_are_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Spans of no agent, and nothing at all, are no mistake, but nobody shall wonder."""
    ids = {"traceId": "5b8efff798038103d269b633813fc60c", "spanId": "eee19b7ec3c1b174"}
    spans = {"resourceSpans": [{"scopeSpans": [{"spans": [{**ids, "name": "GET /"}]}]}]}
    files = [tmp_path / "web.jsonl", tmp_path / "empty.jsonl"]
    files[0].write_text(json.dumps(spans))
    files[1].write_text("")
    assert main(["score", *map(str, files)]) == 0
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err == (f"outrider: no conversation with an agent in {files[0]}, {files[1]}\n")
