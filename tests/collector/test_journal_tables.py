"""Test the statements whose limits the journal is too large to reach in a test."""

from __future__ import annotations

from pathlib import Path

from collector.journal_records import ConversationRow, TipRow, Transaction
from collector.journal_schema import open_writer
from collector.journal_tables import (
    append_seen,
    drop_old_index,
    drop_old_seen,
    read_seen,
    write_conclusions,
)


def test_the_index_forgets_what_was_touched_longest_ago(tmp_path: Path) -> None:
    """Conversations and tips over the limit go, those touched longest ago first."""
    connection = open_writer(tmp_path / "j", producer="p", now_ns=1)
    order = [3, 1, 4, 2, 5]
    write_conclusions(
        connection,
        Transaction(
            conversations=[ConversationRow(key=f"c{n}", touched_ns=n, record=b"") for n in order],
            tips=[TipRow(tip=b"%d" % n, key=f"c{n}", touched_ns=n) for n in order],
        ),
    )
    write_conclusions(
        connection,
        Transaction(conversations=[ConversationRow(key="c1", touched_ns=9, record=b"again")]),
    )

    assert drop_old_index(connection, limit=3) == 4
    assert drop_old_index(connection, limit=3) == 0
    keys = connection.execute("SELECT key FROM conversations ORDER BY key").fetchall()
    tips = connection.execute("SELECT tip FROM tips ORDER BY tip").fetchall()
    assert [row[0] for row in keys] == ["c1", "c4", "c5"]
    assert [row[0] for row in tips] == [b"3", b"4", b"5"]
    connection.close()


def test_old_span_keys_go_in_whole_rows(tmp_path: Path) -> None:
    """Only whole rows are dropped, the oldest first, and never more keys than are surplus."""
    connection = open_writer(tmp_path / "j", producer="p", now_ns=1)
    for row in (b"a", b"b", b"c"):
        append_seen(connection, row * 16, 2)

    assert drop_old_seen(connection, 1) == 0
    assert drop_old_seen(connection, 3) == 2
    assert read_seen(connection) == b"b" * 16 + b"c" * 16
    connection.close()
