"""Bring the schema up to date, one numbered file after the other."""

from __future__ import annotations

import re
from importlib import resources
from typing import Any, Protocol

MIGRATIONS = (
    "0001_traces",
    "0002_conversations",
    "0003_verdicts",
    "0004_alarms",
    "0005_detection",
    "0006_hindsight",
    "0007_tenants",
)
"""The files of ``schema/`` in order; a released one is never changed, only followed."""

_LEDGER = """\
CREATE TABLE IF NOT EXISTS schema_migrations (
  version UInt32,
  name String,
  applied DateTime DEFAULT now()
) ENGINE = ReplacingMergeTree
ORDER BY version"""


class Database(Protocol):
    """The part of the store that changes the schema."""

    @property
    def database(self) -> str:
        """Name of our database."""

    def has_database(self) -> bool:
        """Tell whether our database exists."""

    def command(self, sql: str, *, use_database: bool = True) -> None:
        """Run a statement."""

    def query(self, sql: str, parameters: dict[str, Any] | None = None) -> list[dict[str, Any]]:
        """Run a query."""


def statements(name: str) -> list[str]:
    """Read the statements of one migration, without comments."""
    text = (resources.files(__package__) / "schema" / f"{name}.sql").read_text("utf-8")
    bare = re.sub(r"^\s*--.*\n", "", text, flags=re.MULTILINE)
    return [part.strip() for part in bare.split(";\n") if part.strip()]


def apply(database: Database, *, dry_run: bool = False) -> list[str]:
    """Run the migrations that were not yet run, and return their statements.

    Every statement may be run twice, so a process that dies in between only repeats itself.
    """
    done: list[str] = []
    applied: set[str] = set()

    def run(statement: str, *, use_database: bool = True) -> None:
        done.append(statement)
        if not dry_run:
            database.command(statement, use_database=use_database)

    if not database.has_database():
        run(f"CREATE DATABASE IF NOT EXISTS {database.database}", use_database=False)
        run(_LEDGER)
    elif not database.query(
        "SELECT 1 FROM system.tables WHERE database = currentDatabase() AND name = 'schema_migrations'"
    ):
        run(_LEDGER)
    else:
        applied = {row["name"] for row in database.query("SELECT name FROM schema_migrations")}
    for version, name in enumerate(MIGRATIONS, start=1):
        if name in applied:
            continue
        for statement in statements(name):
            run(statement)
        run(f"INSERT INTO schema_migrations (version, name) VALUES ({version}, '{name}')")  # noqa: S608  # our own constants
    return done
