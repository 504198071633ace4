"""Test the rows of decided episodes."""

from __future__ import annotations

from typing import Any

import msgspec

from collector.model import ToolCall
from collector.stores.rows import rows_of
from collector.stores.tables import TABLES
from tests.collector.stores.episodes import decided, score, through_outbox


def columns(table: str, row: Any) -> dict[str, Any]:
    """Name the values of a row."""
    return dict(zip(TABLES[table], row, strict=True))


def test_every_row_has_every_column() -> None:
    """Rows are as wide as their tables."""
    rows = rows_of(decided())
    assert set(rows) == {
        "turns",
        "tool_calls",
        "scores",
        "decisions",
        "observations",
        "conversations",
    }
    for table, lines in rows.items():
        for line in lines:
            assert len(line) == len(TABLES[table])


def test_the_head_sums_the_model_calls() -> None:
    """Tokens and cost are the sum over model calls, models are named once."""
    head = columns("conversations", rows_of(decided())["conversations"][0])
    assert (head["input_tokens"], head["output_tokens"], head["cache_read_tokens"]) == (
        130,
        35,
        100,
    )
    assert (head["cost_usd"], head["models"], head["providers"]) == (
        0.002,
        ["small-1"],
        ["anthropic"],
    )
    assert (head["message_count"], head["turn_count"], head["tool_call_count"]) == (4, 1, 1)


def test_a_dropped_episode_keeps_its_head_and_verdicts_only() -> None:
    """Content, turns and tool calls are written only when kept."""
    rows = rows_of(decided(kept=False))
    assert set(rows) == {"scores", "decisions", "observations", "conversations"}
    head = columns("conversations", rows["conversations"][0])
    assert (head["kept"], head["probability"]) == (False, 0.25)
    content = ("system_prompt", "tools", "messages", "llm_calls", "documents")
    assert [head[name] for name in content] == [""] * 5


def test_failing_scorers_are_named_in_the_head() -> None:
    """The head lists each scorer with a failing verdict once."""
    bad = score("policy", verdict="fail", value=0.0, target="a")
    rows = rows_of(decided(scores=(score(), bad, bad)))
    assert columns("conversations", rows["conversations"][0])["failed_scorers"] == ["policy"]


def test_rows_survive_the_outbox() -> None:
    """After MessagePack the rows are the same, with lists for tuples."""
    rows = rows_of(decided())
    assert msgspec.json.encode(through_outbox(rows)) == msgspec.json.encode(rows)


def test_arguments_that_only_python_can_hold_are_written() -> None:
    """Numbers over 64 bits and lone surrogates in arguments do not break the row."""
    episode = decided()
    call = ToolCall(name="t", arguments={"n": 2**80, "s": "\ud800"})
    odd = msgspec.structs.replace(
        episode, conversation=msgspec.structs.replace(episode.conversation, tool_calls=(call,))
    )
    text = columns("tool_calls", rows_of(odd)["tool_calls"][0])["arguments"]
    assert text == '{"n": 1208925819614629174706176, "s": "\\ud800"}'
