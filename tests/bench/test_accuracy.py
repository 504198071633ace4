"""Hold what the page of accuracy says of what was measured."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from bench.accuracy.classifiers import Classified, instructions, person_requests, tool_failures
from bench.accuracy.loop_peer import spans_of
from bench.accuracy.page import Target
from bench.accuracy.traffic import flagged
from scorers.registry import builtin
from tests.build import agent, conversation, request, result, user


def written(path: Path, *rows: dict[str, Any]) -> Path:
    """Write rows as gzipped JSON lines."""
    with gzip.open(path, "wt", encoding="utf-8") as file:
        file.writelines(json.dumps(row) + "\n" for row in rows)
    return path


def test_shares() -> None:
    """Balanced accuracy and F1 are those of the four counts."""
    one = Classified(name="x", positive=10, negative=20, found=8, wrong=2)
    assert one.balanced_accuracy == pytest.approx((0.8 + 0.9) / 2)
    assert one.f1 == pytest.approx(16 / 20)


def test_readings(tmp_path: Path) -> None:
    """Results and requests are read by the scorers' own classifiers, and the wrong rows are named."""
    results = [
        {"id": "a", "outcome": "success", "tool": "find", "arguments": {}, "result": "Found."},
        {"id": "b", "outcome": "input_error", "tool": "find", "arguments": {}, "result": "Error: no"},
        {"id": "c", "outcome": "irrelevant", "tool": "find", "arguments": {}, "result": "Weather."},
    ]  # fmt: skip
    read = tool_failures(written(tmp_path / "results.gz", *results))
    assert (read.positive, read.negative, read.found, read.wrong) == (2, 1, 1, 0)
    assert read.misses == ("c",)
    asked = [
        {"id": "d", "text": "I want to talk to a person.", "wants_human": True},
        {"id": "e", "text": "Where is it?", "wants_human": False},
    ]
    assert person_requests(written(tmp_path / "requests.gz", *asked)).f1 == 1.0


def test_instructions(tmp_path: Path) -> None:
    """Each instruction of a row counts by its kind."""
    row = {
        "response": "Well, yes.",
        "instruction_ids": ["punctuation:no_comma", "startend:quotation"],
        "arguments": [{}, {}],
        "followed": [False, True],
    }
    found = instructions(written(tmp_path / "rows.gz", row))
    assert [(a.kind, a.rows, a.agreed) for a in found] == [
        ("punctuation:no_comma", 1, 1),
        ("startend:quotation", 1, 0),
    ]


def test_successful_conversations() -> None:
    """Only conversations that ended well count, each once for a scorer that fails in it."""
    call = [agent("", request("get", "g")), result("get", "1", "g")]
    bad = conversation(user("Cancel it."), *call, agent("I have cancelled it."))
    rows = [(bad, {"success": True}), (bad, {"success": False}), (bad, {})]
    found = {one.scorer: one for one in flagged(rows, builtin())}
    assert (found["false_success"].conversations, found["false_success"].flagged) == (1, 1)


def test_targets() -> None:
    """A target says whether it is met, in the direction that it has."""
    assert Target(text="x", wanted=0.9, found=0.9).row == ("x ≥ 0.9", "0.900", "yes")
    assert Target(text="x", wanted=0.02, found=0.03, at_most=True).row[2] == "**no**"
    assert Target(text="x", wanted=0.02, found=None).row == ("x", "not measured", "")


def test_spans_for_the_rival() -> None:
    """A conversation becomes one agent span with its model and tool calls in order."""
    talk = conversation(
        user("Go."), agent("Look.", request("get", "g", n=1)), result("get", "2", "g")
    )
    tree = spans_of(talk)
    assert [(c["type"], c["output"]) for c in tree["children"]] == [("llm", "Look."), ("tool", "2")]
    assert tree["children"][1]["input"] == {"n": 1}
