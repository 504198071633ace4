"""Measure the scorers against labelled transcripts."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from collector.commands.command import Command, add_config, add_scorers, config_of
from collector.commands.labelled_texts import holds_texts, texts_of
from collector.commands.score import chosen_scorers
from collector.commands.transcript_files import labelled
from collector.errors import ConfigError
from collector.model import Conversation
from collector.transcript_ids import DistinctIds


def run(arguments: argparse.Namespace) -> int:
    """Print the precision and recall of every scorer that the files have labels for."""
    from collector.redaction import redactor_of
    from scorers.classifiers import evaluate_rows
    from scorers.evaluation import evaluate

    config = config_of(arguments)
    redactor = redactor_of(config.redact, config.redact.pseudonym_key.encode())
    bad: list[str] = []
    ids = DistinctIds()

    def read(path: Path) -> Iterator[tuple[Conversation, dict[str, Any]]]:
        for conversation, labels in labelled([path], None, bad, ids):
            seen = redactor.conversation(conversation) if arguments.redacted else conversation
            yield seen, labels

    of_rows = [path for path in arguments.files if holds_texts(path)]
    transcripts = [path for path in arguments.files if path not in of_rows]
    evaluation = evaluate(transcripts, chosen_scorers(config, arguments.scorers), read)
    evaluation += evaluate_rows(row for path in of_rows for row in texts_of(path, bad))
    if not evaluation.measures:
        raise ConfigError("the files hold no label of these scorers; rows carry it in `labels`")
    errors = tuple(
        msgspec.structs.replace(miss, id=redactor.id(miss.id), reason=redactor.text(miss.reason))
        for miss in evaluation.errors
        if arguments.errors
    )
    evaluation = msgspec.structs.replace(evaluation, errors=errors)
    if arguments.json:
        print(json.dumps(evaluation.as_dict(), indent=2))
    else:
        print(evaluation.table(errors=arguments.errors))
    return 1 if bad else 0


def declare(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("files", nargs="+", type=Path, metavar="FILE", help="labelled transcripts")
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    parser.add_argument(
        "--errors", action="store_true", help="list every conversation a scorer got wrong"
    )
    parser.add_argument(
        "--redacted",
        action="store_true",
        help="let the scorers see redacted text, as with redact.at_ingest",
    )
    add_scorers(parser)
    add_config(parser)


EVALUATE = Command(
    name="evaluate",
    summary="measure the scorers' precision and recall on labelled transcripts",
    description=(
        "Run the scorers on transcripts whose rows carry `labels` and compare: recall, false-positive "
        "rate and precision with 95 % intervals, F1, balanced accuracy, AUROC and milliseconds per conversation. "
        "Rows of single texts are measured too: tool results with `outcome`, messages with `wants_human`."
    ),
    examples="""\
outrider evaluate examples/support.jsonl
outrider evaluate labelled.jsonl.gz --scorer looping --errors
outrider evaluate *.jsonl.gz --json > measured.json""",
    arguments=declare,
    run=run,
)
