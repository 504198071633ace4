"""Gather what single rows do not tell: spans and session lines, which only together are conversations."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import msgspec

from collector.errors import PermanentError
from collector.model import Conversation
from collector.otlp_transcripts import Recording
from collector.telemetry import LogRecord, Span
from collector.transcript_formats import langfuse_export, langsmith_runs, span_rows
from collector.transcript_formats.claude_code_session import Sessions
from collector.transcript_formats.content import FormatError
from collector.transcript_formats.detection import Format, rows_in

READERS: Mapping[Format, Callable[[Mapping[str, Any]], Iterator[Span | LogRecord]]] = {
    "langfuse": langfuse_export.read_row,
    "langsmith": langsmith_runs.read_row,
    "spans": span_rows.read_row,
}


class Gathering:
    """Hold spans and session lines until every file that may tell more has been read."""

    def __init__(self) -> None:
        self._recording = Recording()
        self._sessions = Sessions()

    def add_line(
        self, row: Mapping[str, Any], *, size: int, unnamed: str
    ) -> Iterator[Conversation]:
        """Take in a line of a session; yield the sessions that had to make room."""
        yield from self._sessions.add(row, size=size, unnamed=unnamed)

    def add(self, kind: Format, row: Mapping[str, Any], line: bytes) -> None:
        """Take in a row that says something about spans.

        Raises:
            FormatError: it does not.
        """
        if kind == "otlp":
            self._add_request(row, line)
            return
        try:
            items = list(READERS[kind](row))
            self._recording.add(items, size=len(line))
        except RecursionError as error:
            raise FormatError("nests too deeply") from error

    def add_inside(self, row: Mapping[str, Any]) -> bool:
        """Take in the rows that a row is wrapped around; say whether there were any.

        Raises:
            FormatError: one of them cannot be read; those before it are taken.
        """
        found = False
        for kind, inner in rows_in(row):
            found = True
            self.add(kind, inner, msgspec.json.encode(inner) if kind == "otlp" else b"")
        return found

    def _add_request(self, row: Mapping[str, Any], line: bytes) -> None:
        try:
            if "resourceSpans" in row or "resourceLogs" not in row:
                self._recording.add_request(line)
            if "resourceLogs" in row:
                self._recording.add_request(line, signal="logs")
        except PermanentError as error:
            raise FormatError(str(error)) from error

    def conversations(self) -> Iterator[Conversation]:
        """Conclude everything that was gathered."""
        yield from self._sessions.rest()
        yield from self._recording.conversations()
