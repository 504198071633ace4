"""Read from a store what no fault may change: what was concluded, and which spans are there."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from collector.stores.clickhouse import ClickHouseStore
from collector.stores.tables import TABLES

ROOT = Path(__file__).parent.parent.parent
_IDENTITY = ("agent", "agent_version", "environment", "variant")
FACTS: dict[str, tuple[str, ...]] = {
    "otel_traces": ("TraceId", "SpanId", "SpanName", "ServiceName"),
    "turns": ("conversation_id", "episode", "revision", "turn"),
    "tool_calls": ("conversation_id", "episode", "revision", "position", "name", "is_error"),
    "scores": (
        *("conversation_id", "episode", "revision", "level", "target", "scorer"),
        *("scorer_version", "value", "verdict", "reason", *_IDENTITY),
    ),
    "decisions": (
        *("conversation_id", "episode", "scorer", "scorer_version", "revision", "decision"),
        *("reason", "targets", *_IDENTITY),
    ),
    "conversations": ("conversation_id", "episode", "revision", *_IDENTITY),
    "observations": (
        *("conversation_id", "episode", "scorer", "scorer_version", "shortfall", "weight"),
        *("stratum", *_IDENTITY),
    ),
}
"""By table the columns that are the same whatever happened; the others are times and random ids."""

Facts = dict[str, Counter[str]]
"""How often each row stands in its table, spelled as JSON."""


def facts_of(rows: Iterable[Mapping[str, Sequence[Sequence[Any]]]]) -> Facts:
    """Return the facts in rows as they are given to a store."""
    found: Facts = {table: Counter() for table in FACTS}
    for piece in rows:
        for table, lines in piece.items():
            if table not in FACTS:
                continue
            places = [TABLES[table].index(name) for name in FACTS[table]]
            found[table].update(_spelled([line[place] for place in places]) for line in lines)
    return found


def facts_in(store: ClickHouseStore) -> Facts:
    """Return the facts in a store, each row as often as it stands there after deduplication."""
    found: Facts = {}
    for table, columns in FACTS.items():
        names = ", ".join(f"`{column}`" for column in columns)
        lines = store.query(f"SELECT {names} FROM {table} FINAL")  # noqa: S608  # our own names
        found[table] = Counter(_spelled([line[column] for column in columns]) for line in lines)
    return found


def facts_in_engine(data_dir: Path) -> Facts:
    """Return the facts in the embedded store of a stopped instance; an engine wants a process of its own."""
    told = subprocess.run(  # our own module
        [sys.executable, "-m", "tests.faults.stored", str(data_dir)],
        cwd=ROOT,
        check=True,
        capture_output=True,
    )
    lists = msgspec.json.decode(told.stdout, type=dict[str, dict[str, int]])
    return {table: Counter(counts) for table, counts in lists.items()}


def _spelled(values: Sequence[Any]) -> str:
    return msgspec.json.encode(
        [float(value) if isinstance(value, (int, float)) else value for value in values]
    ).decode()


def main() -> None:
    """Print the facts in the embedded store of a data directory."""
    store = ClickHouseStore.embedded(Path(sys.argv[1]) / "store")
    sys.stdout.buffer.write(msgspec.json.encode(facts_in(store)))
    store.close()


if __name__ == "__main__":
    main()
