"""Test the wording of the migrations."""

from __future__ import annotations

import pytest

from collector.stores.migrations import MIGRATIONS, statements


@pytest.mark.parametrize("name", MIGRATIONS)
def test_every_statement_may_run_twice(name: str) -> None:
    """A migration that was interrupted can be run again from its start."""
    found = statements(name)
    assert found
    for statement in found:
        assert "IF NOT EXISTS" in statement or "OR REPLACE" in statement


@pytest.mark.parametrize("name", MIGRATIONS)
def test_no_row_counts_twice(name: str) -> None:
    """Every table merges resends away, and nothing rolls up on insert."""
    for statement in statements(name):
        assert "MATERIALIZED VIEW" not in statement
        if statement.startswith("CREATE TABLE"):
            assert "ENGINE = ReplacingMergeTree" in statement or "min, DateTime" in statement
