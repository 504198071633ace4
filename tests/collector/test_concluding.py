"""Test what becomes of a conversation that we fail on."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from collector.model import Decided
from tests.e2e.instance import Clock, Instance
from tests.e2e.traffic import as_requests, synthetic


def test_a_conversation_that_we_fail_on_stays_and_the_others_go_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is counted, leaves no gap in the observations, and the next start concludes it."""
    clock = Clock()
    with Instance(tmp_path, clock=clock) as instance:
        decider = instance.path.pipeline._concluding._decider  # noqa: SLF001 - a bug is put there
        rows_of = decider._rows_of  # noqa: SLF001
        met: list[str] = []

        def fails_once(decided: Decided) -> dict[str, Any]:
            met.append(decided.conversation.id)
            if len(met) == 1:
                raise IndexError
            return dict(rows_of(decided))

        monkeypatch.setattr(decider, "_rows_of", fails_once)
        instance.send(as_requests(synthetic(3, seed=5), batch=1))
        instance.later(1_000)
        assert len(set(met)) == 3
        assert instance.total("episodes_failed_total", error="IndexError") == 1
        assert {row["conversation_id"] for row in instance.export("conversations")} == set(met[1:])
        assert sequences(instance) == list(range(1, len(sequences(instance)) + 1))
    with Instance(tmp_path, clock=clock) as instance:
        instance.later(1_000)
        assert {row["conversation_id"] for row in instance.export("conversations")} == set(met)
        assert sequences(instance) == list(range(1, len(sequences(instance)) + 1))


def sequences(instance: Instance) -> list[int]:
    """Return the numbers of the observations that are stored."""
    return sorted(int(row["sequence"]) for row in instance.export("observations"))
