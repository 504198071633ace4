"""Read recorded conversations from files.

The formats are OpenAI chat, Anthropic Messages and question-with-context rows, one JSON
object a line, and OTLP JSON, one ``ExportTraceServiceRequest`` a line; plain or gzipped.
"""

from __future__ import annotations

import gzip
import io
import itertools
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, Literal, TypeAlias, cast

import msgspec

from collector.builder import conversation_of
from collector.errors import ConfigError, MalformedError, UnsupportedError
from collector.model import Conversation, Identity, LlmCall, Message
from collector.transcript_formats import anthropic_messages, openai_chat, rag
from collector.transcript_formats.content import Content, FormatError, text_of
from collector.transcript_ids import DistinctIds, id_of_line
from collector.transcript_lines import ErrorSink, Row, rows

Format = Literal["openai", "anthropic", "rag", "otlp"]
FORMATS: tuple[Format, ...] = ("openai", "anthropic", "rag", "otlp")

OtlpConversations: TypeAlias = Callable[[Iterable[bytes]], Iterator[Conversation]]
"""Make conversations of lines of OTLP JSON; the whole pipeline up to assembly stands behind it."""

READERS: Mapping[str, Callable[[Mapping[str, Any]], Content]] = {
    "openai": openai_chat.read_row,
    "anthropic": anthropic_messages.read_row,
    "rag": rag.read_row,
}


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
    otlp_conversations: OtlpConversations | None = None,
    ids: DistinctIds | None = None,
) -> Iterator[Conversation]:
    """Read the conversations of one file, ``None`` or ``-`` for standard input.

    Lines that cannot be read go to ``on_error`` and the others go on. Give the same ``ids``
    to every file of one command, so that no two conversations share a name.

    Raises:
        TranscriptError: a line cannot be read and there is no ``on_error``.
        ConfigError: the file or the format does not exist.
        UnsupportedError: the file holds OTLP and no ``otlp_conversations`` is given.
    """
    for conversation, _ in read_labelled(
        path, format=format, on_error=on_error, otlp_conversations=otlp_conversations, ids=ids
    ):
        yield conversation


def read_labelled(
    path: Path | None,
    *,
    format: str | None = None,
    on_error: ErrorSink | None = None,
    otlp_conversations: OtlpConversations | None = None,
    ids: DistinctIds | None = None,
) -> Iterator[tuple[Conversation, dict[str, Any]]]:
    """Read conversations like ``read``, each with its labels.

    The labels are the row's ``labels`` object and its ``fault``, ``faithful`` and ``source``.
    """
    if format is not None and format not in FORMATS:
        raise ConfigError(
            f"unknown transcript format {format!r}; it is one of {', '.join(FORMATS)}"
        )
    names = ids or DistinctIds()
    for conversation, labels in _read(path, format, on_error or _raise, otlp_conversations):
        id = names.distinct(conversation.id)  # noqa: A001 - what it is
        if id != conversation.id:
            conversation = msgspec.structs.replace(conversation, id=id)  # noqa: PLW2901 - renamed
        yield conversation, labels


def format_of(row: Mapping[str, Any]) -> Format | None:
    """Tell a row's format by its keys; ``None`` when it is none of ours."""
    if "resourceSpans" in row:
        return "otlp"
    messages = row.get("messages")
    if isinstance(messages, list):
        return "anthropic" if _is_anthropic(row, messages) else "openai"
    if "answer" in row and ("context" in row or "question" in row):
        return "rag"
    return None


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


def _read(
    path: Path | None,
    format: Format | None,
    report: ErrorSink,
    otlp_conversations: OtlpConversations | None,
) -> Iterator[tuple[Conversation, dict[str, Any]]]:
    with _opened(path) as file:
        found = rows(file, report)
        first = next(found, None)
        if first is None:
            return
        found = itertools.chain([first], found)
        if (format or format_of(first[2])) == "otlp":
            if otlp_conversations is None:
                raise UnsupportedError("OTLP transcripts need an assembler; none was given")
            for conversation in otlp_conversations(line for _, line, _ in found):
                yield conversation, {}
            return
        yield from _labelled(found, path, format, report)


def _labelled(
    found: Iterable[Row],
    path: Path | None,
    format: Format | None,
    report: ErrorSink,
) -> Iterator[tuple[Conversation, dict[str, Any]]]:
    tool_sets: dict[str, Any] | None = None
    for number, _, row in found:
        try:
            if isinstance(row.get("tools"), str):
                if tool_sets is None:
                    tool_sets = _tool_sets(path)
                row = {**row, "tools": _tool_set(tool_sets, row["tools"])}  # noqa: PLW2901 - the row with its tools
            conversation = _conversation(row, format, id_of_line(path, number))
        except FormatError as error:
            report(number, str(error))
            continue
        yield conversation, _labels(row)


def _conversation(row: Mapping[str, Any], format: Format | None, unnamed: str) -> Conversation:
    kind = format or format_of(row)
    if kind is None or kind == "otlp":
        raise FormatError(
            "no known transcript format: expected `messages`, or `question`, `context`, `answer`"
        )
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


def _is_anthropic(row: Mapping[str, Any], messages: Sequence[Any]) -> bool:
    tools = row.get("tools")
    if "system" in row or (
        isinstance(tools, list)
        and any(isinstance(t, Mapping) and "input_schema" in t for t in tools)
    ):
        return True
    contents = (m.get("content") for m in messages if isinstance(m, Mapping))
    return any(isinstance(c, list) and any(map(anthropic_messages.is_block, c)) for c in contents)


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
def _opened(path: Path | None) -> Iterator[BinaryIO]:
    """Open a file or standard input, gunzipped when it starts with gzip's magic bytes."""
    if path is None or str(path) == "-":
        yield _gunzipped(cast("io.BufferedReader", sys.stdin.buffer))
        return
    try:
        file = path.open("rb")
    except OSError as error:
        raise ConfigError(f"cannot read {path}: {error.strerror}") from error
    with file:
        yield _gunzipped(file)


def _gunzipped(file: io.BufferedReader) -> BinaryIO:
    gzipped = file.peek(2)[:2] == b"\x1f\x8b"
    return cast("BinaryIO", gzip.GzipFile(fileobj=file) if gzipped else file)


def _raise(line: int, reason: str) -> None:
    raise TranscriptError(line, reason)
