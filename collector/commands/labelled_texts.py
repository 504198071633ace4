"""Read files of single labelled texts: tool results and messages, which are no transcripts."""

from __future__ import annotations

import gzip
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from collector.transcript_lines import ErrorSink, rows


def holds_texts(path: Path) -> bool:
    """Say whether a file's first row is a labelled text; a pipe, read once only, never is."""
    from scorers.classifiers import classifier_of

    if not path.is_file():
        return False
    try:
        first = next(_rows(path, lambda _line, _reason: None), None)
    except OSError:
        return False
    return first is not None and classifier_of(first) is not None


def texts_of(path: Path, bad: list[str]) -> Iterator[Mapping[str, Any]]:
    """Yield the rows of a file; a line that is none is told and put into ``bad``."""

    def report(line: int, reason: str) -> None:
        bad.append(f"{path}:{line}")
        print(f"{path}: line {line}: {reason}", file=sys.stderr)

    return _rows(path, report)


def _rows(path: Path, report: ErrorSink) -> Iterator[Mapping[str, Any]]:
    with path.open("rb") as file:
        gzipped = file.peek(2)[:2] == b"\x1f\x8b"
        for _, _, row in rows(gzip.GzipFile(fileobj=file) if gzipped else file, report):
            yield row
