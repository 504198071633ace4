"""`outrider migrate` brings a store's tables up to date."""

import os
from pathlib import Path

import pytest

from collector import serve_file
from collector.cli import main
from collector.serve_file import Running
from tests.collector.commands.receiver import serving


def test_shows_then_applies_then_has_nothing_to_do(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A dry run prints SQL and changes nothing; applying twice changes nothing more."""
    data = ["--data-dir", str(tmp_path / "data")]
    assert main(["migrate", "--dry-run", *data]) == 0
    sql = capsys.readouterr().out
    assert "CREATE TABLE" in sql
    assert sql.rstrip().endswith(";")
    assert main(["migrate", "--dry-run", *data]) == 0
    assert capsys.readouterr().out == sql
    assert main(["migrate", *data]) == 0
    assert "statements applied" in capsys.readouterr().out
    assert main(["migrate", *data]) == 0
    assert capsys.readouterr().out == "up to date\n"


def test_a_server_that_is_not_there_is_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A store that cannot be reached is a failure, not a configuration error."""
    monkeypatch.setenv("OUTRIDER__STORE__URL", "http://127.0.0.1:9")
    assert main(["migrate"]) == 1
    error = capsys.readouterr().err
    assert error.startswith("outrider: error: ")
    assert error.count("\n") == 1


def test_a_running_instance_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """While an instance holds the embedded engine, its process and the way out are named."""
    with serving(lambda _: (200, b"")) as url:
        running = Running(pid=os.getpid(), console=url.removeprefix("http://"))
        serve_file.write(tmp_path, running)
        assert main(["migrate", "--dry-run", "--data-dir", str(tmp_path)]) == 2
    error = capsys.readouterr().err
    assert f"process {os.getpid()} serves from it" in error
    assert "Stop that process" in error
