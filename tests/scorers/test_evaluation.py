"""Hold how scorers are measured against labels."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from collector.model import Conversation
from scorers.evaluation import Evaluation, evaluate, is_faulty
from scorers.result import Score, ScorerResult, Skip
from scorers.scorer import scorer
from tests.build import agent, conversation, user


@scorer(level="conversation", version="1")
def looping(conversation: Conversation) -> ScorerResult:
    """Stand in for the real scorer: flag what says "again", skip what says nothing."""
    text = conversation.messages[-1].text
    if not text:
        return Skip(reason="no_content")
    bad = "again" in text
    return Score(value=float(not bad), verdict="fail" if bad else "pass", reason=f"said {text}")


def measured(*rows: tuple[str, dict[str, Any]]) -> Evaluation:
    """Evaluate the stand-in on conversations given by the agent's words and the labels."""

    def read(path: Path) -> Iterator[tuple[Conversation, dict[str, Any]]]:
        for number, (text, labels) in enumerate(rows):
            yield conversation(user("Hi"), agent(text), id=f"c{number}"), labels

    ticks = iter(range(1_000_000))
    return evaluate([Path("x.jsonl")], [looping], read, seconds=lambda: float(next(ticks)))


def test_recall_false_positives_and_precision() -> None:
    """The whole and each kind count what was caught and what was flagged wrongly."""
    evaluation = measured(
        ("again", {"looping": True, "fault": "same"}),
        ("fine", {"looping": True, "fault": "same"}),
        ("again", {"looping": False, "fault": "control"}),
        ("fine", {"looping": False, "fault": "control"}),
        ("fine", {"looping": False, "fault": "control"}),
    )
    whole, same, control = evaluation.measures
    assert (whole.kind, whole.caught, whole.faulty, whole.false_alarms, whole.sound) == (
        "all",
        1,
        2,
        1,
        3,
    )
    assert whole.precision is not None
    assert whole.precision.value == 0.5
    assert whole.f1 == 0.5
    assert whole.balanced_accuracy == pytest.approx((1 / 2 + 2 / 3) / 2)
    assert (same.kind, control.kind) == ("same", "control")
    assert same.false_positive_rate is None
    assert same.precision is None
    assert same.f1 is None
    assert control.recall is None


def test_values_are_ranked_where_there_are_two_of_each() -> None:
    """A kind of one sort only has no rank, and a skip is worth a coin."""
    whole, fault, _ = measured(
        ("again", {"looping": True, "fault": "same"}),
        ("", {"looping": True, "fault": "same"}),
        ("fine", {"looping": False, "fault": "control"}),
        ("fine", {"looping": False, "fault": "control"}),
    ).measures
    assert whole.auroc is not None
    assert whole.auroc.value == 0.75
    assert fault.auroc is None


def test_errors_name_the_conversation() -> None:
    """Each disagreement is listed with its id, what was expected, the verdict and the reason."""
    evaluation = measured(
        ("fine", {"looping": True, "fault": "same"}),
        ("again", {"looping": False}),
        ("", {"looping": True}),
    )
    told = [(m.id, m.kind, m.expected, m.verdict, m.reason) for m in evaluation.errors]
    assert told[0] == ("c0", "same", "fail", "pass", "said fine")
    assert told[1] == ("c1", "x.jsonl", "pass", "fail", "said again")
    assert told[2][:4] == ("c2", "x.jsonl", "fail", "skip")
    assert evaluation.measures[0].unscored == 1


def test_unlabelled_conversations_are_left_out() -> None:
    """A scorer is measured only where a label speaks of it."""
    assert measured(("again", {"success": True})).measures == ()


@pytest.mark.parametrize(
    ("scorer", "labels", "expected"),
    [
        ("tool_calls", {"tool_call_problem": "wrong_type"}, True),
        ("tool_calls", {"valid": True}, False),
        ("tool_calls", {"invented_argument": True}, None),
        ("invented_arguments", {"invented_argument": True}, True),
        ("invented_arguments", {"valid": True}, False),
        ("faithfulness", {"faithful": False}, True),
        ("faithfulness", {"faithful": True}, False),
        ("missed_escalation", {"missed_escalation": False}, False),
        ("ignored_tool_error", {"looping": True}, None),
    ],
)
def test_which_label_speaks_of_which_scorer(
    scorer: str, labels: dict[str, Any], expected: bool | None
) -> None:
    """A label counts for its own scorer only, in the sense it has there."""
    assert is_faulty(scorer, labels) is expected


def test_the_forms_of_a_report() -> None:
    """The table aligns one line per measure, misses on demand; the dictionary is JSON."""
    evaluation = measured(
        ("again", {"looping": True, "fault": "same"}), ("again", {"looping": False})
    )
    lines = evaluation.table().splitlines()
    assert lines[0].split() == [
        "scorer",
        "kind",
        "n",
        "recall",
        "false",
        "positives",
        "precision",
        "f1",
        "balanced",
        "auroc",
        "ms",
    ]
    assert len(lines) == 4
    assert "1.000 (0.207-1.000)" in lines[1]
    assert "c1" in evaluation.table(errors=True)
    assert json.loads(json.dumps(evaluation.as_dict()))["measures"][0]["scorer"] == "looping"
