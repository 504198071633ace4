"""Set how long tables keep their rows.

Content goes after ``content_days``, verdicts and heads after ``verdict_days``; a change of
either is a metadata change of the table.
"""

from __future__ import annotations

from collector.stores.migrations import Database

CONTENT = {
    "otel_traces": "toDateTime(Timestamp)",
    "otel_traces_trace_id_ts": "End",
    "turns": "toDateTime(decided)",
    "tool_calls": "toDateTime(decided)",
}
"""Tables of content, and the time from which their days count."""

CONTENT_COLUMNS = ("system_prompt", "tools", "messages", "llm_calls", "documents")
"""Content in ``conversations``, whose heads stay as long as the verdicts."""

VERDICTS = {
    "conversations": "toDateTime(decided)",
    "scores": "toDateTime(scored)",
    "decisions": "toDateTime(decided)",
    "observations": "toDateTime(observed)",
    "detector_points": "toDateTime(at)",
    "outcomes": "toDateTime(received)",
    "labels": "toDateTime(received)",
}
"""Tables of conclusions, and the time from which their days count."""


def apply(
    database: Database, *, content_days: int, verdict_days: int, dry_run: bool = False
) -> list[str]:
    """Change the tables whose retention differs, and return the statements."""
    current: dict[str, str] = {}
    if database.has_database():
        found = database.query(
            "SELECT name, create_table_query FROM system.tables WHERE database = currentDatabase()"
        )
        current = {row["name"]: row["create_table_query"] for row in found}
    done: list[str] = []
    for table, since in CONTENT.items():
        done += _table(current.get(table, ""), table, since, content_days)
    done += _columns(current.get("conversations", ""), content_days)
    for table, since in VERDICTS.items():
        done += _table(current.get(table, ""), table, since, verdict_days)
    if not dry_run:
        for statement in done:
            database.command(statement)
    return done


def _table(current: str, table: str, since: str, days: int) -> list[str]:
    """Compare the TTL clause, which stands after ORDER BY and before SETTINGS."""
    tail = current.partition("\nORDER BY")[2] or current.partition(" ORDER BY ")[2]
    if days == 0:
        return [f"ALTER TABLE {table} REMOVE TTL"] if " TTL " in tail else []
    if f"toIntervalDay({days})" in tail:
        return []
    ttl = f"{since} + toIntervalDay({days}) SETTINGS materialize_ttl_after_modify = 0"
    return [f"ALTER TABLE {table} MODIFY TTL {ttl}"]


def _columns(current: str, days: int) -> list[str]:
    head = current.partition(" ORDER BY ")[0]
    if days == 0:
        if " TTL " not in head:
            return []
        return [f"ALTER TABLE conversations MODIFY COLUMN {c} REMOVE TTL" for c in CONTENT_COLUMNS]
    if head.count(f"toIntervalDay({days})") == len(CONTENT_COLUMNS):
        return []
    ttl = f"toDateTime(decided) + toIntervalDay({days}) SETTINGS materialize_ttl_after_modify = 0"
    return [
        f"ALTER TABLE conversations MODIFY COLUMN {c} String CODEC(ZSTD(1)) TTL {ttl}"
        for c in CONTENT_COLUMNS
    ]
