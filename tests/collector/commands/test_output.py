"""Output goes where it should, whole or not at all."""

import io
from pathlib import Path

import pytest

from collector.commands.output import Progress, opened
from collector.errors import ConfigError


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        """Say yes."""
        return True


def test_a_failed_export_leaves_no_file(tmp_path: Path) -> None:
    """What breaks off half-way neither replaces the old file nor leaves a half one."""
    path = tmp_path / "out.jsonl"
    path.write_text("old")

    def break_off() -> None:
        with opened(path) as out:
            out.write(b"half")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        break_off()
    assert path.read_text() == "old"
    assert [p.name for p in tmp_path.iterdir()] == ["out.jsonl"]


def test_names_an_output_that_cannot_be_written(tmp_path: Path) -> None:
    """A directory that does not exist is the user's error."""
    with pytest.raises(ConfigError, match="cannot write"), opened(tmp_path / "no" / "out"):
        pass


def test_writes_to_devices() -> None:
    """A device is written to and not replaced."""
    with opened(Path("/dev/null")) as out:
        out.write(b"x")
    assert not Path("/dev/null").is_file()


def test_progress_is_for_terminals() -> None:
    """Nothing is written to a pipe unless asked for, and a terminal's line is rewritten."""
    pipe, terminal = io.StringIO(), Terminal()
    for stream, wanted in ((pipe, None), (terminal, None)):
        progress = Progress(wanted, stream=stream, seconds=lambda: 0.0)
        progress.update("1 done")
        progress.update("2 done")
        progress.finish("3")
    assert pipe.getvalue() == ""
    assert terminal.getvalue() == "\r1 done\r3     \n"


def test_progress_in_a_log_is_seldom() -> None:
    """A pipe that asked for it gets a line every few seconds."""
    pipe, now = io.StringIO(), iter([0.0, 1.0, 4.9, 5.0])
    progress = Progress(True, stream=pipe, seconds=lambda: next(now))
    for number in range(4):
        progress.update(f"{number} done")
    assert pipe.getvalue() == "0 done\n3 done\n"
