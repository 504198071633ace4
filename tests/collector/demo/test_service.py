"""Test the child process that the demonstration runs."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import httpx
import pytest

from collector.config import Config
from collector.demo.service import Service
from collector.errors import OutriderError


def service(tmp_path: Path, **variables: str) -> Service:
    """Make a service on an empty directory."""
    data_dir = tmp_path / "data"
    data_dir.mkdir()
    environ = {**os.environ, **variables}
    return Service(data_dir, log=tmp_path / "serve.log", environ=environ)


def test_runs_beside_others(tmp_path: Path) -> None:
    """Where a usual port is taken it uses another; what is set outside does not reach it."""
    with socket.socket() as other:
        other.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            other.bind(("127.0.0.1", 8090))
            other.listen()
        except OSError:
            pass  # somebody else has it, which is as good
        child = service(tmp_path, OUTRIDER__STORE__URL="http://127.0.0.1:1")
        assert "127.0.0.1:8090" in child.taken
        with child as running:
            assert running.alive
            assert not running.console.endswith(":8090")
            assert httpx.get(f"{running.console}/readyz", trust_env=False).is_success
            assert httpx.get(f"{running.metrics}/metrics", trust_env=False).is_success
    assert not child.alive
    with pytest.raises(httpx.ConnectError):
        httpx.get(f"{child.console}/readyz", trust_env=False)


def test_somebody_is_faster(tmp_path: Path) -> None:
    """A port that is taken between the choice and the start is given up for another."""
    child = service(tmp_path)
    address = Config().telemetry.metrics
    with socket.socket() as other:
        other.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if address not in child.taken:
            other.bind(("127.0.0.1", 9464))
            other.listen()
        with child as running:
            assert address in running.taken
            assert not running.metrics.endswith(":9464")
            assert httpx.get(f"{running.metrics}/metrics", trust_env=False).is_success


def test_says_why_it_did_not_start(tmp_path: Path) -> None:
    """The process's own words are in the error, and nothing is left running."""
    child = service(tmp_path)
    (tmp_path / "data" / "journal.db").mkdir()
    with pytest.raises(OutriderError, match="journal"), child:
        pass
    assert not child.alive
