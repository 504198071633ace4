"""A wall clock that is set forward or back moves no verdict and no count."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from tests.clickhouse_endpoint import Endpoint
from tests.e2e.served import Scraping, Sending, Served
from tests.e2e.traffic import synthetic
from tests.faults.books import check_once, planned, undisturbed

HOUR = 3_600.0
BELOW_IDLE = 600.0
"""A jump of less than `assemble.idle_timeout`; after a longer one what is open counts as over."""


class Wall:
    """The offset that the process reads."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._seconds = 0.0
        self.jump(0.0)

    def jump(self, seconds: float) -> None:
        """Set the clock, so that no reader ever sees half of it."""
        self._seconds += seconds
        draft = self.path.with_suffix(".new")
        draft.write_text(str(self._seconds))
        draft.replace(self.path)


@pytest.mark.parametrize(
    "seed", [1, *(pytest.param(n, marks=pytest.mark.faults) for n in range(2, 5))]
)
def test_jumps_under_load(tmp_path: Path, endpoint: Endpoint, seed: int) -> None:
    """Back by an hour, forward by minutes, with a crash in between: the same books as on a steady clock."""
    conversations = synthetic(40, seed=740 + seed)
    requests = planned(conversations)
    want = undisturbed(tmp_path / "calm", requests)
    chance = random.Random(seed)  # noqa: S311 - a seeded test
    wall = Wall(tmp_path / "offset")
    served = Served(
        tmp_path / "data",
        STORE__URL=endpoint.url,
        STORE__DATABASE=f"clock_{seed}",
        ASSEMBLE__LATE_WINDOW="24h",
    )
    served.program = ("-m", "tests.faults.jumping", str(wall.path))
    with served:
        scraping, sending = Scraping(served), Sending(served, requests, pause_s=0.02)
        scraping.start()
        sending.start()
        points = sorted(chance.sample(range(1, len(requests)), 4))
        for number, point in enumerate(points):
            sending.wait_for(point)
            wall.jump(-HOUR if number % 2 else BELOW_IDLE * chance.random())
            if number == 1 + seed % 2:
                served.kill()
                served.start()
        sending.finish()
        check_once(served, conversations, want)
        scraping.finish()


@pytest.mark.faults
def test_a_jump_of_days_while_nobody_talks(tmp_path: Path, endpoint: Endpoint) -> None:
    """A machine that slept: what was decided stays, and what comes after is scored once as well."""
    before, after = synthetic(20, seed=750), synthetic(20, seed=751)
    wall = Wall(tmp_path / "offset")
    want = undisturbed(tmp_path / "calm", [*planned(before), *planned(after)])
    served = Served(tmp_path / "data", STORE__URL=endpoint.url, STORE__DATABASE="sleep")
    served.program = ("-m", "tests.faults.jumping", str(wall.path))
    with served:
        for conversations, jump in ((before, 3 * 24 * HOUR), (after, -24 * HOUR)):
            sending = Sending(served, planned(conversations))
            sending.start()
            sending.finish()
            served.settled(len(before) if conversations is before else len(before) + len(after))
            wall.jump(jump)
        check_once(served, [*before, *after], want)
