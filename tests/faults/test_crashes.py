"""A process that is killed again and again, under load from several senders, loses and doubles nothing."""

from __future__ import annotations

import random
import time
from pathlib import Path

import pytest

from tests.clickhouse_endpoint import Endpoint
from tests.e2e.served import Scraping, Sending, Served
from tests.e2e.traffic import synthetic
from tests.faults.books import check_once, planned, shared_out, undisturbed

SENDERS = 3


@pytest.mark.parametrize(
    "seed", [1, *(pytest.param(n, marks=pytest.mark.faults) for n in range(2, 8))]
)
def test_kills_under_load_from_several_senders(
    tmp_path: Path, endpoint: Endpoint, seed: int
) -> None:
    """Dead at random moments, of a start as well: what was acknowledged is scored and stored once."""
    conversations = synthetic(60, seed=700 + seed)
    shares = [planned(share) for share in shared_out(conversations, SENDERS)]
    want = undisturbed(tmp_path / "calm", [request for share in shares for request in share])
    chance = random.Random(seed)  # noqa: S311 - a seeded test
    server = {"STORE__URL": endpoint.url, "STORE__DATABASE": f"crash_{seed}"}
    with Served(tmp_path / "data", **(server if seed % 2 else {})) as served:
        scraping = Scraping(served)
        senders = [Sending(served, share, pause_s=0.02) for share in shares]
        scraping.start()
        for sender in senders:
            sender.start()
        for _ in range(2 if seed == 1 else 4):
            sender = chance.choice(senders)
            left = len(shares[senders.index(sender)]) - sender.acknowledged
            sender.wait_for(sender.acknowledged + chance.randrange(left // 2 + 1))
            time.sleep(chance.random() / 10)
            served.kill()
            if chance.random() < 0.5:
                process = served.launch()
                time.sleep(chance.random())
                process.kill()
                process.wait()
            served.start()
        for sender in senders:
            sender.finish()
        check_once(served, conversations, want)
        scraping.finish()
