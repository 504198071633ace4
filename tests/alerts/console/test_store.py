"""Test that pages wait for the store only so long, and say what it says."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Mapping
from typing import Any

import pytest

from alerts.console.store import Reader, Row, StoreOf
from collector.errors import (
    MalformedError,
    PermanentError,
    RetryableError,
    StoreUnavailableError,
)
from tests.alerts.console.front import Front

NOTHING: list[Row] = []


class Ailing:
    """A store in whatever state."""

    def __init__(self, fault: Exception | None = None, *, tables: bool = True) -> None:
        self._fault = fault
        self._tables = tables
        self.hold = threading.Event()
        self.hold.set()

    def has_tables(self) -> bool:
        """Say whether there is a schema."""
        return self._tables

    def query(self, sql: str, parameters: Mapping[str, Any] | None = None) -> list[Row]:
        """Answer, or do not."""
        self.hold.wait(30)
        if self._fault is not None:
            raise self._fault
        return [{"bounded": "max_execution_time" in sql}]


def of(store: Ailing) -> StoreOf:
    """Give the same store for whatever tenant."""
    return lambda _tenant: store


def test_an_answer() -> None:
    """A question gets its rows, by a query that is bounded in time."""
    reader = Reader(of(Ailing()))
    assert asyncio.run(reader.read(lambda ask: ask("SELECT 1", {}), tenant="", empty=NOTHING)) == [
        {"bounded": True}
    ]


def test_before_the_first_row() -> None:
    """While there is no schema, everything is empty and nothing is asked."""
    reader = Reader(of(Ailing(AssertionError(), tables=False)))
    assert asyncio.run(reader.read(lambda ask: ask("SELECT 1", {}), tenant="", empty=NOTHING)) == []


def test_a_store_that_hangs() -> None:
    """A page does not wait longer than it was told to, and says what to do."""
    store = Ailing()
    store.hold.clear()
    reader = Reader(of(store), patience_s=0.05)
    with pytest.raises(RetryableError, match="shorter time range"):
        asyncio.run(reader.read(lambda ask: ask("SELECT 1", {}), tenant="", empty=NOTHING))
    store.hold.set()


@pytest.mark.parametrize(
    ("fault", "kind"),
    [
        (StoreUnavailableError("down"), RetryableError),
        (PermanentError("no such column"), RetryableError),
        (MalformedError("nonsense"), MalformedError),
    ],
)
def test_faults(fault: Exception, kind: type[Exception]) -> None:
    """What the store refuses is not the caller's fault; nonsense is."""
    reader = Reader(of(Ailing(fault)))
    with pytest.raises(kind):
        asyncio.run(reader.read(lambda ask: ask("SELECT 1", {}), tenant="", empty=NOTHING))


@pytest.mark.parametrize(
    "path", ["/", "/conversations", "/conversations/x", "/ledger?id=x", "/alerts"]
)
def test_pages_without_a_store(path: str) -> None:
    """A page says that the store does not answer, and the API the same as JSON."""
    front = Front(Ailing(StoreUnavailableError("the store at <here> is down")))

    page = front.get(path)
    assert page.status_code == 503
    assert page.headers["content-type"].startswith("text/html")
    assert "retry-after" in page.headers
    assert "the store at &lt;here&gt; is down" in page.text
    same = front.get("/v1/quality" if path == "/" else f"/v1{path}")
    assert (same.status_code, "error" in same.json()) == (404 if path == "/alerts" else 503, True)


@pytest.mark.parametrize("path", ["/", "/conversations", "/ledger", "/alerts"])
def test_pages_before_the_first_row(path: str) -> None:
    """A fresh instance shows pages that say that there is nothing yet."""
    page = Front(Ailing(tables=False)).page(path)
    assert "No" in page.text or "empty" in page.text
