"""`outrider export` reads from a running process, or from the store itself."""

import json
import os
from pathlib import Path

import pytest

from collector import serve_file
from collector.cli import main
from collector.stores.clickhouse import ClickHouseStore
from collector.stores.rows import rows_of
from tests.collector.commands.receiver import Answer, Received, serving
from tests.collector.stores.episodes import decided

EXAMPLE = Path(__file__).parents[3] / "examples" / "support.jsonl"
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
    error = capsys.readouterr().err
    assert "HTTP 401: " in error
    assert "--token" in error
    assert "auth.token" in error
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


def test_opens_the_store_when_nothing_runs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A stopped instance's directory is read directly, and left free again."""
    store = ClickHouseStore.embedded(tmp_path / "store")
    store.migrate(ttl_days=0, verdict_days=0)
    store.insert(rows_of(decided()))
    store.close()
    for what in ("conversations", "scores", "conversations"):
        assert main(["export", what, "--data-dir", str(tmp_path)]) == 0
        rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
        assert {row["conversation_id"] for row in rows} == {"conv-1"}


def test_scores_have_the_keys_of_the_score_command_first(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A verdict reads the same whether it was exported or scored from a file."""
    store = ClickHouseStore.embedded(tmp_path / "store")
    store.migrate(ttl_days=0, verdict_days=0)
    store.insert(rows_of(decided()))
    store.close()
    assert main(["export", "scores", "--data-dir", str(tmp_path)]) == 0
    exported = json.loads(capsys.readouterr().out.splitlines()[0])
    assert main(["score", str(EXAMPLE), "--scorer", "looping"]) == 0
    scored = json.loads(capsys.readouterr().out.splitlines()[0])
    assert list(exported)[: len(scored)] == list(scored)


def test_a_store_that_is_held_is_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A directory that another process holds is named, with what to do."""
    store = ClickHouseStore.embedded(tmp_path / "store")
    try:
        assert main(["export", "scores", "--data-dir", str(tmp_path)]) == 2
    finally:
        store.close()
    error = capsys.readouterr().err
    assert "is in use by process" in error
    assert error.count("\n") == 1


def test_a_store_without_rows_exports_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """An instance that was stopped before anything was decided has nothing to say."""
    ClickHouseStore.embedded(tmp_path / "store").close()
    assert main(["export", "scores", "--data-dir", str(tmp_path)]) == 0
    assert capsys.readouterr().out == ""


def test_another_server_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    """A path that is not there names the URL and the key of the right address."""
    with serving(answer) as url:
        assert main(["export", "decisions", "--url", url, "--token", "abc"]) == 1
        error = capsys.readouterr().err
        assert f"{url}/v1/export/decisions: HTTP 404" in error
        assert "console.address" in error


def test_an_address_without_a_scheme_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    """The URL that was meant is in the error."""
    with pytest.raises(SystemExit) as stop:
        main(["export", "scores", "--url", "localhost:8090"])
    assert stop.value.code == 2
    assert "did you mean http://localhost:8090?" in capsys.readouterr().err
