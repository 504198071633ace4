"""Measure scorers against labelled conversations."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import msgspec

from collector.model import Conversation, ScoreRecord
from scorers.auroc import auroc
from scorers.interval import Interval, wilson
from scorers.runner import Runner
from scorers.scorer import ScorerInfo

Labels: TypeAlias = Mapping[str, Any]
"""What is known of one conversation: its labels, and its ``fault`` or ``source`` as the kind."""

Reader: TypeAlias = Callable[[Path], Iterable[tuple[Conversation, Labels]]]
"""Opens a labelled file; given by the caller, so that scorers know no transcript format."""

_COLUMNS = (
    "scorer",
    "kind",
    "n",
    "recall",
    "false positives",
    "precision",
    "f1",
    "balanced",
    "auroc",
    "ms",
)
_SCORED = ("pass", "fail")
_COUNTED_AS_BAD: Mapping[str, tuple[tuple[str, bool], ...]] = {
    "false_success": (("false_success", True),),
    "looping": (("looping", True),),
    "tool_calls": (("tool_call_problem", True), ("valid", False)),
    "invented_arguments": (("invented_argument", True), ("valid", False)),
    "missed_escalation": (("missed_escalation", True),),
    "unnecessary_escalation": (("unnecessary_escalation", True),),
    "faithfulness": (("faithful", False),),
    "unneeded_call": (("unneeded_call", True),),
    "missing_call": (("missing_call", True),),
    "policy": (("policy_broken", True),),
    "instructions": (("instructions_followed", False),),
}
"""Scorer -> the labels that speak of it, and whether a true label means a fault."""


class Measure(msgspec.Struct, frozen=True, kw_only=True):
    """How one scorer did on one kind of conversation."""

    scorer: str
    kind: str
    """The fault, or the source of rows without one; ``all`` for the whole."""
    faulty: int
    """Conversations that hold the fault; the others are sound."""
    sound: int
    caught: int
    """Faulty ones that were flagged."""
    false_alarms: int
    """Sound ones that were flagged."""
    unscored: int
    """Conversations on which the scorer skipped or failed; counted as not flagged."""
    seconds: float
    recall: Interval | None
    """``None`` where nothing was faulty; so for the others."""
    false_positive_rate: Interval | None
    precision: Interval | None
    f1: float | None
    """Harmonic mean of precision and recall; ``None`` where precision is."""
    balanced_accuracy: float | None
    """Mean of recall and what is left of the false-positive rate."""
    auroc: Interval | None
    """How often a sound conversation has the higher value of a pair; ``None`` without two of each."""


class Miss(msgspec.Struct, frozen=True, kw_only=True):
    """One conversation that a scorer judged otherwise than its label."""

    scorer: str
    id: str
    kind: str
    expected: str
    """``fail`` or ``pass``."""
    verdict: str
    reason: str


class Evaluation(msgspec.Struct, frozen=True, kw_only=True):
    """Everything that was measured."""

    measures: tuple[Measure, ...]
    """Per scorer the whole first, then each kind."""
    errors: tuple[Miss, ...]

    def __add__(self, other: Evaluation) -> Evaluation:
        """Return what two evaluations measured."""
        return Evaluation(
            measures=self.measures + other.measures, errors=self.errors + other.errors
        )

    def as_dict(self) -> dict[str, Any]:
        """Return plain lists and dictionaries, for JSON."""
        found: dict[str, Any] = msgspec.to_builtins(self)
        return found

    def table(self, *, errors: bool = False) -> str:
        """Render the measures as aligned text, with the misses below when ``errors``."""
        text = _aligned([_COLUMNS, *(_row(m) for m in self.measures)])
        if errors and self.errors:
            lines = (
                f"{m.scorer}  {m.id}  {m.kind}  expected {m.expected}, got {m.verdict}: {m.reason}"
                for m in self.errors
            )
            text = "\n".join((text, "", *lines))
        return text


class Verdict(msgspec.Struct, frozen=True, kw_only=True):
    """One scorer's judgement of one labelled conversation."""

    kind: str
    faulty: bool
    flagged: bool
    value: float | None
    """The lowest of its scores; ``None`` when the scorer skipped or failed."""
    seconds: float


def evaluate(
    files: Sequence[Path],
    scorers: Sequence[ScorerInfo],
    read: Reader,
    *,
    seconds: Callable[[], float] = time.perf_counter,
) -> Evaluation:
    """Run each scorer on the conversations that are labelled for it, and compare.

    A conversation counts as flagged when any verdict of the scorer on it is ``fail``.
    """
    runners = {i.name: Runner([i], clock_ns=lambda: 0, seconds=seconds) for i in scorers}
    verdicts: dict[str, list[Verdict]] = {name: [] for name in runners}
    errors: list[Miss] = []
    for file in files:
        for conversation, labels in read(file):
            kind = str(labels.get("fault") or labels.get("source") or file.name)
            for name, runner in runners.items():
                faulty = is_faulty(name, labels)
                if faulty is None:
                    continue
                started = seconds()
                records, _ = runner.run(conversation)
                verdict = _verdict(records, kind, faulty=faulty, seconds=seconds() - started)
                verdicts[name].append(verdict)
                if verdict.flagged != faulty:
                    errors.append(_miss(name, conversation.id, verdict, records))
    return Evaluation(
        measures=tuple(
            m for name, found in verdicts.items() if found for m in measures_of(name, found)
        ),
        errors=tuple(errors),
    )


def is_faulty(scorer: str, labels: Labels) -> bool | None:
    """Say whether a conversation holds what a scorer looks for; ``None`` when it is not labelled.

    A label that names its fault (``"tool_call_problem": "wrong_type"``) counts as true.
    """
    for label, bad in _COUNTED_AS_BAD.get(scorer, ()):
        if labels.get(label) is not None:
            return bool(labels[label]) is bad
    return None


def _verdict(records: Sequence[ScoreRecord], kind: str, *, faulty: bool, seconds: float) -> Verdict:
    return Verdict(
        kind=kind,
        faulty=faulty,
        flagged=any(r.verdict == "fail" for r in records),
        value=min(
            (r.value for r in records if r.verdict in _SCORED and r.value is not None),
            default=None,
        ),
        seconds=seconds,
    )


def _miss(scorer: str, id: str, verdict: Verdict, records: Sequence[ScoreRecord]) -> Miss:
    telling = [r for r in records if r.verdict == "fail"] or list(records)
    return Miss(
        scorer=scorer,
        id=id,
        kind=verdict.kind,
        expected="fail" if verdict.faulty else "pass",
        verdict=telling[0].verdict if telling else "none",
        reason=telling[0].reason if telling else "",
    )


def measures_of(scorer: str, verdicts: Sequence[Verdict]) -> list[Measure]:
    """Measure all verdicts of a scorer together, then each kind."""
    kinds = dict.fromkeys(v.kind for v in verdicts)
    whole = _measure(scorer, "all", verdicts)
    return [whole, *(_measure(scorer, k, [v for v in verdicts if v.kind == k]) for k in kinds)]


def _measure(scorer: str, kind: str, verdicts: Sequence[Verdict]) -> Measure:
    faulty = sum(v.faulty for v in verdicts)
    sound = len(verdicts) - faulty
    caught = sum(v.faulty and v.flagged for v in verdicts)
    false_alarms = sum(v.flagged and not v.faulty for v in verdicts)
    # Precision depends on the mix of both; on one kind alone it would be 0 or 1 by construction.
    mixed = faulty and sound
    return Measure(
        scorer=scorer,
        kind=kind,
        faulty=faulty,
        sound=sound,
        caught=caught,
        false_alarms=false_alarms,
        unscored=sum(v.value is None for v in verdicts),
        seconds=sum(v.seconds for v in verdicts),
        recall=wilson(caught, faulty),
        false_positive_rate=wilson(false_alarms, sound),
        precision=wilson(caught, caught + false_alarms) if mixed else None,
        f1=2 * caught / (faulty + caught + false_alarms) if mixed else None,
        balanced_accuracy=(caught / faulty + 1 - false_alarms / sound) / 2 if mixed else None,
        auroc=auroc(
            [v.value for v in verdicts if v.faulty], [v.value for v in verdicts if not v.faulty]
        ),
    )


def _row(measure: Measure) -> tuple[str, ...]:
    n = measure.faulty + measure.sound
    shares = (measure.recall, measure.false_positive_rate, measure.precision)
    means = (measure.f1, measure.balanced_accuracy)
    return (
        measure.scorer,
        measure.kind,
        str(n),
        *map(_share, shares),
        *("-" if mean is None else f"{mean:.3f}" for mean in means),
        _share(measure.auroc),
        f"{1_000 * measure.seconds / n:.2f}",
    )


def _share(interval: Interval | None) -> str:
    if interval is None:
        return "-"
    return f"{interval.value:.3f} ({interval.low:.3f}-{interval.high:.3f})"


def _aligned(rows: Sequence[Sequence[str]]) -> str:
    widths = [max(len(cell) for cell in column) for column in zip(*rows, strict=True)]
    lines = ("  ".join(c.ljust(w) for c, w in zip(row, widths, strict=True)) for row in rows)
    return "\n".join(line.rstrip() for line in lines)
