"""Write what was measured of the scorers as docs/accuracy.md."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from bench.accuracy.instructions import Agreement
from bench.accuracy.loop_peer import Rival
from bench.accuracy.traffic import Flagged
from bench.accuracy.wrong_labels import WRONG
from bench.learn_faithfulness import HeldOut
from collector.commands.markdown import table
from scorers.evaluation import Evaluation, Measure, Miss
from scorers.interval import Interval, wilson

FAITHFULNESS = "faithfulness"


class Measured(msgspec.Struct, frozen=True, kw_only=True):
    """Everything that stands on the page."""

    evaluation: Evaluation
    held_out: tuple[HeldOut, ...]
    """``faithfulness`` on each source of answers, with weights learned from the others."""
    flagged: tuple[Flagged, ...]
    readings: Evaluation
    """Of single tool results and single messages."""
    agreement: tuple[Agreement, ...]
    rivals: tuple[Rival, ...]
    milliseconds: float
    """Processor time of all scorers on one conversation, the mean."""
    conversations: int
    problems: tuple[str, ...]


class Target(msgspec.Struct, frozen=True, kw_only=True):
    """A figure that a scorer should reach."""

    text: str
    wanted: float
    found: float | None
    at_most: bool = False

    @property
    def row(self) -> tuple[str, str, str]:
        """The row of the table: the target, the figure, whether it is met."""
        if self.found is None:
            return self.text, "not measured", ""
        met = self.found <= self.wanted if self.at_most else self.found >= self.wanted
        sign = "≤" if self.at_most else "≥"
        return (
            f"{self.text} {sign} {self.wanted:g}",
            f"{self.found:.3f}",
            "yes" if met else "**no**",
        )


def page(measured: Measured, *, date: str, command: str) -> str:
    """Return the whole document."""
    parts = [
        _HEAD.format(date=date, command=command),
        "## Targets\n\n" + table(("target", "measured", "met"), [t.row for t in targets(measured)]),
        _faults(measured.evaluation),
        _answers(measured.evaluation, measured.held_out),
        _traffic(measured),
        _readings(measured.readings),
        _instructions(measured.agreement),
        _misjudged(measured.evaluation.errors),
    ]
    if measured.rivals:
        parts.append(_rivals(measured))
    if measured.problems:
        parts.append(
            "## What could not be measured\n\n"
            + "\n".join(f"- {p}" for p in measured.problems)
            + "\n"
        )
    return "\n".join(parts)


_HEAD = """\
# How well the scorers do

Measured on {date} with `{command}` on labelled conversations that are not part of this repository: agents of the
tau-bench, tau2-bench and AgentDojo benchmarks, faults planted into them, and sets of answers with their sources. Write the
same page for your own rows with `outrider evaluate` ([labels](transcripts.md#labels)). Intervals are 95 %: Wilson's for
shares, DeLong's for AUROC. The sets hold few words for many kinds of traffic; expect less on yours, and measure it.
"""


def targets(measured: Measured) -> list[Target]:
    """Return what is aimed at, with what was reached; rows whose label is wrong are left out."""
    found = measured.evaluation
    flagged = {one.scorer: one for one in measured.flagged}
    ranks = [one.auroc.value for one in measured.held_out if one.auroc is not None]
    answers = sum(len(one.faithful) for one in measured.held_out)
    alarms = sum(one.flagged for one in measured.held_out)
    failures = _whole(measured.readings, "tool_outcome")
    requests = _whole(measured.readings, "person_request")
    return [
        *_pair(found, "false_success", 0.93, 0.02),
        Target(text="`false_success`, recall of each kind", wanted=0.90, found=_weakest(found, "false_success")),
        _successful("false_success", flagged, 0.02),
        *_pair(found, "looping", 0.98, 0.01),
        Target(text="`looping`, recall of each kind", wanted=0.95, found=_weakest(found, "looping")),
        _successful("looping", flagged, 0.02),
        *_pair(found, "tool_calls", 1.0, 0.0),
        *_pair(found, "invented_arguments", 0.95, 0.02),
        Target(
            text="`invented_arguments`, calls of successful conversations that fail",
            wanted=0.02,
            found=_value(flagged["invented_arguments"].share_of_targets),
            at_most=True,
        ),
        *_pair(found, "missed_escalation", 0.90, 0.03),
        *_pair(found, "unnecessary_escalation", 0.95, 0.05),
        Target(text="requests for a person, F1", wanted=0.95, found=requests.f1),
        Target(text="tool result failures, balanced accuracy", wanted=0.90, found=failures.balanced_accuracy),
        Target(text="`faithfulness`, mean AUROC of the sources", wanted=0.75, found=sum(ranks) / len(ranks) if ranks else None),
        Target(text="`faithfulness`, AUROC of each source", wanted=0.52, found=min(ranks, default=None)),
        Target(
            text="`faithfulness`, faithful answers that fail",
            wanted=0.05,
            found=alarms / answers if answers else None,
            at_most=True,
        ),
        Target(text="all scorers on one conversation, milliseconds", wanted=1.0, found=measured.milliseconds, at_most=True),
    ]  # fmt: skip


def _pair(found: Evaluation, scorer: str, recall: float, wrong: float) -> list[Target]:
    caught, faulty, false, sound = _without_wrong_labels(found, scorer)
    return [
        Target(
            text=f"`{scorer}`, recall", wanted=recall, found=caught / faulty if faulty else None
        ),
        Target(
            text=f"`{scorer}`, false positives",
            wanted=wrong,
            found=false / sound if sound else None,
            at_most=True,
        ),
    ]


def _without_wrong_labels(found: Evaluation, scorer: str) -> tuple[int, int, int, int]:
    """Return caught, faulty, false alarms and sound rows, those with a wrong label left out."""
    whole = _whole(found, scorer)
    misses = [one for one in found.errors if one.scorer == scorer and (scorer, one.id) in WRONG]
    false = sum(1 for one in misses if one.expected == "pass")
    missed = len(misses) - false
    return whole.caught, whole.faulty - missed, whole.false_alarms - false, whole.sound - false


def _whole(found: Evaluation, scorer: str) -> Measure:
    return next(m for m in found.measures if m.scorer == scorer and m.kind == "all")


def _weakest(found: Evaluation, scorer: str) -> float | None:
    kinds = (m.recall for m in found.measures if m.scorer == scorer and m.kind != "all")
    return min((one.value for one in kinds if one is not None), default=None)


def _successful(scorer: str, flagged: dict[str, Flagged], most: float) -> Target:
    text = f"`{scorer}`, successful conversations that fail"
    return Target(text=text, wanted=most, found=_value(flagged[scorer].share), at_most=True)


def _value(interval: Interval | None) -> float | None:
    return None if interval is None else interval.value


def _faults(found: Evaluation) -> str:
    rows = [_row(m) for m in found.measures if m.scorer != FAITHFULNESS]
    columns = ("scorer", "kind", "rows", "recall", "false positives", "precision", "ms")
    return (
        "## Planted faults\n\nEach kind of fault, and rows that only look like it (`hard_…`) or were left"
        " as they were (`control_…`), with their labels as they came.\n\n" + table(columns, rows)
    )


def _row(m: Measure) -> tuple[str, ...]:
    n = m.faulty + m.sound
    shares = (m.recall, m.false_positive_rate, m.precision)
    return (f"`{m.scorer}`", m.kind, str(n), *map(shown, shares), f"{1_000 * m.seconds / n:.2f}")


def _answers(found: Evaluation, held_out: Sequence[HeldOut]) -> str:
    rows = [
        (
            one.source,
            str(len(one.faithful) + len(one.unfaithful)),
            shown(one.auroc),
            shown(one.recall),
            shown(one.false_positive_rate),
        )
        for one in held_out
    ]
    columns = ("source", "rows", "AUROC", "unfaithful that fail", "faithful that fail")
    whole = next((m for m in found.measures if m.scorer == FAITHFULNESS and m.kind == "all"), None)
    shipped = ""
    if whole is not None:
        shipped = (
            "\nThe weights that are shipped are learned from all sources; on these same rows"
            f" {shown(whole.recall)} of the unfaithful answers fail and {shown(whole.false_positive_rate)} of the faithful.\n"
        )
    return (
        "## Answers and their sources\n\nThe weights of `faithfulness` are learned. Each source is measured with weights"
        " and a limit learned from the other sources alone (`python -m bench.learn_faithfulness`).\n\n"
        + table(columns, rows)
        + shipped
        + "\nLabels of answers that are wrong; they are counted as they came:\n\n"
        + table(
            ("row", "why the label is wrong"),
            [(f"`{row}`", why) for (scorer, row), why in WRONG.items() if scorer == FAITHFULNESS],
        )
    )


def _traffic(measured: Measured) -> str:
    rows = [
        (f"`{one.scorer}`", str(one.conversations), str(one.flagged), shown(one.share), f"{one.failed_targets} of {one.targets}")
        for one in measured.flagged
        if one.conversations
    ]  # fmt: skip
    columns = ("scorer", "judged", "flagged", "share", "targets")
    return (
        "## Conversations that ended well\n\nWhat fails in the conversations whose end state their environment found"
        " right. Not all of it is wrong: a redundant call or an invented id may have done no harm.\n\n"
        + table(columns, rows)
        + f"\nAll scorers together take {measured.milliseconds:.2f} ms of one core for a conversation, the mean of"
        f" {measured.conversations}.\n"
    )


def _readings(found: Evaluation) -> str:
    rows = [
        (f"`{m.scorer}`", f"{m.faulty} + {m.sound}", shown(m.recall), shown(m.false_positive_rate), _bare(m.balanced_accuracy), _bare(m.f1))
        for m in found.measures
        if m.kind == "all"
    ]  # fmt: skip
    columns = ("what is read", "rows", "recall", "false positives", "balanced accuracy", "F1")
    return (
        "## What the scorers read\n\n`tool_outcome` looks for results that did not bring what was wanted,"
        " `person_request` for messages that ask for a person.\n\n" + table(columns, rows)
    )


def _bare(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"


def _instructions(agreement: Sequence[Agreement]) -> str:
    rows = [
        (f"`{one.kind}`", str(one.rows), shown(wilson(one.agreed, one.rows))) for one in agreement
    ]
    agreed, of = sum(a.agreed for a in agreement), sum(a.rows for a in agreement)
    return (
        f"## Instructions\n\nThe kinds that IFEval has are judged as by its own checker in {agreed} of {of} cases. The others"
        " are sentences counted otherwise, and nonsense whose language nobody can tell.\n\n"
        + table(("kind", "rows", "judged alike"), rows)
    )


def _misjudged(errors: Sequence[Miss]) -> str:
    rows = [
        (
            f"`{one.scorer}`",
            f"`{_plain(one.id)}`",
            one.expected,
            WRONG.get((one.scorer, one.id), ""),
        )
        for one in errors
        if one.scorer != FAITHFULNESS
    ]
    columns = ("scorer", "row", "its label wants", "why the label is wrong")
    return (
        "## Every misjudged row\n\nOf the planted faults. Where the last column says why, the label is wrong: such rows are left out of the"
        " targets above, and counted in the tables.\n\n" + table(columns, rows)
    )


def _plain(id: str) -> str:
    return id.replace("|", "/")


def _rivals(measured: Measured) -> str:
    ours = _whole(measured.evaluation, "looping")
    rows = [("Outrider `looping`", "", shown(ours.recall), shown(ours.false_positive_rate))]
    rows += [
        (f"deepeval {one.version} agent loop detection", f"{one.below:g}", shown(one.recall), shown(one.false_positive_rate))
        for one in measured.rivals
    ]  # fmt: skip
    columns = ("metric", "a score below this is a loop", "recall", "false positives")
    return (
        "## Loops, beside deepeval\n\nThe same rows, given to deepeval as the span trees that its tracing makes. Its default"
        " threshold is 0.5; at 1 anything but a perfect score is a loop.\n\n" + table(columns, rows)
    )


def shown(interval: Interval | None) -> str:
    """Write a share with its interval."""
    if interval is None:
        return "-"
    return f"{interval.value:.3f} ({interval.low:.3f} to {interval.high:.3f})"
