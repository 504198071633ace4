"""Measure what scorers are made of: the reading of single tool results and of single messages."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeAlias

import msgspec

from collector.model import ToolCall
from scorers.evaluation import Evaluation, Miss, Verdict, measures_of
from scorers.rules.person_request import person_asked
from scorers.rules.tool_outcome import outcome_of

Row: TypeAlias = Mapping[str, Any]

_SUCCESS = "success"


class Classifier(msgspec.Struct, frozen=True, kw_only=True):
    """A reading of one text, and where rows tell the truth about it."""

    name: str
    fields: frozenset[str]
    """A row with all of them is labelled for it."""
    faulty: Callable[[Row], bool]
    """Whether the label says that the row is what is looked for."""
    flagged: Callable[[Row], str]
    """The words by which the row was taken for it; empty when it was not."""
    kind: Callable[[Row], str]


def classifier_of(row: Row) -> Classifier | None:
    """Return the classifier that a row is labelled for; ``None`` for a transcript."""
    found = (one for one in CLASSIFIERS if one.fields <= row.keys() and "messages" not in row)
    return next(found, None)


def evaluate_rows(
    rows: Iterable[Row], *, seconds: Callable[[], float] = time.perf_counter
) -> Evaluation:
    """Let each row's classifier read it, and compare with its label; other rows do not count."""
    verdicts: dict[str, list[Verdict]] = {}
    errors = []
    for row in rows:
        classifier = classifier_of(row)
        if classifier is None:
            continue
        started = seconds()
        words = classifier.flagged(row)
        verdict = Verdict(
            kind=classifier.kind(row),
            faulty=classifier.faulty(row),
            flagged=bool(words),
            value=0.0 if words else 1.0,
            seconds=seconds() - started,
        )
        verdicts.setdefault(classifier.name, []).append(verdict)
        if verdict.flagged != verdict.faulty:
            errors.append(_miss(classifier, row, verdict, words))
    measures = (m for name, found in verdicts.items() for m in measures_of(name, found))
    return Evaluation(measures=tuple(measures), errors=tuple(errors))


def _miss(classifier: Classifier, row: Row, verdict: Verdict, words: str) -> Miss:
    return Miss(
        scorer=classifier.name,
        id=str(row.get("id", "")),
        kind=verdict.kind,
        expected="fail" if verdict.faulty else "pass",
        verdict="fail" if verdict.flagged else "pass",
        reason=words,
    )


def _failure(row: Row) -> str:
    result = row["result"]
    text = result if isinstance(result, str) else json.dumps(result)
    call = ToolCall(name=str(row.get("tool", "")), arguments=row.get("arguments"), result=text)
    outcome = outcome_of(call)
    return "" if outcome.kind == "ok" else f"{outcome.kind}: {outcome.quote}"


CLASSIFIERS = (
    Classifier(
        name="tool_outcome",
        fields=frozenset(("result", "outcome")),
        faulty=lambda row: row["outcome"] != _SUCCESS,
        flagged=_failure,
        kind=lambda row: str(row["outcome"]),
    ),
    Classifier(
        name="person_request",
        fields=frozenset(("text", "wants_human")),
        faulty=lambda row: bool(row["wants_human"]),
        flagged=lambda row: person_asked(str(row["text"])),
        kind=lambda row: str(row.get("source") or "rows"),
    ),
)
"""``tool_outcome`` looks for results that did not bring what was wanted, ``person_request`` for
messages that ask for a person."""
