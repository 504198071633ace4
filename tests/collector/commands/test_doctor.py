"""Test `outrider doctor` as a person runs it."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from collector.cli import main
from collector.directory_lock import DirectoryLock
from tests.e2e.served import Served, eventually


def findings(capsys: pytest.CaptureFixture[str]) -> list[dict[str, str]]:
    """Read what ``--json`` printed."""
    return [msgspec.json.decode(line) for line in capsys.readouterr().out.splitlines()]


def test_before_the_first_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Nothing is there, nothing is wrong, and nothing is made."""
    monkeypatch.chdir(tmp_path)
    assert main(["doctor"]) == 0
    out, err = capsys.readouterr()
    assert "is not there yet" in out
    assert err == "all is well\n"
    assert not list(tmp_path.iterdir())


def test_beside_a_running_instance_and_after_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A process that serves is asked; when it is gone its store is opened."""
    monkeypatch.chdir(tmp_path)
    data = tmp_path / "data"
    data.mkdir(mode=0o700)
    with Served(data) as served:
        eventually(lambda: served.ready()[0] == 200, "the instance is ready")
        assert main(["doctor", "--json", "--data-dir", str(data)]) == 0
        found = findings(capsys)
        assert [one for one in found if one["status"] != "ok"] == []
        assert "is ready" in found[0]["says"]
        served.signal()
        served.ended()
        assert main(["doctor", "--json", "--data-dir", str(data)]) == 0
    found = findings(capsys)
    assert "no process" in found[0]["says"]
    assert any(one["check"] == "store" and "schema 00" in one["says"] for one in found)


def test_a_process_that_does_not_answer_yet(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Whoever holds the directory without serving is named, and its files are left alone."""
    lock = DirectoryLock(tmp_path / "lock")
    try:
        assert main(["doctor", "--json", "--data-dir", str(tmp_path)]) == 0
    finally:
        lock.release()
    (found,) = findings(capsys)
    assert found["status"] == "warn"
    assert "in use by process" in found["says"]


def test_a_file_where_a_directory_should_be(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """It is the directory that is wrong, not an instance that is about to start."""
    (tmp_path / "data").touch()
    assert main(["doctor", "--json", "--data-dir", str(tmp_path / "data")]) == 1
    (found,) = findings(capsys)
    assert (found["check"], found["status"]) == ("data dir", "fail")


def test_a_failure_is_an_exit_code(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A script can go by it, and a person reads what to do."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OUTRIDER__STORE__URL", "http://127.0.0.1:9")
    monkeypatch.setenv("OUTRIDER__ALERTS__WEBHOOK", "http://127.0.0.1:9/hook")
    monkeypatch.setenv("OUTRIDER__KAFKA__BOOTSTRAP", "127.0.0.1:9, 127.0.0.1:10")
    monkeypatch.setenv("OUTRIDER__PROXY__ADDRESS", "127.0.0.1:0")
    monkeypatch.setenv("OUTRIDER__PROXY__EXPORT__ENDPOINT", "http://127.0.0.1:9")
    for provider in ("ANTHROPIC", "OPENAI"):
        monkeypatch.setenv(f"OUTRIDER__PROXY__{provider}", "http://127.0.0.1:9")
    for key in ("CERT_FILE", "KEY_FILE"):
        monkeypatch.setenv(f"OUTRIDER__RECEIVE__TLS__{key}", str(tmp_path / "none.pem"))
    assert main(["doctor"]) == 1
    out, err = capsys.readouterr()
    assert "fail  receive.tls.cert_file" in out
    for key in ("alerts.webhook", "kafka.bootstrap", "proxy.export.endpoint", "proxy.anthropic"):
        assert f"fail  {key}" in out
    assert "-> start it, or correct alerts.webhook" in out
    assert err == "8 failed, 0 to look at\n"
