"""Test that the documentation lists what is read."""

from __future__ import annotations

from pathlib import Path

from collector.normalise import DEFAULT_DIALECTS

TRAFFIC = Path(__file__).parents[3] / "docs" / "traffic.md"


def test_every_dialect_is_documented_with_its_scopes() -> None:
    """The table of the page has one row a dialect, and every scope of that row exists."""
    rows = [line for line in TRAFFIC.read_text().splitlines() if line.startswith("| `")]
    by_name = {row.split("`")[1]: row for row in rows}
    for dialect in DEFAULT_DIALECTS:
        scopes = by_name[dialect.name].split("|")[3]
        named = [scope.strip(" `") for scope in scopes.split(",")]
        known = (*dialect.scopes, "opentelemetry.instrumentation.")
        assert all(scope.startswith(known) or scope in known for scope in named), dialect.name
