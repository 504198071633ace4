"""Test what is told of rows on their way to the store."""

from __future__ import annotations

from pathlib import Path

import pytest

from collector.config import Config, StoreConfig
from collector.journal_records import Transaction
from tests.clickhouse_endpoint import Endpoint
from tests.e2e.conftest import endpoint, engine
from tests.e2e.instance import Clock, Instance
from tests.e2e.served import eventually
from tests.e2e.traffic import as_requests, synthetic

__all__ = ["endpoint", "engine"]


def test_what_is_committed_is_never_told_as_stored(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """From the commit that counts an episode on, something waits for the store until it has it."""
    waiting: list[int] = []
    with Instance(tmp_path, clock=Clock()) as instance:
        path = instance.path
        commit = path.pipeline._commit  # noqa: SLF001 - the moment after it is what is tested

        def watched(transaction: Transaction) -> list[int]:
            rows = commit(transaction)
            if rows:
                waiting.append(path.shipping.unstored)
            return rows

        monkeypatch.setattr(path.pipeline, "_commit", watched)
        instance.send(as_requests(synthetic(3, seed=5)))
        instance.later(5)

        def stored() -> bool:
            instance.settle()
            return path.shipping.unstored == 0

        eventually(stored, "the store has everything")
    assert waiting
    assert 0 not in waiting


def test_nothing_more_is_decided_while_too_much_waits_for_the_store(
    tmp_path: Path, endpoint: Endpoint
) -> None:
    """Decided episodes are let go only when they are stored: at a limit the journal takes what comes."""
    endpoint.fault("refuse")
    config = Config(store=StoreConfig(url=endpoint.url, database="behind"))
    with Instance(tmp_path, clock=Clock(), config=config) as instance:
        path = instance.path
        path.pipeline._most_decided = 12  # noqa: SLF001 - some 100,000 otherwise
        path.pipeline._concluding._window_limit = 6  # noqa: SLF001 - half of that
        for number in range(10):
            instance.send(as_requests(synthetic(4, seed=50 + number)))
            instance.later(5)
        held = path.assembler.recent_episodes
        assert 12 <= held < 20
        assert path.journal.spans_in_flight() > 0
        assert instance.total("episodes_total") == held
        endpoint.fault("")

        def all_decided() -> bool:
            instance.settle()
            instance.clock.leap(1_000)  # late windows end
            return instance.total("episodes_total") == 40

        eventually(all_decided, "everything is decided")
        assert path.journal.spans_in_flight() == 0
