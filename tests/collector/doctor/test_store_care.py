"""Test what is said of how a store does, against the real engine over HTTP."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from collector.doctor.finding import Finding
from collector.doctor.store_care import store_care
from collector.errors import PermanentError
from collector.stores.clickhouse import ClickHouseStore
from tests.clickhouse_endpoint import Endpoint

SOUND = {
    "parts": [{"table": "scores", "parts": 3}],
    "dead_letters": [{"rows": 0, "name": "", "reason": ""}],
}
"""What a sound engine answers, by table."""


class Telling:
    """Answer as an engine would that has the trouble a test wants."""

    def __init__(self, **answers: Any) -> None:
        self._answers = {**SOUND, **answers}

    def has_tables(self) -> bool:
        """Have all of them."""
        return True

    def query(self, sql: str, parameters: dict[str, Any] | None = None) -> list[dict[str, Any]]:
        """Answer by the table that is asked."""
        assert parameters is None
        found = re.search(r"FROM (?:system\.)?(\w+)", sql)
        assert found is not None
        answer: list[dict[str, Any]] = self._answers.get(found[1], [])
        if isinstance(answer, Exception):
            raise answer
        return answer


def wrong(store: Any, *, retention: Callable[[], list[str]] | None = list) -> list[Finding]:
    """Return what is not well."""
    return [one for one in store_care(store, retention=retention) if one.status != "ok"]


@pytest.fixture
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ClickHouseStore]:
    """Open a migrated store behind the HTTP interface."""
    with Endpoint(tmp_path_factory.mktemp("endpoint") / "engine") as endpoint:
        opened = ClickHouseStore.server(endpoint.url, timeout_s=20)
        opened.migrate(ttl_days=7)
        yield opened
        opened.close()


def test_the_real_engine(store: ClickHouseStore) -> None:
    """It understands every question; a store of ours is well, and what is not is found in it."""
    assert wrong(store, retention=lambda: store.migrate(dry_run=True, ttl_days=7)) == []
    (late,) = wrong(store, retention=lambda: store.migrate(dry_run=True, ttl_days=8))
    assert "store.ttl_days" in late.says
    store.command(
        "INSERT INTO dead_letters VALUES ('l', now64(9), 'scores', 'Code: 53.\nNo such type', '[]')"
    )
    (letters,) = wrong(store)
    assert letters.says.endswith(
        "1 rows could not be stored and are in dead_letters, such as one of scores: Code: 53. No such type"
    )


@pytest.mark.parametrize(
    ("answers", "status", "says"),
    [
        (
            {"parts": [{"table": "scores", "parts": 301}]},
            "warn",
            "scores has 301 parts in one partition",
        ),
        (
            {
                "detached_parts": [
                    {"table": "scores", "parts": 2},
                    {"table": "turns", "parts": 1},
                ]
            },
            "fail",
            "their rows are missing: scores (2), turns (1)",
        ),
        (
            {"mutations": [{"table": "scores", "reason": "Code: 341.\nNo  room"}]},
            "warn",
            "a change of scores fails again and again: Code: 341. No room",
        ),
        ({"merges": [{"table": "otel_traces", "took": 7_200.0}]}, "warn", "goes on for 2.0 h"),
        ({"replicas": [{"table": "scores"}]}, "fail", "the replica of scores is read-only"),
        (
            {"disks": [{"name": "default", "free": 1 << 30, "total": 100 << 30}]},
            "warn",
            "its disk default has 1.0 GiB of 100 GiB left",
        ),
    ],
)
def test_each_trouble(answers: dict[str, Any], status: str, says: str) -> None:
    """Each is one line that says what it is, and one that says what to do."""
    (found,) = wrong(Telling(**answers))
    assert found.status == status
    assert says in found.says
    assert "\n" not in found.says
    assert found.fix


def test_what_may_not_be_read() -> None:
    """A user without rights on the system's tables is told so, and the rest is looked at all the same."""
    found = wrong(Telling(parts=PermanentError("Not enough privileges"), replicas=[{"table": "x"}]))
    assert [one.status for one in found] == ["warn", "fail"]
    assert "its parts cannot be looked at: Not enough privileges" in found[0].says
