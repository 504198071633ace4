"""Test the page of the ledger."""

from __future__ import annotations

from typing import Any

import msgspec

from collector.model import Decided, DecisionRecord
from collector.stores.clickhouse import ClickHouseStore
from tests.alerts.console.front import Front, episode, fill, verdict
from tests.collector.stores.episodes import START_NS


def decided_by(whole: Decided, **decisions: tuple[Any, str]) -> Decided:
    """Give an episode the ledger rows of some scorers."""
    return msgspec.structs.replace(
        whole,
        decisions=tuple(
            DecisionRecord(
                conversation_id=whole.conversation.id,
                episode=1,
                scorer=scorer,
                scorer_version="1",
                decision=decision,
                reason=reason,
                targets=int(decision == "scored"),
                decided_ns=START_NS,
            )
            for scorer, (decision, reason) in decisions.items()
        ),
    )


def test_it_adds_up(store: ClickHouseStore) -> None:
    """Every scorer accounts for every conversation, by decision, reason and version."""
    fill(
        store,
        decided_by(episode("a"), looping=("scored", ""), tool_calls=("skipped", "no_tool_calls")),
        decided_by(
            episode("b", version="v8"), looping=("failed", "KeyError"), tool_calls=("scored", "")
        ),
        decided_by(
            episode("c"), looping=("skipped", "no_results"), tool_calls=("skipped", "no_schema")
        ),
    )
    front = Front(store)

    found = front.json("/v1/ledger")
    assert (found["episodes"], found["rows"], found["adds_up"]) == (3, 6, True)
    looping, calls = found["scorers"]
    assert looping["decisions"] == {"scored": 1, "failed": 1, "skipped": 1}
    assert sum(count["episodes"] for count in calls["counts"]) == calls["episodes"] == 3
    assert {
        "agent_version": "v8",
        "decision": "failed",
        "reason": "KeyError",
        "episodes": 1,
    } in looping["counts"]
    page = front.page("/ledger")
    assert "It adds up: 2 scorers \u00d7 3 conversations = 6 rows." in page.text
    assert "no_schema" in page.text


def test_it_does_not_add_up(store: ClickHouseStore) -> None:
    """Conversations without a row of a scorer are counted, and the page says why that may be."""
    fill(
        store,
        decided_by(episode("a"), looping=("scored", "")),
        decided_by(episode("b"), looping=("scored", ""), later=("scored", "")),
    )
    found = Front(store).json("/v1/ledger")

    assert found["adds_up"] is False
    assert {account["scorer"]: account["absent"] for account in found["scorers"]} == {
        "later": 1,
        "looping": 0,
    }
    assert "3 rows for 2 conversations" in Front(store).page("/ledger").text


def test_a_revision_replaces(store: ClickHouseStore) -> None:
    """A conversation that was decided again has one row, the newest."""
    fill(
        store,
        decided_by(episode("a"), looping=("skipped", "no_results")),
        decided_by(episode("a", verdict("a", revision=1), revision=1), looping=("scored", "")),
    )
    front = Front(store)

    assert front.json("/v1/ledger")["scorers"][0]["decisions"] == {"scored": 1}
    (row,) = front.json("/v1/ledger?id=a")["decisions"]
    assert (row["decision"], row["revision"]) == ("scored", 1)


def test_one_conversation(store: ClickHouseStore) -> None:
    """For one conversation the page says why each scorer did or did not score it."""
    fill(
        store,
        decided_by(
            episode("a b/c"), looping=("scored", ""), tool_calls=("skipped", "no_tool_calls")
        ),
        decided_by(episode("other"), looping=("failed", "KeyError")),
    )
    front = Front(store)

    page = front.page("/ledger?id=a+b/c")
    assert "no_tool_calls" in page.text
    assert "1 verdict" in page.text
    assert "/conversations/a%20b%2Fc%2F1" in page.links()
    assert "never arrived" in front.page("/ledger?id=unknown").text


def test_filters(store: ClickHouseStore) -> None:
    """The account is taken of a version, an agent or a time range."""
    fill(
        store,
        decided_by(episode("a"), looping=("scored", "")),
        decided_by(episode("b", version="v8", at_s=7_000), looping=("scored", "")),
    )
    front = Front(store)

    assert front.json("/v1/ledger?version=v8")["episodes"] == 1
    assert front.json("/v1/ledger?range=1h")["episodes"] == 1
    assert front.json("/v1/ledger?agent=nobody")["episodes"] == 0
    assert "is empty for these filters" in front.page("/ledger?agent=nobody").text
