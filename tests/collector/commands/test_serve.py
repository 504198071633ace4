"""Test how a served process starts, stops early and turns strangers away."""

from __future__ import annotations

from pathlib import Path

import httpx

from collector import serve_file
from tests.e2e.served import PATIENCE_S, Served, eventually, free_ports


def nowhere() -> str:
    """Name a store that does not answer, so that no engine is loaded."""
    return f"http://127.0.0.1:{free_ports(1)[0]}"


def test_a_start_that_is_stopped(tmp_path: Path) -> None:
    """A signal during the start ends the process as a stop does, and the directory is free again."""
    data_dir = tmp_path / "data"
    served = Served(data_dir, STORE__URL=nowhere())
    process = served.launch()
    eventually((data_dir / "journal.db").exists, "the directory is taken")
    process.terminate()
    assert process.wait(PATIENCE_S) == 0
    assert not (data_dir / serve_file.NAME).exists()
    with served:
        assert served.receives()


def test_strangers_are_turned_away_from_every_port(tmp_path: Path) -> None:
    """Without a token no port answers a page of another origin, or a name that is not served."""
    with Served(tmp_path / "data", STORE__URL=nowhere()) as served:
        for url in (
            f"{served.receive}/v1/traces",
            f"{served.metrics}/metrics",
            f"{served.console}/v1/export/scores",
        ):
            method = "POST" if "traces" in url else "GET"
            for headers in ({"host": "evil.example"}, {"origin": "https://evil.example"}):
                assert httpx.request(method, url, headers=headers).status_code == 403, url
        assert httpx.get(f"{served.metrics}/metrics").status_code == 200
