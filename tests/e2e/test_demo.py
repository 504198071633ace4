"""Run the demonstration as a user does."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from collector.demo.mistakes import RATES, Regression
from collector.demo.pace import Pace
from collector.demo.sending import LosslessProcessor, otlp_exporter
from collector.demo.story import Event, Story, events
from collector.demo.tracing import Telling, Tracers
from collector.demo.traffic import send
from tests.e2e.served import Served, eventually

ROOT = Path(__file__).parent.parent.parent


def started(tmp_path: Path, *arguments: str) -> subprocess.Popen[str]:
    """Start the command, with its temporary files where they can be looked for."""
    return subprocess.Popen(
        [sys.executable, "-m", "collector.cli", "demo", *arguments],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        cwd=ROOT,
        env={**os.environ, "TMPDIR": str(tmp_path), "PYTHONUNBUFFERED": "1"},
    )


def descendants(tmp_path: Path) -> list[str]:
    """Return the processes whose command line names our directory."""
    found = []
    for entry in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            line = entry.read_bytes().replace(b"\0", b" ").decode()
        except OSError:
            continue
        if f"{tmp_path}/" in line and "serve" in line:
            found.append(line)
    return found


def test_what_is_sent_is_what_is_found(tmp_path: Path) -> None:
    """An instance scores every conversation, and its verdicts are the truth about them."""
    story = Story(
        random.Random(8),  # noqa: S311 - repeatable, not secret
        end_ns=time.time_ns(),
        regression=Regression(),
        hours=1.0,
        switch_hours=(0.2, 0.3),
    )
    truths: dict[str, frozenset[str]] = {}

    def note(event: Event) -> None:
        if event.last:
            truths[event.conversation.id] = event.conversation.truths

    data_dir = tmp_path / "a" / "data"
    data_dir.mkdir(parents=True)
    with Served(data_dir) as served:
        processor = LosslessProcessor(otlp_exporter(served.receive))
        chance = random.Random(9)  # noqa: S311 - repeatable, not secret
        assert send(
            events(story.conversations()),
            telling=Telling(Tracers(processor, chance), chance),
            pace=Pace(speed=0.0, first_ns=0, stop=threading.Event()),
            note=note,
        )
        assert processor.force_flush(60_000)
        processor.shutdown()
        series = served.settled(len(truths))
        received = [v for (name, _), v in series.items() if name == "spans_received_total"]
        assert received == [processor.acknowledged]
        found: dict[str, set[str]] = {one: set() for one in truths}
        for score in served.export("scores"):
            if score["verdict"] == "fail":
                found[score["conversation_id"]].add(score["scorer"])
    assert sum("false_success" in found[one] for one in truths) > 5
    for scorer in RATES:
        wrong = [
            one for one, truth in truths.items() if (scorer in truth) != (scorer in found[one])
        ]
        assert len(wrong) <= 0.01 * len(truths), scorer


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGHUP], ids=["ctrl-c", "hang-up"])
def test_a_stop_leaves_nothing_behind(tmp_path: Path, number: signal.Signals) -> None:
    """The child ends, the data are gone, and the exit code says that it was interrupted."""
    demo = started(tmp_path)
    assert demo.stdout
    with demo.stdout:
        assert any(line.startswith("time") for line in demo.stdout)
        assert descendants(tmp_path)
        demo.send_signal(number)
        assert demo.wait(60) == 130
    eventually(lambda: not descendants(tmp_path), "the child has ended")
    eventually(lambda: not list(tmp_path.iterdir()), "the data are gone")


def test_a_directory_with_something_in_it(tmp_path: Path) -> None:
    """It is refused before anything starts: what is there would become part of the story."""
    (tmp_path / "kept").mkdir()
    (tmp_path / "kept" / "x").touch()
    demo = started(tmp_path, "--data-dir", str(tmp_path / "kept"))
    said, _ = demo.communicate(timeout=60)
    assert demo.returncode == 2
    assert "is not empty" in said
    assert "Starting" not in said


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.parametrize("arguments", [(), ("--no-regression",)])
def test_the_whole_story(tmp_path: Path, arguments: tuple[str, ...]) -> None:
    """The alarm fires after the bad version went live, and not without one; nothing is lost."""
    demo = started(tmp_path, "--fast", "--exit", "--seed", "7", *arguments)
    said, _ = demo.communicate(timeout=600)
    assert demo.returncode == 0, said
    assert ("ALARM" in said) is not bool(arguments)
    (line,) = [one for one in said.splitlines() if "conversations were sent" in one]
    sent, scored = (int(word) for word in line.split() if word.isdigit())
    assert sent == scored > 4_000
    eventually(lambda: not list(tmp_path.iterdir()), "the data are gone")
