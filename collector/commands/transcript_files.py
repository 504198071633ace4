"""Read the transcript files that a command was given."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from collector.model import Conversation
from collector.transcript_ids import DistinctIds


def add_format(parser: argparse.ArgumentParser) -> None:
    """Declare ``--format``."""
    parser.add_argument(
        "--format",
        choices=("openai", "anthropic", "rag", "otlp"),
        help="transcript format (default: found out from the first row)",
    )


def conversations(
    files: Sequence[Path], format: str | None, bad: list[str]
) -> Iterator[Conversation]:
    """Read every file in turn; a line that cannot be read is reported and put into ``bad``."""
    for conversation, _ in labelled(files, format, bad):
        yield conversation


def labelled(
    files: Sequence[Path], format: str | None, bad: list[str], ids: DistinctIds | None = None
) -> Iterator[tuple[Conversation, dict[str, Any]]]:
    """Read conversations like ``conversations``, each with its labels.

    A command that reads its files one by one gives the same ``ids`` each time.
    """
    from collector.otlp_transcripts import otlp_conversations
    from collector.transcripts import read_labelled

    ids = ids or DistinctIds()
    before = len(bad)
    for path in files:

        def report(line: int, reason: str, path: Path = path) -> None:
            bad.append(f"{path}:{line}")
            print(f"{path}: line {line}: {reason}", file=sys.stderr)

        yield from read_labelled(
            path,
            format=format,
            on_error=report,
            otlp_conversations=partial(otlp_conversations, on_error=report),
            ids=ids,
        )
    if count := len(bad) - before:
        lines = "line" if count == 1 else "lines"
        print(f"outrider: {count} {lines} could not be read", file=sys.stderr)
