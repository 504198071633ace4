"""Test how the console shows what was learned of a conversation later."""

from __future__ import annotations

from typing import Any

from collector.hindsight import About, Label, Outcome
from collector.stores.clickhouse import ClickHouseStore
from tests.alerts.console.front import Front, episode, fill, verdict
from tests.collector.stores.episodes import START_NS
from tests.collector.stores.test_hindsight_export import fill as tell

HOSTILE = "<script>alert(1)</script><img src=x onerror=alert(2)>{{ 7*7 }}"
PATH = "/conversations/c%2F1"


def label(**more: Any) -> Label:
    """Build a label on the conversation."""
    said = {"scorer": "false_success", "verdict": "pass", "author": "ana", **more}
    return Label(about=About(conversation_id="c"), **said)


def outcome(value: Any, **more: Any) -> Outcome:
    """Build an outcome of the conversation."""
    return Outcome(
        about=About(conversation_id="c"), **{"name": "refund_issued", **more}, value=value
    )


def test_what_is_true_beside_what_was_said(store: ClickHouseStore) -> None:
    """Outcomes stand on the page, and a label stands with the verdict that it is on."""
    fill(store, episode("c", verdict("c", "false_success", "fail", reason="It failed.")))
    tell(
        store,
        outcome(True, source="billing", tool="refund"),
        outcome(4.5, name="csat"),
        outcome("in transit", name="state"),
        label(comment="The refund was made by hand."),
        label(scorer="tone", verdict="", category="curt", author="ben", level="turn", target="1"),
    )
    front = Front(store)
    page = front.page(PATH)
    assert "refund_issued✓ true call refund · billing ·" in page.text
    assert "csat4.5" in page.text
    assert "statein transit" in page.text
    beside, _, alone = page.text.partition("What people say")
    assert "✓ pass ana The refund was made by hand." in beside
    assert "tone turn 1 label ben curt" in alone

    told = front.json(f"/v1{PATH}")
    assert [(o["name"], o["value"]) for o in told["outcomes"]] == [
        ("csat", 4.5),
        ("refund_issued", True),
        ("state", "in transit"),
    ]
    first = told["labels"][0]
    assert (first["scorer"], first["verdict"], first["author"]) == ("false_success", "pass", "ana")
    assert first["received_ns"] > START_NS


def test_of_this_conversation_only(store: ClickHouseStore) -> None:
    """What another conversation, variant or episode did does not stand here; a trace's does."""
    fill(store, episode("c"))
    said = [
        ("other", About(conversation_id="d")),
        ("canary", About(conversation_id="c", variant="canary")),
        ("second", About(conversation_id="c", episode=2)),
        ("elsewhere", About(trace_id="9" * 32)),
        ("traced", About(trace_id="1" * 32)),
        ("scoped", About(conversation_id="c", tenant="acme", environment="prod", episode=1)),
    ]
    tell(store, *(Outcome(about=about, name=name, value=True) for name, about in said))
    told = Front(store).json(f"/v1{PATH}")
    assert [outcome["name"] for outcome in told["outcomes"]] == ["scoped", "traced"]


def test_without_any(store: ClickHouseStore) -> None:
    """A conversation of which nothing was told shows no empty headings."""
    fill(store, episode("c"))
    page = Front(store).page(PATH)
    assert "What turned out" not in page.text
    assert "What people say" not in page.text


def test_nothing_in_it_is_markup(store: ClickHouseStore) -> None:
    """Whatever a sender wrote stands there as words."""
    fill(store, episode("c", verdict("c", "false_success", "fail")))
    tell(
        store,
        outcome(HOSTILE, name=HOSTILE, source=HOSTILE, tool=HOSTILE),
        outcome(True, call_id=HOSTILE),
        label(author=HOSTILE, comment=HOSTILE, category=HOSTILE),
        label(scorer=HOSTILE, author="ben", level="tool_call", target=HOSTILE),
    )
    page = Front(store).page(PATH)
    # Name, text, tool, source, call; author, category, comment; scorer and target.
    assert page.text.count(HOSTILE) == 10
    assert "x" not in page.attributes("src")
    assert not [tags for _, tags in page.tags if "onerror" in tags]
    assert not [tags for tag, tags in page.tags if tag == "script" and "src" not in tags]
