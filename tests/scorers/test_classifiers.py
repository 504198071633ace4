"""Hold how single results and messages are measured."""

from __future__ import annotations

from typing import Any

import pytest

from scorers.classifiers import classifier_of, evaluate_rows

RESULTS: list[dict[str, Any]] = [
    {"id": "a", "tool": "find", "arguments": {}, "result": "Found it.", "outcome": "success"},
    {"id": "b", "tool": "find", "result": {"error": "no such id"}, "outcome": "input_error"},
    {"id": "c", "tool": "find", "result": "Rain tomorrow.", "outcome": "irrelevant"},
    {"id": "d", "tool": "find", "result": "Error: timeout", "outcome": "success"},
]
MESSAGES: list[dict[str, Any]] = [
    {"id": "e", "text": "I want to talk to a person.", "wants_human": True},
    {"id": "f", "text": "Where is it?", "wants_human": False},
]


def test_results_and_messages_are_measured_apart() -> None:
    """Each row counts for the classifier it is labelled for, under its kind."""
    found = evaluate_rows([*RESULTS, *MESSAGES])
    whole = {m.scorer: m for m in found.measures if m.kind == "all"}
    results, requests = whole["tool_outcome"], whole["person_request"]
    assert (results.faulty, results.sound, results.caught, results.false_alarms) == (2, 2, 1, 1)
    assert results.balanced_accuracy == 0.5
    assert requests.f1 == 1
    kinds = {m.kind for m in found.measures if m.scorer == "tool_outcome"}
    assert kinds == {"all", "success", "input_error", "irrelevant"}


def test_misses_are_named_with_the_words() -> None:
    """What was read otherwise than its label is listed."""
    errors = evaluate_rows(RESULTS).errors
    told = [(m.id, m.expected, m.verdict) for m in errors]
    assert told == [("c", "fail", "pass"), ("d", "pass", "fail")]
    assert "timeout" in errors[1].reason


@pytest.mark.parametrize(
    "row",
    [
        {"messages": [], "result": "x", "outcome": "success"},
        {"result": "x"},
        {"id": "1", "labels": {"looping": True}},
    ],
)
def test_other_rows_are_no_texts(row: dict[str, object]) -> None:
    """A transcript or a row without the label is not measured here."""
    assert classifier_of(row) is None
    assert evaluate_rows([row]).measures == ()
