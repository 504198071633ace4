"""Read recorded conversations from files, plain or gzipped, whatever format each row has.

A row of OpenAI chat, Anthropic Messages or question-with-context is a conversation and is
yielded at once. Spans and session lines are conversations only together: they are gathered,
and what they make comes last.
"""

from __future__ import annotations

import gzip
import io
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, cast

import msgspec

from collector.builder import conversation_of
from collector.errors import ConfigError, MalformedError
from collector.model import Conversation, Identity, LlmCall, Message
from collector.transcript_formats import anthropic_messages, openai_chat, rag
from collector.transcript_formats.content import Content, FormatError, text_of
from collector.transcript_formats.detection import FORMATS, INSIDE, Format, format_of
from collector.transcript_gathering import Gathering
from collector.transcript_ids import DistinctIds, id_of_line
from collector.transcript_lines import ErrorSink, rows

__all__ = ["FORMATS", "Format", "TranscriptError", "calls_at", "format_of", "read", "read_labelled"]

READERS: Mapping[str, Callable[[Mapping[str, Any]], Content]] = {
    "openai": openai_chat.read_row,
    "anthropic": anthropic_messages.read_row,
    "rag": rag.read_row,
}
PIECE_BYTES = 1024 * 1024
"""Of a long line that are read at a time."""
UNKNOWN = (
    "no known transcript format: expected `messages`, or `question`, `context`, `answer`, or a "
    "span, a trace or a session line of a format that the documentation lists"
)


class TranscriptError(MalformedError):
    """A line of a transcript file cannot be read."""

    def __init__(self, line: int, reason: str) -> None:
        super().__init__(f"line {line}: {reason}")
        self.line = line
        self.reason = reason


def read(
    path: Path | None,
    *,
    format: str | None = None,
    on_error: ErrorSink | None = None,
    ids: DistinctIds | None = None,
) -> Iterator[Conversation]:
    """Read the conversations of one file, ``None`` or ``-`` for standard input.

    Lines that cannot be read go to ``on_error`` and the others go on. Give the same ``ids``
    to every file of one command, so that no two conversations share a name.

    Raises:
        TranscriptError: a line cannot be read and there is no ``on_error``.
        ConfigError: the file or the format does not exist.
    """
    for conversation, _ in read_labelled(path, format=format, on_error=on_error, ids=ids):
        yield conversation


def read_labelled(
    path: Path | None,
    *,
    format: str | None = None,
    on_error: ErrorSink | None = None,
    ids: DistinctIds | None = None,
    gathering: Gathering | None = None,
    on_gathered: Callable[[int], None] | None = None,
) -> Iterator[tuple[Conversation, dict[str, Any]]]:
    """Read conversations like ``read``, each with its labels.

    The labels are the row's ``labels`` object and its ``fault``, ``faithful`` and ``source``.
    With a ``gathering``, what spans and session lines make is left in it, for other files to
    add to; see ``gathered``. ``on_gathered`` is told the line of
    each row that was not yet a conversation.
    """
    if format is not None and format not in FORMATS:
        raise ConfigError(
            f"unknown transcript format {format!r}; it is one of {', '.join(FORMATS)}"
        )
    names = ids or DistinctIds()
    own = gathering or Gathering()
    reading = _Reading(path, format, on_error or _raise, own, on_gathered)
    for conversation, labels in reading.conversations():
        yield _named(conversation, names), labels
    if gathering is None:
        yield from gathered(own, names)


def gathered(
    gathering: Gathering, ids: DistinctIds
) -> Iterator[tuple[Conversation, dict[str, Any]]]:
    """Yield what a gathering holds, which has no labels."""
    for conversation in gathering.conversations():
        yield _named(conversation, ids), {}


def _named(conversation: Conversation, ids: DistinctIds) -> Conversation:
    id = ids.distinct(conversation.id)  # noqa: A001 - what it is
    if id == conversation.id:
        return conversation
    return msgspec.structs.replace(conversation, id=id)


def calls_at(messages: Sequence[Message]) -> list[int]:
    """List the indices of the assistant messages that a model call produced.

    Every assistant message is one, except a greeting that opens the conversation: it is
    written by the application, not by the model.
    """
    spoken = False
    calls: list[int] = []
    for index, message in enumerate(messages):
        if message.role == "assistant":
            if spoken or message.tool_requests:
                calls.append(index)
                spoken = True
        elif message.role != "system":
            spoken = True
    return calls


class _Reading:
    """Read one file row by row, each in its format."""

    def __init__(
        self,
        path: Path | None,
        format: Format | None,
        report: ErrorSink,
        gathering: Gathering,
        on_gathered: Callable[[int], None] | None,
    ) -> None:
        self._path = path
        self._format = format
        self._report = report
        self._gathering = gathering
        self._on_gathered = on_gathered
        self._tool_sets: dict[str, Any] | None = None
        self._unnamed = ""

    def conversations(self) -> Iterator[tuple[Conversation, dict[str, Any]]]:
        """Yield every conversation that can be told before the file has ended."""
        with _opened(self._path) as pieces:
            for number, line, row in rows(pieces, self._report):
                told = False
                try:
                    for found in self._row(number, line, row):
                        told = True
                        yield found
                except FormatError as error:
                    self._report(number, str(error))
                if self._on_gathered is not None and not told:
                    self._on_gathered(number)

    def _row(
        self, number: int, line: bytes, row: Mapping[str, Any]
    ) -> Iterator[tuple[Conversation, dict[str, Any]]]:
        found = format_of(row)
        kind = self._format or found
        if kind is None or (kind in INSIDE and found is None):
            if not self._gathering.add_inside(row, self._format):
                raise FormatError(UNKNOWN)
        elif kind in READERS:
            yield self._conversation(kind, number, row), _labels(row)
        elif kind == "claude-code":
            if found != kind:
                raise FormatError("not a line of a Claude Code session")
            self._unnamed = self._unnamed or id_of_line(self._path, number)
            for conversation in self._gathering.add_line(
                row, size=len(line), unnamed=self._unnamed
            ):
                yield conversation, {}
        else:
            self._gathering.add(kind, row, line)

    def _conversation(self, kind: str, number: int, row: Mapping[str, Any]) -> Conversation:
        if isinstance(row.get("tools"), str):
            if self._tool_sets is None:
                self._tool_sets = _tool_sets(self._path)
            row = {**row, "tools": _tool_set(self._tool_sets, row["tools"])}
        return _conversation(kind, row, id_of_line(self._path, number))


def _conversation(kind: str, row: Mapping[str, Any], unnamed: str) -> Conversation:
    if kind != "rag" and not isinstance(row.get("messages"), list):
        raise FormatError("`messages` is not a list")
    content = READERS[kind](row)
    model = text_of(row.get("model"))
    return conversation_of(
        content.messages,
        id=_id(row.get("id")) or unnamed,
        identity=Identity(
            agent=text_of(row.get("agent")),
            agent_version=text_of(row.get("agent_version")),
            environment=text_of(row.get("environment")),
            variant=text_of(row.get("variant")) or "production",
        ),
        system_prompt=content.system_prompt,
        tools=content.tools,
        documents=content.documents,
        llm_calls=[
            LlmCall(model=model, has_input=True, has_output=True)
            for _ in calls_at(content.messages)
        ],
    )


def _labels(row: Mapping[str, Any]) -> dict[str, Any]:
    labels = row.get("labels")
    found = dict(labels) if isinstance(labels, Mapping) else {}
    found.update((key, row[key]) for key in ("fault", "faithful", "source") if key in row)
    return found


def _id(value: Any) -> str:
    return str(value) if isinstance(value, str | int) else ""


def _tool_sets(path: Path | None) -> dict[str, Any]:
    beside = (path or Path()).parent / "tools.json"
    if not beside.is_file():
        return {}
    try:
        sets = msgspec.json.decode(beside.read_bytes())
    except msgspec.DecodeError as error:
        raise ConfigError(f"{beside} is not valid JSON: {error}") from error
    return sets if isinstance(sets, dict) else {}


def _tool_set(sets: Mapping[str, Any], key: str) -> Any:
    if key not in sets:
        raise FormatError(
            f"`tools` is the key {key!r}, which no tools.json beside the file defines"
        )
    return sets[key]


@contextmanager
def _opened(path: Path | None) -> Iterator[Iterable[bytes]]:
    """Open a file or standard input as pieces of lines, gunzipped by gzip's magic bytes."""
    if path is None or str(path) == "-":
        yield _pieces(cast("io.BufferedReader", sys.stdin.buffer))
        return
    try:
        file = path.open("rb")
    except OSError as error:
        raise ConfigError(f"cannot read {path}: {error.strerror}") from error
    with file:
        yield _pieces(file)


def _pieces(file: io.BufferedReader) -> Iterable[bytes]:
    gzipped = file.peek(2)[:2] == b"\x1f\x8b"
    source = gzip.GzipFile(fileobj=file) if gzipped else file
    return iter(partial(source.readline, PIECE_BYTES), b"")


def _raise(line: int, reason: str) -> None:
    raise TranscriptError(line, reason)
