"""`outrider rebaseline` lets a running instance learn anew what is usual."""

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from collector import serve_file
from collector.cli import main
from tests.collector.commands.receiver import Answer, Received, serving

ORDER = ("rebaseline", "--agent", "kettle", "--scorer", "looping")


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def obeying(received: list[Received]) -> Callable[[Received], Answer]:
    """Build an instance that has two such streams."""

    def answer(request: Received) -> Answer:
        received.append(request)
        return 200, b'{"streams":["kettle/production/looping@1","kettle/staging/looping@1"]}'

    return answer


def test_it_orders_and_says_whom(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The instance of the data directory is found, shown the token, and told whose."""
    monkeypatch.setenv("OUTRIDER__AUTH__TOKEN", "abc")
    received: list[Received] = []
    with serving(obeying(received)) as url:
        running = serve_file.Running(pid=os.getpid(), console=url.removeprefix("http://"))
        serve_file.write(tmp_path, running)
        assert main([*ORDER, "--data-dir", str(tmp_path)]) == 0
        assert main([*ORDER, "--data-dir", str(tmp_path), "--environment", "staging"]) == 0
    assert capsys.readouterr().out.splitlines()[:2] == [
        "kettle/production/looping@1",
        "kettle/staging/looping@1",
    ]
    assert {(r.method, r.path, r.token) for r in received} == {
        ("POST", "/v1/alarms/rebaseline", "Bearer abc")
    }
    assert [json.loads(r.body) for r in received] == [
        {"agent": "kettle", "scorer": "looping"},
        {"agent": "kettle", "scorer": "looping", "environment": "staging"},
    ]


def test_names_move_no_cursor(capsys: pytest.CaptureFixture[str]) -> None:
    """What an agent calls itself is shown without the characters that a terminal obeys."""
    with serving(lambda _: (200, b'{"streams":["a\\u001b[2Jb/production/looping@1"]}')) as url:
        assert main([*ORDER, "--url", url]) == 0
    assert capsys.readouterr().out == "a [2Jb/production/looping@1\n"


@pytest.mark.parametrize(
    ("status", "body", "said"),
    [
        (404, b'{"error":"no detector watches this"}', "HTTP 404: no detector watches this"),
        (403, b'{"error":"no right to write"}', "no right to write; pass --token"),
        (503, b"not JSON", "HTTP 503: not JSON"),
        (502, b"[1]", "HTTP 502: [1]"),
        (200, b"<html>", "this is no console of Outrider"),
        (200, b"{}", "this is no console of Outrider"),
        (200, b'{"streams":["\xff"]}', "this is no console of Outrider"),
    ],
)
def test_a_refusal_is_one_line(
    status: int, body: bytes, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """What the instance says is shown, and the exit code is 1."""
    with serving(lambda _: (status, body)) as url:
        assert main([*ORDER, "--url", url]) == 1
    error = capsys.readouterr().err
    assert said in error
    assert error.count("\n") == 1


def test_it_needs_a_running_instance(capsys: pytest.CaptureFixture[str]) -> None:
    """Where none runs, or none answers, nothing is done and that is said."""
    assert main(ORDER) == 1
    assert "nothing serves from outrider-data" in capsys.readouterr().err
    assert main([*ORDER, "--url", "http://127.0.0.1:9"]) == 1
    assert "http://127.0.0.1:9/v1/alarms/rebaseline: " in capsys.readouterr().err
