"""Learn the weights of ``faithfulness`` from labelled answers, and measure them where they did not learn.

Run as ``python -m bench.learn_faithfulness``; it reads faithfulness.jsonl.gz in OUTRIDER_CORPORA.
For each source the weights are learned without it, and ranked by them: these figures are the
ones to publish. With ``--write`` the weights of all sources together go into
scorers/rules/faithfulness_weights.py.

The loss is that of pairs (Burges et al. 2005, RankNet): of a faithful and an unfaithful answer
of one source, the unfaithful one should carry more. An answer carries what its worst statement
does, softly; each source counts the same. A sign that speaks against an answer can have no
negative weight, so that no kind of error makes an answer look better.
"""

from __future__ import annotations

import argparse
import math
import os
from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec
import numpy as np
import numpy.typing as npt

from collector.transcripts import read_labelled
from scorers.auroc import auroc
from scorers.interval import Interval, wilson
from scorers.rules.faithfulness import supports_of
from scorers.rules.faithfulness_weights import SHARPNESS

Array = npt.NDArray[np.float64]
Indices = npt.NDArray[np.int64]

FREE = ("length", "short", "synonym", "kin", "narrower", "rounded")
"""Signs that say how a statement is made, and correct the others: these may go either way."""
TARGET = Path("scorers/rules/faithfulness_weights.py")
FIXED: Mapping[str, float] = {"clash": 4.0, "foreign": 2.0, "sides": 1.0}
"""Signs a person would not forgive to miss, which are too rare to be learned: set by hand."""
UNUSED = frozenset(("word", "noun", "beyond"))
"""Parts of other signs or of the reason a person reads; beside the others they weigh nothing."""
PAIRS = 2_500
ACROSS = 0.3
STEPS = 400
RATE = 0.03
DECAY = 0.01
MIN_SPREAD = 0.15
"""A sign rarer than this counts as if it were not rare: few examples teach little."""
FLAGGED = 0.04
"""The share of faithful answers that may be flagged where the weights did not learn."""


class Answer(msgspec.Struct, frozen=True, kw_only=True):
    """One labelled answer."""

    source: str
    faithful: bool
    signs: tuple[dict[str, float], ...]
    """Of each statement; none when the answer claims nothing."""


class HeldOut(msgspec.Struct, frozen=True, kw_only=True):
    """How the answers of one source did under what was learned from the others."""

    source: str
    faithful: tuple[float | None, ...]
    """What each faithful answer carries; ``None`` where it claims nothing."""
    unfaithful: tuple[float | None, ...]
    flagged: int
    """Faithful answers over the limit."""
    caught: int
    """Unfaithful ones."""

    @property
    def recall(self) -> Interval | None:
        """Share of the unfaithful answers over the limit."""
        return wilson(self.caught, len(self.unfaithful))

    @property
    def false_positive_rate(self) -> Interval | None:
        """Share of the faithful answers over the limit."""
        return wilson(self.flagged, len(self.faithful))

    @property
    def auroc(self) -> Interval | None:
        """How often a faithful answer carries less than an unfaithful one."""
        worth = [[None if x is None else -x for x in xs] for xs in (self.unfaithful, self.faithful)]
        return auroc(*worth)


class Learned(msgspec.Struct, frozen=True, kw_only=True):
    """Weights by the name of their sign."""

    weights: dict[str, float]

    def carried(self, answer: Answer) -> float | None:
        """Return what an answer carries against it; ``None`` when it claims nothing."""
        loads = [sum(w * signs[name] for name, w in self.weights.items()) for signs in answer.signs]
        return max(loads) if loads else None


def answers_of(path: Path) -> list[Answer]:
    """Read the labelled answers and measure their statements."""
    found = []
    for conversation, labels in read_labelled(path):
        turn = conversation.turns[-1]
        at = len(conversation.messages) - 1
        supports = supports_of(conversation, turn, conversation.messages[at].text)
        signs = tuple(dict(support.signs) for support, _ in supports)
        label = bool(labels["faithful"])
        found.append(Answer(source=str(labels["source"]), faithful=label, signs=signs))
    return found


def learn(answers: Sequence[Answer]) -> Learned:
    """Find weights under which unfaithful answers of each source carry more than faithful ones."""
    answers = [answer for answer in answers if answer.signs]
    names = sorted(answers[0].signs[0].keys() - FIXED.keys() - UNUSED)
    rows = np.array([[s[name] for name in names] for a in answers for s in a.signs])
    of = np.array([i for i, answer in enumerate(answers) for _ in answer.signs])
    spread = np.maximum(rows.std(0), MIN_SPREAD)
    rows /= spread
    bad, good = _pairs(answers)
    free = np.array([name in FREE for name in names])
    weights = np.full(len(names), 0.05)
    mean, square = np.zeros(len(names)), np.zeros(len(names))
    for step in range(1, STEPS + 1):
        slope = _slope(weights, rows, of, bad, good) + DECAY * weights
        mean = 0.9 * mean + 0.1 * slope
        square = 0.99 * square + 0.01 * slope**2
        scaled = mean / (1 - 0.9**step) / (np.sqrt(square / (1 - 0.99**step)) + 1e-8)
        weights = weights - RATE * (1 - step / (STEPS + 1)) * scaled
        weights = np.where(free, weights, np.maximum(weights, 0.0))
    learned = zip(names, map(float, weights / spread), strict=True)
    return Learned(weights={**dict(learned), **FIXED})


def _slope(weights: Array, rows: Array, of: Indices, bad: Indices, good: Indices) -> Array:
    """Return the gradient of the mean loss of the pairs."""
    count = int(of.max()) + 1
    loads = SHARPNESS * (rows @ weights)
    top = np.full(count, -np.inf)
    np.maximum.at(top, of, loads)
    raised = np.exp(loads - top[of])
    total = np.bincount(of, raised, count)
    answer = (top + np.log(total)) / SHARPNESS
    pull = -1 / (1 + np.exp(answer[bad] - answer[good])) / len(bad)
    each = np.bincount(bad, pull, count) - np.bincount(good, pull, count)
    slope: Array = rows.T @ (raised / total[of] * each[of])
    return slope


def _pairs(answers: Sequence[Answer]) -> tuple[Indices, Indices]:
    """Draw as many pairs of each source, always the same ones."""
    random = np.random.default_rng(0)
    bad, good = [], []
    for source in sorted({answer.source for answer in answers}):
        of = [(i, a.faithful) for i, a in enumerate(answers) if a.source == source]
        bad.append(random.choice([i for i, faithful in of if not faithful], PAIRS))
        good.append(random.choice([i for i, faithful in of if faithful], PAIRS))
    # Some of each source against some of others, so that loads compare between sources too.
    across = int(ACROSS * PAIRS * len(bad))
    bad.append(random.permutation(np.concatenate(bad))[:across])
    good.append(random.permutation(np.concatenate(good))[:across])
    return np.concatenate(bad), np.concatenate(good)


def held_out(answers: Sequence[Answer]) -> list[HeldOut]:
    """Measure each source under weights and a limit that were learned from the others."""
    found = []
    for source in dict.fromkeys(answer.source for answer in answers):
        others = [answer for answer in answers if answer.source != source]
        learned = learn(others)
        own = [answer for answer in answers if answer.source == source]
        limit = limit_of([learned.carried(answer) for answer in others if answer.faithful])
        faithful = [learned.carried(answer) for answer in own if answer.faithful]
        unfaithful = [learned.carried(answer) for answer in own if not answer.faithful]
        found.append(
            HeldOut(
                source=source,
                faithful=tuple(faithful),
                unfaithful=tuple(unfaithful),
                flagged=sum(x is not None and x > limit for x in faithful),
                caught=sum(x is not None and x > limit for x in unfaithful),
            )
        )
    return found


def limit_of(loads: Sequence[float | None]) -> float:
    """Return the load above which the share FLAGGED of faithful answers lies."""
    known = [-math.inf if load is None else load for load in loads]
    return float(np.quantile(known, 1 - FLAGGED, method="higher"))


def told(found: Sequence[HeldOut]) -> str:
    """Render what was measured, a line for each source."""
    lines = []
    for one in found:
        area = one.auroc
        ranked = f"{area.value:.3f} ({area.low:.3f}-{area.high:.3f})" if area else "-"
        shares = (one.flagged / len(one.faithful), one.caught / len(one.unfaithful))
        lines.append(f"{one.source:20} {ranked}  flagged {shares[0]:.3f}  caught {shares[1]:.3f}")
    areas = [one.auroc.value for one in found if one.auroc]
    flagged = sum(one.flagged for one in found) / sum(len(one.faithful) for one in found)
    caught = sum(one.caught for one in found) / sum(len(one.unfaithful) for one in found)
    mean = f"{np.mean(areas):.4f} (lowest {min(areas):.3f})"
    return "\n".join((*lines, f"{'all':20} {mean}  flagged {flagged:.3f}  caught {caught:.3f}"))


def written(learned: Learned, limit: float) -> str:
    """Render the file of the weights."""
    head = TARGET.read_text().partition("LIMIT = ")[0]
    lines = [
        f"    {name!r}: {round(w, 3)},".replace("'", '"') for name, w in learned.weights.items()
    ]
    table = "\n".join(lines)
    about = '"""The load at which a statement is worth one half."""'
    return f"{head}LIMIT = {limit:.3f}\n{about}\nWEIGHTS: Mapping[str, float] = {{\n{table}\n}}\n"


def main() -> None:
    """Measure, and write when asked to."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true", help=f"write {TARGET}")
    arguments = parser.parse_args()
    folder = Path(os.environ.get("OUTRIDER_CORPORA", "../shared/corpora"))
    answers = answers_of(folder / "faithfulness.jsonl.gz")
    found = held_out(answers)
    print(told(found))
    learned = learn(answers)
    limit = limit_of([load for one in found for load in one.faithful])
    for name, weight in sorted(learned.weights.items(), key=lambda item: -abs(item[1])):
        print(f"{name:20} {weight:+.3f}")
    if arguments.write:
        TARGET.write_text(written(learned, limit))


if __name__ == "__main__":
    main()
