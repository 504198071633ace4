"""Test what is written down of outcomes and labels, and what is recognised."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from collector.hindsight import About, Label, Outcome
from collector.journal_records import Entry
from collector.notebook import AHEAD_NS, Notebook, times_said
from collector.redactor import Redactor
from collector.sensitive import KINDS
from collector.stores.tables import TABLES
from collector.telemetry import LogRecord
from collector.work import Work

NOW_NS = 1_790_000_000 * 1_000_000_000


class Desk:
    """A notebook with its redactor, its work and a set for what was seen."""

    def __init__(self) -> None:
        self.work = Work()
        self.seen: set[bytes] = set()
        self.notebook = Notebook(
            redactor=Redactor(tuple(KINDS)),
            seen=self.seen,
            work=self.work,
            admit=lambda _, value: value[:20],
        )

    def take(self, *words: Outcome | Label, received_ns: int = NOW_NS) -> None:
        """Process a request of the API."""
        self.notebook.take(
            Entry(
                received_ns=received_ns,
                receiver="api",
                signal="outcomes" if isinstance(words[0], Outcome) else "labels",
                encoding="json",
                items=len(words),
                body=msgspec.json.encode(words),
            )
        )
        self.seen.update(self.work.fresh)

    def rows(self, table: str) -> list[dict[str, Any]]:
        """Return the rows that the step writes."""
        rows = self.work.rows.get(table, [])
        assert all(len(row) == len(TABLES[table]) for row in rows)
        return [dict(zip(TABLES[table], row, strict=True)) for row in rows]

    def count(self, name: str, **labels: str) -> float:
        """Return a total of the step."""
        return self.work.totals.get((name, tuple(labels.items())), 0.0)


def outcome(value: Any = True, *, id: str = "c", **more: Any) -> Outcome:
    """Build an outcome."""
    return Outcome(
        about=About(conversation_id=id), **{"name": "refund_issued", "value": value, **more}
    )


def label(**more: Any) -> Label:
    """Build a label."""
    said = {"scorer": "tone", "verdict": "fail", "author": "ana", **more}
    return Label(about=About(conversation_id="c"), **said)


def test_each_word_once() -> None:
    """What was just said is a duplicate to the letter, in one request and in a later one."""
    desk = Desk()
    desk.take(outcome(), outcome(), outcome(False))
    desk.take(outcome(False), outcome("late"), outcome(2.5))
    desk.take(outcome(2.5))
    assert [
        (row["success"], row["number"], row["text"]) for row in desk.rows("outcomes")
    ] == [(True, None, ""), (False, None, ""), (None, None, "late"), (None, 2.5, "")]  # fmt: skip
    assert desk.count("stage_items_total", stage="outcomes", result="noted") == 4
    assert desk.count("stage_items_total", stage="outcomes", result="duplicate") == 3
    for value in ("true", "false", "text", "number"):
        assert desk.count("outcomes_total", outcome="refund_issued", value=value) == 1


def test_what_was_taken_back_can_be_said_again() -> None:
    """Without a time the last word holds, though it was said before; with one it is known for ever."""
    desk = Desk()
    for verdict in ("pass", "pass", "fail", "pass", "pass", "fail", "fail"):
        desk.take(label(verdict=verdict))
    assert [row["verdict"] for row in desk.rows("labels")] == ["pass", "fail", "pass", "fail"]
    for at_ns, verdict in ((1, "pass"), (2, "fail"), (1, "pass"), (2, "fail")):
        desk.take(label(author="ben", verdict=verdict, at_ns=at_ns))
    assert [row["verdict"] for row in desk.rows("labels")][4:] == ["pass", "fail"]


def test_a_word_with_a_time_is_something_else_said() -> None:
    """What it replaced can be said again without a time."""
    desk = Desk()
    desk.take(outcome())
    desk.take(outcome(False, at_ns=NOW_NS))
    desk.take(outcome(), outcome())
    assert [row["success"] for row in desk.rows("outcomes")] == [True, False, True]


@given(st.integers(0, 300))
def test_how_often_something_was_said(times: int) -> None:
    """It is found however often that was."""
    assert times_said(lambda time: time <= times) == times


def test_labels_are_counted_by_verdict() -> None:
    """A label without a verdict counts as none; its scorer's name is bounded."""
    desk = Desk()
    desk.take(label(), label(author="ben"), label(verdict="", value=0.5, scorer="s" * 50))
    assert desk.count("labels_total", scorer="tone", verdict="fail") == 2
    assert desk.count("labels_total", scorer="s" * 20, verdict="none") == 1


@pytest.mark.parametrize(
    ("before", "after", "same"),
    [
        (outcome(True), outcome(False), True),
        (outcome(True, id="c"), outcome(True, id="d"), False),
        (outcome(True), outcome(True, name="other"), False),
        (outcome(True), outcome(True, call_id="call_1"), False),
        (outcome(True, id="c"), msgspec.structs.replace(outcome(), id="r-1"), False),
        (
            msgspec.structs.replace(outcome(True, source="a"), id="r-1"),
            msgspec.structs.replace(outcome(False, source="b"), id="r-1"),
            True,
        ),
    ],
)
def test_what_replaces_what(before: Outcome, after: Outcome, same: bool) -> None:
    """A later word on the same thing, or under the same id, has the same row; others have their own."""
    desk = Desk()
    desk.take(before, after)
    first, second = desk.rows("outcomes")
    assert (first["outcome_id"] == second["outcome_id"]) == same


def test_people_do_not_replace_each_other() -> None:
    """Each author has a label of her own on each target."""
    desk = Desk()
    turn = {"level": "turn", "target": "1"}
    desk.take(label(), label(author="ben"), label(**turn), label(verdict="pass", at_ns=5))
    ids = [row["label_id"] for row in desk.rows("labels")]
    assert len(set(ids)) == 3
    assert ids[0] == ids[3]


def test_nothing_sensitive_is_written() -> None:
    """Text is redacted, a person stays one under an alias, and a name gives its value away."""
    desk = Desk()
    mail = "ana.lopez@example.com"
    desk.take(
        label(author=mail, comment=f"Ask {mail}.", id=mail),
        label(author=mail, scorer="other"),
    )
    desk.take(
        outcome("hunter22", name="password"),
        outcome(f"sent to {mail}", id=mail, source=mail),
        outcome(4_111_111_111_111_111.0, name="paid_with"),
    )
    assert mail not in repr(desk.work.rows)
    assert "hunter22" not in repr(desk.work.rows)
    assert "4111111111111111" not in repr(desk.work.rows)
    first, second = desk.rows("labels")
    assert first["author"] == second["author"]
    assert first["author"].startswith("id-")
    assert first["comment"] == "Ask [email]."


def test_times() -> None:
    """A word counts from when it says, else from when it came; a clock far ahead is not believed."""
    desk = Desk()
    desk.take(
        outcome(id="a"), outcome(id="b", at_ns=5), outcome(id="c", at_ns=NOW_NS + AHEAD_NS + 1)
    )
    assert [row["observed"] for row in desk.rows("outcomes")] == [
        "1790000000.000000000",
        "0000000000.000000005",
        "1790000000.000000000",
    ]


def test_events() -> None:
    """An event is written down once, under the tenant that its sender's token proves."""
    desk = Desk()
    entry = Entry(
        received_ns=NOW_NS,
        receiver="otlp_http",
        signal="logs",
        encoding="proto",
        tenant="acme",
        items=1,
        body=b"",
    )
    record = LogRecord(
        time_ns=5,
        trace_id="1" * 32,
        event_name="outrider.outcome",
        attributes={"outrider.outcome.name": "n", "outrider.outcome.value": 1},
        resource={},
    )
    assert desk.notebook.hear(record, entry) == "noted"
    desk.seen.update(desk.work.fresh)
    assert desk.notebook.hear(record, entry) == "duplicate"
    bare = msgspec.structs.replace(record, attributes={})
    assert desk.notebook.hear(bare, entry) == "unusable"
    assert desk.notebook.hear(msgspec.structs.replace(record, event_name="x"), entry) == ""
    [row] = desk.rows("outcomes")
    assert (row["tenant"], row["trace_id"], row["conversation_id"]) == ("acme", "1" * 32, "")
