"""Measure what the scorers are made of: the reading of results, of requests and of instructions."""

from __future__ import annotations

import gzip
import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from collector.model import ToolCall
from scorers.constraints.kinds import broken, constraint
from scorers.interval import Interval, wilson
from scorers.rules.person_request import person_asked
from scorers.rules.tool_outcome import outcome_of


class Classified(msgspec.Struct, frozen=True, kw_only=True):
    """How one reading of texts did."""

    name: str
    positive: int
    """Rows that are what is looked for; the others are not."""
    negative: int
    found: int
    """Of the positive ones."""
    wrong: int
    """Of the negative ones."""
    misses: tuple[str, ...] = ()
    """Ids of the rows that were read wrongly, up to fifty."""

    @property
    def recall(self) -> Interval | None:
        """Share of the positive rows that were found."""
        return wilson(self.found, self.positive)

    @property
    def false_positive_rate(self) -> Interval | None:
        """Share of the negative rows that were taken for positive."""
        return wilson(self.wrong, self.negative)

    @property
    def balanced_accuracy(self) -> float:
        """Mean of the shares right among the positive and among the negative."""
        return (self.found / self.positive + 1 - self.wrong / self.negative) / 2

    @property
    def f1(self) -> float:
        """Harmonic mean of precision and recall."""
        return 2 * self.found / (self.positive + self.found + self.wrong)


class Agreement(msgspec.Struct, frozen=True, kw_only=True):
    """How often one kind of instruction is judged as its official checker does."""

    kind: str
    rows: int
    agreed: int


def tool_failures(path: Path) -> Classified:
    """Tell results of calls that did not bring what was wanted from those that did."""
    rows = [
        (row["id"], row["outcome"] != "success", outcome_of(_call(row)).kind != "ok")
        for row in lines(path)
    ]
    return _classified("tool result: failure", rows)


def person_requests(path: Path) -> Classified:
    """Tell messages that ask for a person from those that do not."""
    rows = [
        (row["id"], bool(row["wants_human"]), bool(person_asked(row["text"])))
        for row in lines(path)
    ]
    return _classified("request for a person", rows)


def instructions(path: Path) -> list[Agreement]:
    """Compare each kind of instruction with the verdicts of IFEval's own checker."""
    rows: Counter[str] = Counter()
    agreed: Counter[str] = Counter()
    for row in lines(path):
        asked = zip(row["instruction_ids"], row["arguments"], row["followed"], strict=True)
        for kind, arguments, followed in asked:
            rows[kind] += 1
            agreed[kind] += (broken(constraint(kind, arguments), row["response"]) == "") is followed
    return [Agreement(kind=kind, rows=rows[kind], agreed=agreed[kind]) for kind in sorted(rows)]


def lines(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the rows of a gzipped file of JSON lines."""
    with gzip.open(path, "rt", encoding="utf-8") as file:
        for line in file:
            row: dict[str, Any] = json.loads(line)
            yield row


def _call(row: dict[str, Any]) -> ToolCall:
    result = row["result"]
    text = result if isinstance(result, str) else json.dumps(result)
    return ToolCall(name=row["tool"], arguments=row["arguments"], result=text)


def _classified(name: str, rows: list[tuple[str, bool, bool]]) -> Classified:
    return Classified(
        name=name,
        positive=sum(1 for _, is_so, _ in rows if is_so),
        negative=sum(1 for _, is_so, _ in rows if not is_so),
        found=sum(1 for _, is_so, taken in rows if is_so and taken),
        wrong=sum(1 for _, is_so, taken in rows if not is_so and taken),
        misses=tuple(row for row, is_so, taken in rows if is_so != taken)[:50],
    )
