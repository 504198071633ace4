"""Gather what single rows do not tell: spans and session lines, which only together are conversations."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import msgspec

from collector.errors import PermanentError
from collector.model import Conversation
from collector.otlp import Signal
from collector.otlp_transcripts import Recording
from collector.telemetry import LogRecord, Span
from collector.transcript_formats import langfuse_export, langsmith_runs, span_rows
from collector.transcript_formats.claude_code_session import Sessions
from collector.transcript_formats.content import FormatError
from collector.transcript_formats.detection import Format, rows_in, spans_in

READERS: Mapping[Format, Callable[[Mapping[str, Any]], Iterator[Span | LogRecord]]] = {
    "langfuse": langfuse_export.read_row,
    "langsmith": langsmith_runs.read_row,
    "spans": span_rows.read_row,
}


UNNAMED = "session"
"""The id of lines inside others that name no session."""


class Gathering:
    """Hold spans and session lines until every file that may tell more has been read."""

    def __init__(self) -> None:
        self._recording = Recording()
        self._sessions = Sessions()
        self._early: list[Conversation] = []

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

    def add_inside(self, row: Mapping[str, Any], only: Format | None = None) -> bool:
        """Take in the rows, of one format or of any, that a row is wrapped around.

        Returns whether there were any.

        Raises:
            FormatError: one of them cannot be read; those before it are taken.
        """
        return self._add_all(one for one in rows_in(row) if only in (None, one[0]))

    def _add_request(self, row: Mapping[str, Any], line: bytes) -> None:
        """Take in a request; one that only nearly is OTLP's JSON, span by span.

        Such are those that protobuf's own JSON writer wrote: base64 ids, names for numbers.
        """
        problems: list[str] = []
        signals: list[Signal] = ["traces"] if "resourceLogs" not in row else ["logs"]
        if "resourceSpans" in row and "resourceLogs" in row:
            signals = ["traces", "logs"]
        for signal in signals:
            try:
                problem = self._recording.add_request(line, signal=signal)
            except PermanentError as error:
                problem = str(error)
            if problem:
                problems.append(problem)
        if problems and not self._add_all(spans_in(row)):
            raise FormatError(problems[0])

    def _add_all(self, found: Iterator[tuple[Format, Mapping[str, Any]]]) -> bool:
        any_found = False
        for kind, inner in found:
            any_found = True
            if kind == "claude-code":
                size = len(msgspec.json.encode(inner))
                self._early += self._sessions.add(inner, size=size, unnamed=UNNAMED)
                continue
            self.add(kind, inner, msgspec.json.encode(inner) if kind == "otlp" else b"")
        return any_found

    def conversations(self) -> Iterator[Conversation]:
        """Conclude everything that was gathered."""
        yield from self._early
        yield from self._sessions.rest()
        yield from self._recording.conversations()
