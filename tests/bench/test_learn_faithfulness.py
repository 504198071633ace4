"""Hold how the weights of faithfulness are learned."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from bench.learn_faithfulness import FREE, HeldOut, answers_of, held_out, learn, limit_of

TOWNS = ("Arvik", "Brenna", "Corso", "Delve", "Esker", "Fenwick")


def rows(source: str) -> list[dict[str, object]]:
    """Write invented answers: a right one and one with another number for each town."""
    found: list[dict[str, object]] = []
    for n, town in enumerate(TOWNS):
        context = f"{town} has {n + 3}17 houses and a mill. A river runs through it."
        for right in (True, False):
            houses = f"{n + 3}17" if right else f"{n + 4}58"
            answer = f"{town} has {houses} houses and a mill."
            row = {"id": f"{source}-{n}-{right}", "source": source, "question": "What is there?"}
            found.append({**row, "context": context, "answer": answer, "faithful": right})
    return found


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Write two sources."""
    file = tmp_path / "answers.jsonl"
    file.write_text("\n".join(map(json.dumps, rows("one") + rows("two"))))
    return file


def test_answers_carry_their_signs(path: Path) -> None:
    """Each row becomes an answer with the signs of its statements."""
    answers = answers_of(path)
    assert len(answers) == 24
    assert {answer.source for answer in answers} == {"one", "two"}
    assert [a.signs[0]["number"] for a in answers[:2]] == [0, 1]


def test_what_tells_the_wrong_answers_gets_weight(path: Path) -> None:
    """The sign of a wrong number weighs, and none that speaks against an answer helps it."""
    weights = learn(answers_of(path)).weights
    assert weights["number"] > 0
    assert all(weight >= 0 for name, weight in weights.items() if name not in FREE)


def test_each_source_is_measured_by_the_others(path: Path) -> None:
    """Weights from one source tell the wrong answers of the other."""
    found = held_out(answers_of(path))
    assert [one.source for one in found] == ["one", "two"]
    for one in found:
        assert one.auroc is not None
        assert one.auroc.value == 1
        assert (one.caught, one.flagged) == (len(TOWNS), 0)


def test_an_answer_without_claims_is_not_flagged() -> None:
    """It has no load, and is a coin in the ranking."""
    one = HeldOut(source="x", faithful=(None, None), unfaithful=(3.0, 4.0), flagged=0, caught=2)
    assert one.auroc is not None
    assert one.auroc.value == 0.5
    assert limit_of([None, 1.0, 2.0]) == 2.0
