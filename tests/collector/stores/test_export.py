"""Test what an export says, on the embedded engine and over HTTP."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import msgspec

from collector.model import Evidence
from collector.stores.clickhouse import ClickHouseStore
from collector.stores.export import export
from collector.stores.rows import rows_of
from tests.collector.stores.episodes import SECOND, START_NS, decided, score


def plain(value: Any) -> Any:
    """Send a record through JSON."""
    return msgspec.json.decode(msgspec.json.encode(value))


def test_a_conversation_carries_all_that_was_said(store: ClickHouseStore) -> None:
    """Messages, model calls and tool calls come back as they went in."""
    episode = decided()
    store.insert(rows_of(episode))
    [line] = export(store, "conversations")
    conversation = episode.conversation
    assert line["messages"] == plain(conversation.messages)
    assert line["tools"] == plain(conversation.tools)
    assert line["documents"] == plain(conversation.documents)
    assert line["system_prompt"] == "You help with parcels."
    [call] = line["tool_calls"]
    assert (call["id"], call["name"]) == ("call_track", "track")
    assert call["arguments"] == {"parcel": "P-9", "tags": ["é", None], "deep": {"a": 1.5}}
    assert (call["result"], call["is_error"]) == ('{"state":"in \\"transit\\""}', False)
    assert (call["asked_at"], call["answered_at"], call["latency_s"]) == (1, 2, None)
    first, second = line["llm_calls"]
    assert first["tokens"] == plain(conversation.llm_calls[0].usage)
    assert (first["model"], first["provider"], first["cost_usd"]) == ("small-1", "anthropic", 0.002)
    assert (first["latency_s"], first["response_id"]) == (0.25, "msg_1")
    assert (first["finish_reason"], first["span_ids"]) == ("tool_call", ["a" * 16, "b" * 16])
    assert second["latency_s"] is None


def test_a_conversation_carries_who_and_when(store: ClickHouseStore) -> None:
    """Identity, episode and sampling come back."""
    store.insert(rows_of(decided()))
    [line] = export(store, "conversations")
    assert (line["conversation_id"], line["episode"], line["revision"]) == ("conv-1", 1, 0)
    assert line["identity"] == {
        "agent": "shop",
        "agent_version": "v7",
        "environment": "prod",
        "variant": "production",
        "tenant": "acme",
        "pair_id": "",
        "user_hash": "u1",
    }
    assert (line["started_ns"], line["ended_ns"]) == (START_NS, START_NS + SECOND)
    assert line["sampling"] == {"kept": True, "probability": 1.0, "rule": "hash"}
    assert line["trace_ids"] == ["1" * 32]


def test_a_dropped_conversation_has_a_head_only(store: ClickHouseStore) -> None:
    """What was not kept is exported without content, and says how likely it was."""
    store.insert(rows_of(decided(kept=False)))
    [line] = export(store, "conversations")
    assert (line["messages"], line["llm_calls"], line["tool_calls"]) == ([], [], [])
    assert line["sampling"]["probability"] == 0.25
    assert line["message_count"] == 4


def test_a_score_line_begins_as_the_offline_one(store: ClickHouseStore) -> None:
    """The first keys are those of an offline score line, with the same values."""
    store.insert(rows_of(decided()))
    [line] = export(store, "scores")
    assert dict(list(line.items())[:10]) == {
        "conversation_id": "conv-1",
        "episode": 1,
        "scorer": "looping",
        "scorer_version": "1",
        "level": "conversation",
        "target": "",
        "value": 1.0,
        "verdict": "pass",
        "reason": "No call was repeated.",
        "evidence": plain((Evidence(message=3, quote="It is in transit."),)),
    }
    assert isinstance(line["value"], float)


def test_a_skip_has_no_value(store: ClickHouseStore) -> None:
    """A skip is exported with a null value, never a number."""
    store.insert(rows_of(decided(scores=(score(verdict="skip", value=None),))))
    [line] = export(store, "scores")
    assert (line["verdict"], line["value"]) == ("skip", None)


def test_pages_neither_lose_nor_repeat(store: ClickHouseStore) -> None:
    """Whatever the page size, every episode comes once and in order, also after a resend."""
    expected, rows = [], defaultdict[str, list[Any]](list)
    for number, name in enumerate(("b", "a", "a\x01", "ä", "z" * 300, "0'\\")):
        for episode in (1, 2, 3):
            made = rows_of(decided(name, number=episode, sequence=10 * number + episode))
            for table, built in made.items():
                rows[table].extend(built)
            expected.append((name, episode))
    store.insert(rows)
    store.insert({table: built[::2] for table, built in rows.items()})
    expected.sort(key=lambda key: (key[0].encode(), key[1]))
    for page in (4, 100):
        for what in ("conversations", "scores", "decisions"):
            lines = export(store, what, page=page)
            assert [(line["conversation_id"], line["episode"]) for line in lines] == expected
        sequences = [line["sequence"] for line in export(store, "observations", page=page)]
        assert sequences == sorted(10 * n + e for n in range(6) for e in (1, 2, 3))


def test_only_the_current_revision_is_exported(store: ClickHouseStore) -> None:
    """A revision replaces the head, its tool calls, its scores and its ledger row."""
    first = (score("policy", target="a"), score("policy", target="b"), score("looping"))
    store.insert(rows_of(decided(scores=first)))
    revised = (score("policy", target="a", revision=1), score("looping", revision=1))
    store.insert(rows_of(decided(scores=revised, revision=1)))
    [conversation] = export(store, "conversations")
    assert conversation["revision"] == 1
    assert len(conversation["tool_calls"]) == 1
    assert [(s["scorer"], s["target"], s["revision"]) for s in export(store, "scores")] == [
        ("looping", "", 1),
        ("policy", "a", 1),
    ]
    assert [d["revision"] for d in export(store, "decisions")] == [1]


def test_turn_targets_are_in_counting_order(store: ClickHouseStore) -> None:
    """Turn 10 comes after turn 9."""
    turns = tuple(score("faithfulness", target=str(turn)) for turn in range(12))
    store.insert(rows_of(decided(scores=turns)))
    assert [line["target"] for line in export(store, "scores")] == [str(t) for t in range(12)]


def test_an_empty_store_exports_nothing(store: ClickHouseStore) -> None:
    """Nothing stored, no lines."""
    for what in ("conversations", "scores", "decisions", "observations"):
        assert list(export(store, what)) == []
