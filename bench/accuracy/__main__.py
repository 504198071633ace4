"""Measure the scorers on labelled conversations and write docs/accuracy.md: ``python -m bench.accuracy``."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from bench.accuracy.instructions import agreement
from bench.accuracy.loop_peer import Rival, rivals
from bench.accuracy.page import Measured, page
from bench.accuracy.traffic import flagged, milliseconds
from bench.environments import Environments
from bench.failure import UnavailableError
from bench.learn_faithfulness import answers_of, held_out
from collector.commands.labelled_texts import texts_of
from collector.commands.transcript_files import labelled
from collector.model import Conversation
from collector.transcript_ids import DistinctIds
from scorers.classifiers import evaluate_rows
from scorers.evaluation import evaluate
from scorers.registry import builtin

ROOT = Path(__file__).parents[2]
FAULTS = ("false_success", "looping", "tool_calls", "escalation")
TEXTS = ("tool_results", "human_requests")


def main(argv: Sequence[str] | None = None) -> int:
    """Run the measurement; 1 when something could not be measured."""
    arguments = _parser().parse_args(argv)
    corpora: Path = arguments.corpora
    scorers = builtin()

    def say(text: str) -> None:
        print(f"accuracy: {text}", file=sys.stderr, flush=True)

    def read(path: Path) -> Iterator[tuple[Conversation, dict[str, Any]]]:
        return labelled([path], None, [], DistinctIds())

    say("labelled faults and answers")
    files = [corpora / f"faults_{name}.jsonl.gz" for name in FAULTS]
    evaluation = evaluate([*files, corpora / "faithfulness.jsonl.gz"], scorers, read)
    say("whole conversations")
    talks = list(read(corpora / "conversations.jsonl.gz"))
    problems: list[str] = []
    found: list[Rival] = []
    if not arguments.no_peers:
        say("deepeval")
        try:
            environments = Environments(arguments.cache.expanduser().resolve() / "peers")
            found = rivals(environments, list(read(corpora / "faults_looping.jsonl.gz")))
        except UnavailableError as error:
            problems.append(f"deepeval: {error}")
            say(problems[-1])
    measured = Measured(
        evaluation=evaluation,
        held_out=tuple(held_out(answers_of(corpora / "faithfulness.jsonl.gz"))),
        flagged=tuple(flagged(talks, scorers)),
        readings=evaluate_rows(
            row for name in TEXTS for row in texts_of(corpora / f"{name}.jsonl.gz", problems)
        ),
        agreement=tuple(agreement(texts_of(corpora / "instructions.jsonl.gz", problems))),
        rivals=tuple(found),
        milliseconds=milliseconds([talk for talk, _ in talks], scorers),
        conversations=len(talks),
        problems=tuple(problems),
    )
    text = page(
        measured,
        date=datetime.now(UTC).strftime("%Y-%m-%d"),
        command=" ".join(["python -m bench.accuracy", *(sys.argv[1:] if argv is None else argv)]),
    )
    arguments.output.write_text(text, encoding="utf-8")
    say(f"{arguments.output} written")
    return 1 if problems else 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m bench.accuracy", description=__doc__)
    corpora = os.environ.get("OUTRIDER_CORPORA", str(ROOT.parent / "shared" / "corpora"))
    parser.add_argument("--corpora", type=Path, default=Path(corpora), metavar="DIR")
    parser.add_argument("--output", type=Path, default=ROOT / "docs" / "accuracy.md")
    parser.add_argument(
        "--cache",
        type=Path,
        default=Path(os.environ.get("XDG_CACHE_HOME", "~/.cache")) / "outrider-bench",
    )
    parser.add_argument("--no-peers", action="store_true", help="measure Outrider alone")
    return parser


if __name__ == "__main__":
    sys.exit(main())
