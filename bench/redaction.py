"""Measure the redaction gate and write the figures into docs/privacy.md.

``python -m bench.redaction`` draws the labelled set of ``redaction_set.py`` and counts what the
gate finds and what it takes wrongly, then times it beside a plain pass of regular expressions over
the same texts. What it finds is the same on every machine; how fast it is, is told as ratios.
"""

from __future__ import annotations

import argparse
import re
import statistics
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

import msgspec

from alerts.wilson import wilson
from bench.corpus_spans import corpus_spans
from bench.invented_talks import invented_talks
from bench.redaction_set import KIND_OF, Sample, samples
from collector.otlp import parse
from collector.redactor import Redactor
from collector.sensitive import DEFAULT_KINDS, KINDS

PAGE = Path(__file__).parents[1] / "docs" / "privacy.md"
SEED = 20_260
TALKS = 40
RUNS = 7
_HELD = re.compile(r"\[(?:" + "|".join(KINDS) + r")\]")
_PIECE = re.compile(r"[^\W_]{4,}")
_PLAIN = re.compile(
    r"[\w.+-]+@[\w-]+\.[\w.-]+"
    r"|\b(?:\d[ -]?){13,19}\b"
    r"|\+?\d[\d ().-]{7,}\d"
    r"|\b(?:sk|ghp|xox[bp]|AKIA)[-_A-Za-z0-9]{16,}"
    r"|\b[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){3,7}\b"
)
"""What one would write first: an address, a long number, a phone, a key, an account."""


class Quality(msgspec.Struct, frozen=True, kw_only=True):
    """How the gate did on one group of the set."""

    group: str
    count: int
    right: int
    """Secrets of which nothing is left; look-alikes of which nothing was taken."""


class Speed(msgspec.Struct, frozen=True, kw_only=True):
    """Characters a second, in millions."""

    fresh: float
    """Texts that were never seen."""
    plain: float
    """The regular expressions over the same texts."""
    live: float
    """Spans as they come, each with the whole history again, by the bytes of their requests."""


def measured(drawn: Iterable[Sample], redactor: Redactor) -> tuple[list[Quality], list[Quality]]:
    """Return how the gate did on secrets by kind or form, and on look-alikes by what they are."""
    found: dict[str, list[bool]] = {}
    spared: dict[str, list[bool]] = {}
    for sample in drawn:
        clean = redactor.text(sample.text)
        if sample.secrets:
            kind = KIND_OF.get(sample.group, sample.group)
            found.setdefault(kind, []).append(
                all(is_gone(secret, sample.text, clean) for _, secret in sample.secrets)
            )
            spared.setdefault("around a secret", []).append(
                len(_HELD.findall(clean)) <= len(sample.secrets)
            )
        else:
            spared.setdefault(sample.group, []).append(clean == sample.text)
    return _qualities(found), _qualities(spared)


def is_gone(secret: str, text: str, clean: str) -> bool:
    """Say whether nothing of a secret is left: no four letters or digits that stood only in it."""
    bare, around = _HELD.sub("", clean), text.replace(secret, "")
    pieces = [piece for piece in _PIECE.findall(secret) if piece not in around]
    return secret not in bare and not any(piece in bare for piece in pieces)


def _qualities(groups: dict[str, list[bool]]) -> list[Quality]:
    return [
        Quality(group=group, count=len(marks), right=sum(marks)) for group, marks in groups.items()
    ]


def quality_table(found: Sequence[Quality], spared: Sequence[Quality]) -> str:
    """Write the tables: usual forms, forms that are hard to tell, look-alikes."""
    usual = [one for one in found if one.group in KINDS]
    hard = [one for one in found if one.group not in KINDS]
    rows = ["| kind | in the set | gone | recall, 95 % |", "| --- | ---: | ---: | --- |"]
    rows += [_row(one) for one in [*usual, _sum("all", usual)]]
    rows += ["", "| hard to tell | in the set | gone | recall, 95 % |"]
    rows += ["| --- | ---: | ---: | --- |"]
    rows += [_row(one) for one in [*hard, _sum("all", hard)]]
    rows += ["", "| looks like one | in the set | left alone | share, 95 % |"]
    rows += ["| --- | ---: | ---: | --- |"]
    rows += [_row(one) for one in [*spared, _sum("all", spared)]]
    right, wrong = _sum("", found).right, sum(one.count - one.right for one in spared)
    rows += [
        "",
        f"Of all that was taken, {_percent(right / (right + wrong))} was a secret (precision).",
    ]
    return "\n".join(rows)


def _row(one: Quality) -> str:
    low, high = wilson(one.right, one.count)
    share = f"{_percent(one.right / one.count)} ({_percent(low)} to {_percent(high)})"
    return f"| {one.group} | {one.count} | {one.right} | {share} |"


def _sum(group: str, parts: Sequence[Quality]) -> Quality:
    return Quality(
        group=group,
        count=sum(part.count for part in parts),
        right=sum(part.right for part in parts),
    )


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"


def timed(
    seconds: Callable[[], float] = time.process_time, *, talks: int = TALKS, runs: int = RUNS
) -> Speed:
    """Time the gate and the plain pass on invented conversations, in turns."""
    spoken = list(invented_talks(talks, seed=SEED))
    texts = list(dict.fromkeys(m.text for talk in spoken for m in talk.messages if m.text))
    load = corpus_spans(spoken, story="", seed=SEED)
    spans = [s for body in load.bodies for s in parse("traces", "proto", body.data).spans()]
    size = sum(map(len, texts))
    rates: dict[str, list[float]] = {"fresh": [], "plain": [], "live": []}
    for _ in range(runs):
        gate, live = Redactor(DEFAULT_KINDS), Redactor(DEFAULT_KINDS)
        for name, amount, work in (
            ("fresh", size, (gate.text(text) for text in texts)),
            ("plain", size, (_PLAIN.sub("[x]", text) for text in texts)),
            ("live", load.size, (live.span(span) for span in spans)),
        ):
            rates[name].append(amount / _took(work, seconds) / 1e6)
    return Speed(**{name: statistics.median(found) for name, found in rates.items()})


def _took(work: Iterator[object], seconds: Callable[[], float]) -> float:
    began = seconds()
    for _ in work:
        pass
    return seconds() - began


def speed_table(speed: Speed) -> str:
    """Write the ratios, and what they are of."""
    return "\n".join(
        (
            "| | times the plain pass |",
            "| --- | ---: |",
            "| one pass of five simple regular expressions over the same texts | 1 |",
            f"| the gate, texts it never saw | {speed.fresh / speed.plain:.1f} |",
            f"| the gate, live spans, each with the whole history again | {speed.live / speed.plain:.1f} |",
            "",
            f"The plain pass did {speed.plain:.0f} MB a second of one core on the machine that wrote this.",
        )
    )


def written(page: str, blocks: dict[str, str]) -> str:
    """Put the tables between their marks."""
    for name, table in blocks.items():
        before, mark, rest = page.partition(f"<!-- measured {name} -->\n")
        _, end, after = rest.partition("<!-- end measured -->")
        if not (mark and end):
            raise LookupError(f"there is no place for {name}")
        page = f"{before}{mark}{table}\n{end}{after}"
    return page


def main() -> None:
    """Measure and write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quality", action="store_true", help="leave the speed as it stands")
    arguments = parser.parse_args()
    blocks = {"quality": quality_table(*measured(samples(SEED), Redactor(DEFAULT_KINDS)))}
    if not arguments.quality:
        blocks["speed"] = speed_table(timed())
    PAGE.write_text(written(PAGE.read_text(encoding="utf-8"), blocks), encoding="utf-8")
    for table in blocks.values():
        print(table, end="\n\n")


if __name__ == "__main__":
    main()
