"""Test that outcomes and labels come back, and find their conversation."""

from __future__ import annotations

from typing import Any

import msgspec

from collector.hindsight import About, Label, Outcome
from collector.stores.clickhouse import ClickHouseStore
from collector.stores.export import export
from collector.stores.hindsight_rows import label_row, outcome_row
from collector.stores.rows import rows_of
from tests.build import identity
from tests.collector.stores.episodes import SECOND, START_NS, WHO, decided, through_outbox

RECEIVED_NS = START_NS + 60 * SECOND
TRACE = "1" * 32
"""The trace of every episode that ``decided`` builds, unless it is told another."""


def outcome(value: Any = True, *, name: str = "refund_issued", **about: Any) -> Outcome:
    """Build an outcome."""
    return Outcome(about=About(**about), name=name, value=value)


def label(author: str = "ana", verdict: Any = "fail", **about: Any) -> Label:
    """Build a label."""
    return Label(about=About(**about), scorer="looping", verdict=verdict, author=author)


def fill(store: ClickHouseStore, *words: Outcome | Label, after_s: int = 0) -> None:
    """Store words, all at once, as they come out of the outbox."""
    rows: dict[str, list[Any]] = {}
    received_ns = RECEIVED_NS + after_s * SECOND
    for word in words:
        if isinstance(word, Outcome):
            rows.setdefault("outcomes", []).append(outcome_row(word, received_ns=received_ns))
        else:
            rows.setdefault("labels", []).append(label_row(word, received_ns=received_ns))
    store.insert(through_outbox(rows))


def test_everything_comes_back(store: ClickHouseStore) -> None:
    """A line says all that was told."""
    fill(
        store,
        Outcome(
            about=About(conversation_id="c", tenant="acme", episode=2),
            name="refund_issued",
            value=False,
            source="billing",
            call_id="call_1",
            tool="refund",
            id="r-1",
            at_ns=START_NS,
        ),
        Label(
            about=About(trace_id="f" * 32, span_id="e" * 16),
            scorer="tone",
            value=0.25,
            category="curt",
            level="turn",
            target="3",
            author="ana",
            source="desk",
            comment="Not kind.",
            id="l-1",
        ),
    )
    [line] = export(store, "outcomes")
    assert line.pop("outcome_id")
    assert line == {
        "conversation_id": "c",
        "name": "refund_issued",
        "value": False,
        "source": "billing",
        "call_id": "call_1",
        "tool": "refund",
        "at_ns": START_NS,
        "id": "r-1",
        "trace_id": "",
        "span_id": "",
        "episode": 2,
        "tenant": "acme",
        "environment": "",
        "variant": "",
        "received_ns": RECEIVED_NS,
    }
    [line] = export(store, "labels")
    assert line.pop("label_id")
    assert line == {
        "conversation_id": "",
        "scorer": "tone",
        "level": "turn",
        "target": "3",
        "verdict": None,
        "value": 0.25,
        "category": "curt",
        "author": "ana",
        "source": "desk",
        "comment": "Not kind.",
        "at_ns": RECEIVED_NS,
        "id": "l-1",
        "trace_id": "f" * 32,
        "span_id": "e" * 16,
        "episode": 0,
        "tenant": "",
        "environment": "",
        "variant": "",
        "received_ns": RECEIVED_NS,
    }


def test_values_keep_their_kind(store: ClickHouseStore) -> None:
    """Truths, numbers and texts come back as such."""
    values = (True, False, 0.0, -2.5, "", "late")
    fill(store, *(outcome(v, name=f"n{n}", conversation_id="c") for n, v in enumerate(values)))
    found = [line["value"] for line in export(store, "outcomes")]
    assert found == list(values)
    assert [type(value) for value in found] == [type(value) for value in values]


def test_the_newest_word_holds(store: ClickHouseStore) -> None:
    """What was said later about a thing replaces what was said before, however it was delivered."""
    fill(store, outcome(True, conversation_id="c"), label(conversation_id="c"), after_s=0)
    fill(store, outcome(False, conversation_id="c"), after_s=9)
    fill(store, label(verdict="pass", conversation_id="c"), after_s=9)
    # A delivery that is repeated changes nothing.
    fill(store, outcome(True, conversation_id="c"), label(conversation_id="c"), after_s=0)
    assert [line["value"] for line in export(store, "outcomes")] == [False]
    assert [line["verdict"] for line in export(store, "labels")] == ["pass"]


def test_pages_neither_lose_nor_repeat(store: ClickHouseStore) -> None:
    """Whatever the page size, every word comes once and in order."""
    ids = ["b", "a", "ä", "0'\\", "z" * 300]
    fill(
        store,
        *(outcome(name=f"n{n}", conversation_id=own) for own in ids for n in range(3)),
        *(label(author=f"p{n}", conversation_id=own) for own in ids for n in range(3)),
        *(outcome(trace_id=f"{n:032x}") for n in range(3)),
    )
    expected = sorted(own for own in ids for _ in range(3))
    for page in (1, 4, 100):
        names = [line["conversation_id"] for line in export(store, "outcomes", page=page)]
        assert [name for name in names if name] == sorted(expected, key=str.encode)
        assert names.count("") == 3
        found = [line["conversation_id"] for line in export(store, "labels", page=page)]
        assert found == sorted(expected, key=str.encode)


def test_joined_whatever_came_first(store: ClickHouseStore) -> None:
    """A conversation carries what was told of it, before or after it was stored, and no other's."""
    fill(store, outcome(name="early", conversation_id="b"), label(conversation_id="b"))
    store.insert(rows_of(decided("a", sequence=1)))
    store.insert(rows_of(decided("b", sequence=2)))
    fill(store, outcome(name="late", conversation_id="b"), label("ben", conversation_id="b"))
    fill(store, outcome(conversation_id="unknown"))
    for page in (1, 100):
        first, second = export(store, "conversations", page=page)
        assert (first["outcomes"], first["labels"]) == ([], [])
        assert {line["name"] for line in second["outcomes"]} == {"early", "late"}
        assert {line["author"] for line in second["labels"]} == {"ana", "ben"}


def test_joined_by_the_trace(store: ClickHouseStore) -> None:
    """What names a trace only belongs to the conversation that has it, as soon as there is one."""
    fill(store, outcome(trace_id=TRACE), label(trace_id=TRACE), outcome(trace_id="2" * 32))
    assert {line["conversation_id"] for line in export(store, "outcomes")} == {""}
    store.insert(rows_of(decided("a")))
    [conversation] = export(store, "conversations")
    assert [line["conversation_id"] for line in conversation["outcomes"]] == ["a"]
    assert len(conversation["labels"]) == 1
    found = {line["trace_id"]: line["conversation_id"] for line in export(store, "outcomes")}
    assert found == {TRACE: "a", "2" * 32: ""}
    # A trace of two conversations does not say which one is meant.
    store.insert(rows_of(decided("b", sequence=2)))
    assert {line["conversation_id"] for line in export(store, "outcomes")} == {""}


def test_joined_within_its_scope(store: ClickHouseStore) -> None:
    """Tenant, environment, variant and episode narrow down who is meant; unsaid they mean any."""
    canary = identity("shop", agent_version="v7", environment="prod", variant="canary")
    one = msgspec.structs.replace(decided("c", who=WHO, sequence=1), episode_id="c/one")
    two = msgspec.structs.replace(decided("c", who=canary, sequence=2), episode_id="c/two")
    later = decided("c", number=2, who=WHO, sequence=3)
    for episode in (one, two, later):
        store.insert(rows_of(episode))
    fill(
        store,
        outcome(name="any", conversation_id="c"),
        outcome(name="canary", conversation_id="c", variant="canary"),
        outcome(name="acme", conversation_id="c", tenant="acme"),
        outcome(name="second", conversation_id="c", episode=2, environment="prod"),
        outcome(name="nobody", conversation_id="c", environment="test"),
    )
    found = {
        (line["identity"]["variant"], line["episode"]): {o["name"] for o in line["outcomes"]}
        for line in export(store, "conversations")
    }
    assert found == {
        ("production", 1): {"any", "acme"},
        ("canary", 1): {"any", "canary"},
        ("production", 2): {"any", "acme", "second"},
    }
