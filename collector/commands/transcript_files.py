"""Read the transcript files that a command was given."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from collector.commands.output import Progress
from collector.model import Conversation
from collector.transcript_ids import DistinctIds


def add_format(parser: argparse.ArgumentParser) -> None:
    """Declare ``--format``."""
    parser.add_argument(
        "--format",
        choices=(
            "openai",
            "anthropic",
            "rag",
            "otlp",
            "claude-code",
            "langfuse",
            "langsmith",
            "spans",
        ),
        help="transcript format (default: found out row by row)",
    )


def conversations(
    files: Sequence[Path], format: str | None, bad: list[str], progress: Progress | None = None
) -> Iterator[Conversation]:
    """Read every file in turn; a line that cannot be read is reported and put into ``bad``."""
    for conversation, _ in labelled(files, format, bad, progress=progress):
        yield conversation


def labelled(
    files: Sequence[Path],
    format: str | None,
    bad: list[str],
    ids: DistinctIds | None = None,
    *,
    progress: Progress | None = None,
) -> Iterator[tuple[Conversation, dict[str, Any]]]:
    """Read conversations like ``conversations``, each with its labels.

    A command that reads its files one by one gives the same ``ids`` each time. Spans and
    sessions that go on from one file to the next are put together.
    """
    from collector.transcript_gathering import Gathering
    from collector.transcripts import gathered, read_labelled

    ids = ids or DistinctIds()
    gathering = Gathering()
    before, found = len(bad), 0
    for path in files:

        def report(line: int, reason: str, path: Path = path) -> None:
            bad.append(f"{path}:{line}")
            print(f"{path}: line {line}: {reason}", file=sys.stderr)

        def show(line: int, path: Path = path) -> None:
            if progress is not None:
                progress.update(f"{path}: read up to line {line}")

        for one in read_labelled(
            path,
            format=format,
            on_error=report,
            ids=ids,
            gathering=gathering,
            on_gathered=show,
        ):
            found += 1
            yield one
    for one in gathered(gathering, ids):
        found += 1
        yield one
    if not found and len(bad) == before:
        where = ", ".join(map(str, files))
        print(f"outrider: no conversation with an agent in {where}", file=sys.stderr)
    if count := len(bad) - before:
        lines = "line" if count == 1 else "lines"
        print(f"outrider: {count} {lines} could not be read", file=sys.stderr)
