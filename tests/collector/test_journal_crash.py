"""Test that what was acknowledged outlives a kill at any moment."""

from __future__ import annotations

import hashlib
import random
import subprocess
import sys
from pathlib import Path

import pytest

from collector.totals import series
from tests.collector.journal_writer_process import SETTLED
from tests.collector.journals import open_journal

RECEIVED = series("spans_received_total", receiver="otlp_http")
ROOT = Path(__file__).parents[2]


def run_until_killed(directory: Path, seed: int, lines: int) -> dict[int, str]:
    """Start a writer, kill it after some acknowledgements, and return all it gave."""
    process = subprocess.Popen(  # our own interpreter and module
        [
            sys.executable,
            "-m",
            "tests.collector.journal_writer_process",
            str(directory),
            str(seed),
        ],
        stdout=subprocess.PIPE,
        text=True,
        cwd=ROOT,
    )
    assert process.stdout is not None
    acknowledged: list[str] = [process.stdout.readline() for _ in range(lines)]
    process.kill()
    rest, _ = process.communicate()
    acknowledged += [line for line in rest.splitlines(keepends=True) if line.endswith("\n")]
    return {int(line.split()[0]): line.split()[1] for line in acknowledged}


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_kill_loses_nothing_acknowledged(tmp_path: Path, seed: int) -> None:
    """After each of several kills every acknowledged request is there, whole, and all is counted."""
    chance = random.Random(seed)  # noqa: S311  # test data
    acknowledged: dict[int, str] = {}
    for round_ in range(3):
        more = run_until_killed(tmp_path, seed * 10 + round_, chance.randrange(1, 200))
        assert not more.keys() & acknowledged.keys()
        acknowledged |= more

        journal = open_journal(tmp_path)
        kept = {
            entry.id: hashlib.sha256(entry.body).hexdigest()
            for entry in journal.read(journal.ids())
        }
        assert acknowledged.items() <= kept.items()
        totals = journal.totals()
        assert totals[RECEIVED] == 3 * len(kept)
        assert totals[RECEIVED] == totals.get(SETTLED, 0) + journal.spans_in_flight()
        concluded = [row_id for row_id in kept if row_id <= journal.processed_through]
        assert all(row_id.to_bytes(24, "big") in journal.seen for row_id in concluded[-1_000:])
        assert journal.bytes_used == sum(len(entry.body) for entry in journal.read(list(kept)))
        journal.close()
