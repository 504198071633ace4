"""Test how commands find a running instance."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from collector.errors import ConfigError
from collector.serve_file import NAME, Running, read, remove, write


@pytest.fixture
def console() -> Iterator[str]:
    """Listen on a free port."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield f"127.0.0.1:{server.getsockname()[1]}"


def running(console: str, pid: int | None = None) -> Running:
    """Build an announcement."""
    return Running(pid=os.getpid() if pid is None else pid, console=console, otlp_http="h:4318")


def test_what_was_written_is_read(tmp_path: Path, console: str) -> None:
    """A running instance is found with its addresses."""
    write(tmp_path, running(console))
    assert read(tmp_path) == running(console)


@pytest.mark.parametrize("name", ["0.0.0.0", "", "localhost"])
def test_an_instance_on_all_interfaces_is_found(tmp_path: Path, console: str, name: str) -> None:
    """A wildcard address is asked on the loopback interface."""
    there = running(f"{name}:{console.rpartition(':')[2]}")
    write(tmp_path, there)
    assert read(tmp_path) == there


def test_a_dead_process_is_not_running(tmp_path: Path, console: str) -> None:
    """The file of a process that died counts as none, even if its port answers."""
    process = subprocess.Popen([sys.executable, "-c", ""])  # an empty program
    process.wait()
    write(tmp_path, running(console, process.pid))
    assert read(tmp_path) is None


def test_a_process_that_does_not_answer_is_not_running(tmp_path: Path, console: str) -> None:
    """A process id that was used again does not fool anyone."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        closed = server.getsockname()[1]
    write(tmp_path, running(f"127.0.0.1:{closed}"))
    assert read(tmp_path) is None


@pytest.mark.parametrize(
    "text", ["", "{", "[]", '{"pid":1}', '{"pid":-1,"console":"x:1"}', '{"pid":1,"console":"x"}']
)
def test_a_broken_file_counts_as_none(tmp_path: Path, text: str) -> None:
    """Half a file or nonsense is no running instance."""
    (tmp_path / NAME).write_text(text)
    assert read(tmp_path) is None


def test_no_file_no_instance(tmp_path: Path) -> None:
    """A directory that never served has none."""
    assert read(tmp_path) is None


def test_only_its_own_announcement_is_taken_back(tmp_path: Path, console: str) -> None:
    """An instance removes its file, never a successor's."""
    write(tmp_path, running(console))
    remove(tmp_path, pid=os.getpid() + 1)
    assert (tmp_path / NAME).exists()
    remove(tmp_path, pid=os.getpid())
    assert not (tmp_path / NAME).exists()
    remove(tmp_path, pid=os.getpid())


def test_an_unwritable_directory_is_a_config_error(tmp_path: Path) -> None:
    """The error names the directory and the fix."""
    with pytest.raises(ConfigError, match="not writable"):
        write(tmp_path / "missing", running("h:1"))
