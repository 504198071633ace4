"""What was recorded scores the same, read from its file or replayed."""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from typing import Any

import pytest

from collector.config import Config
from collector.model import Conversation
from collector.otlp import parse
from collector.otlp_transcripts import Recording
from collector.replay import plan
from collector.transcripts import read
from scorers.registry import configured
from scorers.runner import Runner

FAILED = "error: no such file"


def session() -> list[Any]:
    """Build a session whose agent goes in circles, as does its sub-agent, and lies."""
    rows: list[Any] = [_row("user", "u", "Delete the draft. I want to talk to a real person!")]
    for number in range(6):
        for side in ({}, {"isSidechain": True, "agentId": "ag1"}):
            id = f"t{number}{len(side)}"  # noqa: A001 - a call's id
            use = {"type": "tool_use", "id": id, "name": "Bash", "input": {"command": "rm x"}}
            answer = {"type": "tool_result", "tool_use_id": id, "content": FAILED, "is_error": True}
            rows.append(_row("assistant", f"a{id}", [use], **side))
            rows.append(_row("user", f"u{id}", [answer], **side))
    return [*rows, _row("assistant", "z", [{"type": "text", "text": "I have deleted the draft."}])]


def _row(kind: str, uuid: str, content: Any, **more: Any) -> Any:
    said = {"role": kind, "content": content, "model": "m-1", "id": uuid}
    return {"type": kind, "sessionId": "s-1", "uuid": uuid, "message": said} | more


def trace() -> list[Any]:
    """Build a Langfuse trace with a retrieval, a call that a span alone tells of, and an answer."""
    shared = {"traceId": "t-1", "sessionId": "s-2", "startTime": "2026-03-01T10:00:00Z"}
    rows: list[Any] = [
        {
            "type": "RETRIEVER",
            "input": "warranty",
            "output": [{"content": "The warranty lasts two years."}],
        },
        {"type": "TOOL", "name": "get_order", "input": {"order": "A-1"}, "output": "shipped"},
        {
            "type": "GENERATION",
            "input": [{"role": "user", "content": "How long is the warranty?"}],
            "output": {"role": "assistant", "content": "The warranty lasts three years."},
        },
    ]
    return [{**shared, "id": str(n), **row} for n, row in enumerate(rows)]


def scored(conversations: list[Conversation]) -> list[Any]:
    """Return every verdict with its reason and evidence, but for the ids of spans."""
    seconds = itertools.count().__next__
    runner = Runner(configured(Config().scorers), clock_ns=lambda: 0, seconds=seconds)
    return [
        (
            s.conversation_id,
            *(s.scorer, s.level, s.target, s.value, s.verdict, s.reason),
            *((e.message, e.tool_call_id, e.quote) for e in s.evidence),
        )
        for conversation in conversations
        for s in runner.run(conversation)[0]
    ]


@pytest.mark.parametrize("rows", [session(), trace()])
@pytest.mark.parametrize("strip_ids", [False, True])
def test_a_replay_scores_alike(rows: Any, strip_ids: bool, tmp_path: Path) -> None:
    """The verdicts of a file and of its replay are the same."""
    path = tmp_path / "a.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)))
    recorded = list(read(path))
    clock = itertools.count(10**18, 10**9).__next__
    replayed = Recording()
    for sent in plan(recorded, clock=clock, seed="a", strip_ids=strip_ids):
        replayed.add(parse("traces", "proto", sent.body).spans(), size=len(sent.body))
    want, got = scored(recorded), scored(list(replayed.conversations()))
    assert any(verdict[5] == "fail" for verdict in want)
    skipped = 1 if strip_ids else 0
    assert [v[skipped:] for v in got] == [v[skipped:] for v in want]
