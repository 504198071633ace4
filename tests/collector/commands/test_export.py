"""`outrider export` reads from a running process, or from the store itself."""

import os
from pathlib import Path

import pytest

from collector import serve_file
from collector.cli import main
from tests.collector.commands.receiver import Answer, Received, serving

ROWS = b'{"a":1}\n{"a":2}\n'


def answer(request: Received) -> Answer:
    """Export rows to those who show the token."""
    if request.token != "Bearer abc":  # noqa: S105 - an invented one
        return 401, b'{"error":"show the token"}'
    return (200, ROWS) if request.path == "/v1/export/scores" else (404, b"")


def test_reads_from_an_address(capsys: pytest.CaptureFixture[str]) -> None:
    """`--url` streams what the process exports, unchanged."""
    with serving(answer) as url:
        assert main(["export", "scores", "--url", url + "/", "--token", "abc"]) == 0
    assert capsys.readouterr().out == ROWS.decode()


def test_finds_the_process_of_a_data_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The running process is found through the data directory, and given the configured token."""
    monkeypatch.setenv("OUTRIDER__AUTH__TOKEN", "abc")
    out = tmp_path / "scores.jsonl"
    with serving(answer) as url:
        running = serve_file.Running(pid=os.getpid(), console=url.removeprefix("http://"))
        serve_file.write(tmp_path, running)
        assert main(["export", "scores", "--data-dir", str(tmp_path), "-o", str(out)]) == 0
    assert out.read_bytes() == ROWS


def test_a_refusal_is_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What the process answers is shown, and no file is left behind."""
    out = tmp_path / "scores.jsonl"
    with serving(answer) as url:
        assert main(["export", "scores", "--url", url, "-o", str(out)]) == 1
    assert "HTTP 401: " in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


def test_an_address_that_does_not_answer_is_one_line(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """A process that is not there is named."""
    with serving(answer) as url:
        pass
    assert main(["export", "scores", "--url", url]) == 1
    error = capsys.readouterr().err
    assert error.startswith(f"outrider: error: {url}/v1/export/scores: ")
    assert error.count("\n") == 1


def test_a_directory_without_a_store_is_an_error(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A wrong directory is named, not filled with an empty store."""
    assert main(["export", "scores", "--data-dir", str(tmp_path / "typo")]) == 2
    assert "typo: holds no store" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())
