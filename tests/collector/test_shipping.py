"""Test what is told of rows on their way to the store."""

from __future__ import annotations

from pathlib import Path

import pytest

from collector.journal_records import Transaction
from tests.e2e.instance import Clock, Instance
from tests.e2e.served import eventually
from tests.e2e.traffic import as_requests, synthetic


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
