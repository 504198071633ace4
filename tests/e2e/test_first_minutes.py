"""What the README promises for the first five minutes, with the real commands."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from collector import serve_file
from collector.banner import base_url
from collector.serve_file import Running

ROOT = Path(__file__).parent.parent.parent
EXAMPLE = ROOT / "examples" / "support.jsonl"
PATIENCE_S = 60.0


def outrider(*arguments: str, **environ: str) -> str:
    """Run a command to its end and return what it printed."""
    done = subprocess.run(
        [sys.executable, "-m", "collector.cli", *arguments],
        capture_output=True,
        text=True,
        cwd=ROOT,
        env={**os.environ, **environ},
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def rows(text: str) -> list[dict[str, Any]]:
    """Parse JSON lines."""
    return [json.loads(line) for line in text.splitlines()]


@contextmanager
def serving(data_dir: Path) -> Iterator[tuple["subprocess.Popen[str]", Running]]:
    """Run `outrider serve` on ports the system chooses, until it answers."""
    ports = ("RECEIVE__HTTP", "RECEIVE__GRPC", "CONSOLE__ADDRESS", "TELEMETRY__METRICS")
    process = subprocess.Popen(
        [sys.executable, "-m", "collector.cli", "serve", "--data-dir", str(data_dir)],
        stdout=subprocess.PIPE,
        text=True,
        cwd=ROOT,
        env={**os.environ, **{f"OUTRIDER__{key}": "127.0.0.1:0" for key in ports}},
    )
    try:
        deadline = time.monotonic() + PATIENCE_S
        while (running := serve_file.read(data_dir)) is None:
            assert process.poll() is None, "serve ended by itself"
            assert time.monotonic() < deadline, "serve does not answer"
            time.sleep(0.05)
        yield process, running
    finally:
        if process.poll() is None:
            process.kill()
        process.wait()
        if process.stdout is not None:
            process.stdout.close()


def exported(data_dir: Path, what: str, count: int) -> list[dict[str, Any]]:
    """Export until there are as many conversations as there should be."""
    deadline = time.monotonic() + PATIENCE_S
    while True:
        found = rows(outrider("export", what, "--data-dir", str(data_dir)))
        if len({row["conversation_id"] for row in found}) >= count:
            return found
        assert time.monotonic() < deadline, f"only {len(found)} rows of {what}"
        time.sleep(0.2)


def verdicts(lines: list[dict[str, Any]]) -> dict[tuple[str, str, str], tuple[str, Any, str]]:
    """Key verdicts by what they judge; a key that comes twice is an error."""
    found: dict[tuple[str, str, str], tuple[str, Any, str]] = {}
    for row in lines:
        key = (row["conversation_id"], row["scorer"], row["target"])
        assert key not in found
        found[key] = (row["verdict"], row["value"], row["reason"])
    return found


@pytest.mark.timeout(180)
def test_live_traffic_gives_the_verdicts_of_the_transcript(tmp_path: Path) -> None:
    """Serve, replay, export: the same verdicts as `score`, live and after a clean stop."""
    want = verdicts(rows(outrider("score", str(EXAMPLE))))
    with serving(tmp_path / "data") as (process, running):
        outrider("replay", str(EXAMPLE), "--url", base_url(running.otlp_http))
        assert verdicts(exported(tmp_path / "data", "scores", 5)) == want
        assert len(exported(tmp_path / "data", "conversations", 5)) == 5
        metrics = httpx.get(f"{base_url(running.metrics)}/metrics", trust_env=False).text
        assert "outrider_episodes_total{" in metrics
        process.send_signal(signal.SIGINT)
        out, _ = process.communicate(timeout=PATIENCE_S)
        assert process.returncode == 0
    assert f"export OTEL_EXPORTER_OTLP_ENDPOINT={base_url(running.otlp_http)}" in out
    assert serve_file.read(tmp_path / "data") is None
    assert verdicts(exported(tmp_path / "data", "scores", 5)) == want
