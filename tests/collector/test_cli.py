"""The command line: help, errors and exit codes."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from collector.cli import COMMANDS, main
from collector.version import __version__

EXAMPLE = Path(__file__).parent.parent.parent / "examples" / "support.jsonl"


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run in an empty directory, without overrides from the outside."""
    monkeypatch.chdir(tmp_path)
    for name in [n for n in os.environ if n.startswith("OUTRIDER__")]:
        monkeypatch.delenv(name)


def run(*argv: str) -> int:
    """Run the command line; what argparse exits with is the exit code."""
    try:
        return main(argv)
    except SystemExit as stop:
        return stop.code if isinstance(stop.code, int) else 1


def test_help_lists_every_command(capsys: pytest.CaptureFixture[str]) -> None:
    """`outrider --help` names each command and shows examples."""
    assert run("--help") == 0
    text = capsys.readouterr().out
    assert all(command.name in text for command in COMMANDS)
    assert "examples:" in text


@pytest.mark.parametrize("name", [c.name for c in COMMANDS])
def test_every_command_teaches_by_example(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Each command's help shows command lines to copy."""
    assert run(name, "--help") == 0
    text = capsys.readouterr().out
    assert text.partition("examples:")[2].count(f"outrider {name}") >= 2


def test_no_command_shows_the_help(capsys: pytest.CaptureFixture[str]) -> None:
    """`outrider` alone says what there is, as an error of the command line."""
    assert run() == 2
    captured = capsys.readouterr()
    assert all(command.name in captured.err for command in COMMANDS)
    assert not captured.out


@pytest.mark.parametrize("argv", [("--version",), ("version",)])
def test_prints_the_version(argv: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    """Both usual ways to ask for the version work."""
    assert run(*argv) == 0
    assert capsys.readouterr().out == f"outrider {__version__}\n"


@pytest.mark.parametrize("argv", [(), ("scare",), ("score",), ("export", "everything")])
def test_a_wrong_command_line_is_exit_code_2(argv: tuple[str, ...]) -> None:
    """A command, file or choice that is missing or unknown is a usage error."""
    assert run(*argv) == 2


@pytest.mark.parametrize("command", ["serve", "check", "migrate", "score"])
def test_a_wrong_configuration_is_one_line(
    command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Every command reports a configuration error alike: one line, exit code 2."""
    (tmp_path / "outrider.yaml").write_text("assemble: {idle_timout: 3s}")
    files = [str(EXAMPLE)] if command == "score" else []
    assert run(command, *files) == 2
    captured = capsys.readouterr()
    assert captured.err == (
        "outrider: error: outrider.yaml: assemble.idle_timout: there is no such key in assemble; "
        "did you mean idle_timeout?\n"
    )
    assert captured.out == ""


def test_a_file_that_is_not_there_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    """A transcript that cannot be opened is named."""
    assert run("score", "absent.jsonl") == 2
    assert "absent.jsonl" in capsys.readouterr().err


def test_an_interrupt_is_exit_code_130(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C ends a command quietly."""

    def interrupt(*_: object) -> str:
        raise KeyboardInterrupt

    monkeypatch.setattr("sys.stdin", type("Stdin", (), {"buffer": property(interrupt)})())
    assert run("score", "-") == 130


def test_a_reader_that_goes_away_is_no_error(tmp_path: Path) -> None:
    """`outrider … | head` prints no traceback when head has had enough."""
    many = tmp_path / "many.jsonl"
    many.write_bytes(EXAMPLE.read_bytes() * 200)
    reader, writer = os.pipe()
    os.close(reader)
    with os.fdopen(writer, "wb") as out:
        done = subprocess.run(
            [sys.executable, "-m", "collector.cli", "score", str(many)],
            stdout=out,
            stderr=subprocess.PIPE,
            cwd=EXAMPLE.parent.parent,
            check=False,
        )
    assert done.returncode == 141
    assert b"Traceback" not in done.stderr
    assert b"BrokenPipe" not in done.stderr


def test_help_is_quick() -> None:
    """Asking for help does not load the engine, the network or the scorers."""
    heavy = "{'chdb', 'clickhouse_connect', 'httpx', 'opentelemetry', 'uvicorn', 'numpy'}"
    code = f"import sys, collector.cli; print(sorted({heavy} & set(sys.modules)))"
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        cwd=EXAMPLE.parent.parent,
        check=True,
    )
    assert done.stdout == "[]\n"
