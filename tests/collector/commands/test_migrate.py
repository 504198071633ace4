"""`outrider migrate` brings a store's tables up to date."""

from pathlib import Path

import pytest

from collector.cli import main


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
