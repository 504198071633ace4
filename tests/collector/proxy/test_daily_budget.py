"""Test the calls that a day has."""

from __future__ import annotations

from pathlib import Path

import pytest

from collector.proxy.daily_budget import DailyBudget

DAY_NS = 86_400 * 10**9


def test_a_day(tmp_path: Path) -> None:
    """A day has so many calls, whoever counts them; the next has as many."""
    now = [20_000 * DAY_NS]

    def budget() -> DailyBudget:
        return DailyBudget(tmp_path / "ledger", 3, clock_ns=lambda: now[0])

    first = budget()
    assert [first.take(), first.take()] == [True, True]
    second = budget()
    assert second.left() == 1
    assert [second.take(), second.take()] == [True, False]
    now[0] += DAY_NS
    assert second.left() == budget().left() == 3
    assert second.take()


@pytest.mark.parametrize("held", ["", "x", "2024-10-04 x", "\xff"])
def test_a_ledger_that_is_none(tmp_path: Path, held: str) -> None:
    """A file that cannot be read means that nothing was spent."""
    path = tmp_path / "ledger"
    path.write_text(held, encoding="latin-1")
    assert DailyBudget(path, 3, clock_ns=lambda: 0).left() == 3


def test_a_place_that_cannot_be_written(tmp_path: Path) -> None:
    """Without a file the count stands in memory alone."""
    budget = DailyBudget(tmp_path / "none" / "ledger", 2, clock_ns=lambda: 0)
    assert [budget.take() for _ in range(3)] == [True, True, False]
