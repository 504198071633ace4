"""Say in SQL which verdicts and decisions are current: those of a scorer's newest revision.

Revisions are few. So the rows of episodes that have any are looked up by their newest, and all
others are taken as they are, which lets a million of them be counted in a fraction of a second.
Episodes are told apart by a 64-bit hash of their id and the scorer.
"""

from __future__ import annotations

EPISODE = "cityHash64(episode_id, scorer)"
"""What one scorer said of one episode, whatever the number of its targets and resends."""


def current(table: str) -> str:
    """Return the condition that holds for a table's current rows."""
    revised = f"FROM {table} WHERE revision > 0 GROUP BY episode_id, scorer"
    return (
        f"({EPISODE} NOT IN (SELECT {EPISODE} {revised})"
        f" OR ({EPISODE}, revision) IN (SELECT {EPISODE}, max(revision) {revised}))"
    )


def within(column: str) -> str:
    """Return the condition that a time is at or after ``since`` and before ``until``."""
    return (
        f"{column} >= fromUnixTimestamp64Nano({{since:Int64}}, 'UTC')"
        f" AND {column} < fromUnixTimestamp64Nano({{until:Int64}}, 'UTC')"
    )


def equal(**columns: str) -> str:
    """Return the condition that columns have the values of parameters, where these are not empty.

    Takes the parameter's name by column.
    """
    return " AND ".join(
        f"({{{name}:String}} = '' OR {column} = {{{name}:String}})"
        for column, name in columns.items()
    )
