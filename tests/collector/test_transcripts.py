"""Test reading recorded conversations."""

from __future__ import annotations

import gzip
import io
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import msgspec
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from collector.errors import ConfigError
from collector.model import Document, Identity
from collector.transcript_gathering import Gathering
from collector.transcript_ids import DistinctIds
from collector.transcripts import (
    FORMATS,
    READERS,
    TranscriptError,
    calls_at,
    format_of,
    gathered,
    read,
    read_labelled,
)
from tests.build import agent, conversation, request, result, tool, user

HELLO = {"messages": [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello"}]}


KEYS = st.sampled_from(
    [
        "messages",
        "role",
        "content",
        "type",
        "text",
        "id",
        "tool_calls",
        "function",
        "name",
        "arguments",
        "input",
        "tool_use_id",
        "tools",
        "system",
        "question",
        "context",
        "answer",
        "function_call",
        "is_error",
        "annotations",
        "resourceSpans",
    ]
)
"""Keys that transcript rows have."""


def written(path: Path, *rows: Any) -> Path:
    """Write rows as JSON lines; bytes are written as they are."""
    lines = (row if isinstance(row, bytes) else msgspec.json.encode(row) for row in rows)
    path.write_bytes(b"\n".join(lines))
    return path


def test_openai_row_is_the_live_conversation(tmp_path: Path) -> None:
    """A row becomes the conversation that its messages give, with identity and model."""
    call = {"id": "call_f", "function": {"name": "f", "arguments": "{}"}}
    row = {
        "id": "k-1",
        "agent": "shop",
        "model": "m-1",
        "messages": [
            {"role": "system", "content": "Be kind."},
            {"role": "user", "content": "Go"},
            {"role": "assistant", "content": "", "tool_calls": [call]},
            {"role": "tool", "content": "ok", "tool_call_id": "call_f", "name": "f"},
            {"role": "assistant", "content": "Done"},
        ],
        "tools": [{"type": "function", "function": {"name": "f", "parameters": {}}}],
    }
    (read_back,) = read(written(tmp_path / "a.jsonl", row))
    assert [call.model for call in read_back.llm_calls] == ["m-1", "m-1"]
    assert msgspec.structs.replace(read_back, llm_calls=()) == conversation(
        user("Go"),
        agent("", request("f")),
        result("f", "ok"),
        agent("Done"),
        id="k-1",
        system_prompt="Be kind.",
        tools=(msgspec.structs.replace(tool("f"), parameters={}),),
    )


def test_identity_of_a_row(tmp_path: Path) -> None:
    """Version, environment and variant are taken from the row and never made up."""
    full = {"agent": "a", "agent_version": "v2", "environment": "eu", "variant": "canary"}
    first, second = read(written(tmp_path / "a.jsonl", HELLO | full, HELLO))
    assert first.identity == Identity(
        agent="a", agent_version="v2", environment="eu", variant="canary"
    )
    assert second.identity == Identity()


def test_formats_are_detected(tmp_path: Path) -> None:
    """Each format is recognised by its keys, and a text-only chat does not fix the dialect."""
    block = {"type": "tool_use", "id": "t", "name": "f", "input": {}}
    anthropic = {"messages": [{"role": "assistant", "content": [block]}]}
    rag = {"question": "q", "context": "c", "answer": "a"}
    assert format_of(HELLO) == "openai"
    assert format_of(HELLO | {"system": "s"}) == "anthropic"
    assert format_of(HELLO | {"tools": [{"name": "f", "input_schema": {}}]}) == "anthropic"
    assert format_of(rag) == "rag"
    assert format_of({"resourceSpans": []}) == "otlp"
    assert format_of({"text": "x"}) is None
    _, chat, answer = read(written(tmp_path / "a.jsonl", HELLO, anthropic, rag))
    assert chat.messages[0].tool_requests[0].name == "f"
    assert answer.documents == (Document(text="c"),)


def test_format_can_be_said(tmp_path: Path) -> None:
    """A given format is used for every row, and an unknown one is a configuration error."""
    path = written(tmp_path / "a.jsonl", HELLO | {"system": "Be kind."})
    assert [c.system_prompt for c in read(path, format="openai")] == [""]
    with pytest.raises(ConfigError, match="unknown transcript format 'xml'"):
        list(read(path, format="xml"))


def test_gzip_by_its_bytes(tmp_path: Path) -> None:
    """A gzipped file is read whatever its name."""
    path = tmp_path / "a.jsonl"
    path.write_bytes(gzip.compress(msgspec.json.encode(HELLO)))
    assert len(list(read(path))) == 1


@pytest.mark.parametrize("path", [None, Path("-")])
def test_standard_input(path: Path | None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a path, or with a dash, standard input is read."""
    stdin = io.TextIOWrapper(io.BufferedReader(io.BytesIO(msgspec.json.encode(HELLO))))
    monkeypatch.setattr(sys, "stdin", stdin)
    assert [c.id for c in read(path)] == ["line-1"]


def test_ids(tmp_path: Path) -> None:
    """A missing id is the file and the line, and repeated ids are told apart."""
    rows = [
        HELLO | {"id": "a"},
        b"",
        HELLO,
        HELLO | {"id": "a"},
        HELLO | {"id": 7},
        HELLO | {"id": "a"},
    ]
    ids = [c.id for c in read(written(tmp_path / "a.jsonl", *rows))]
    assert ids == ["a", "a-3", "a#2", "7", "a#3"]


def test_bad_lines_are_reported(tmp_path: Path) -> None:
    """A line that cannot be read is reported with its number, and the others go on."""
    unknown = {"messages": [{"role": "bot"}]}
    path = written(tmp_path / "a.jsonl", b"{oops", HELLO, b"[1]", {"text": "x"}, unknown, HELLO)
    errors: list[tuple[int, str]] = []
    read_back = list(read(path, on_error=lambda line, reason: errors.append((line, reason))))
    assert [c.id for c in read_back] == ["a-2", "a-6"]
    assert [line for line, _ in errors] == [1, 3, 4, 5]
    assert "not valid JSON" in errors[0][1]
    assert errors[1][1] == "not a JSON object"
    assert "no known transcript format" in errors[2][1]
    assert "unknown role 'bot'" in errors[3][1]


def test_bad_line_without_a_sink(tmp_path: Path) -> None:
    """Without a place to report it, a bad line is raised with its number."""
    with pytest.raises(TranscriptError, match="line 2: not a JSON object") as caught:
        list(read(written(tmp_path / "a.jsonl", HELLO, b"3")))
    assert caught.value.line == 2


def test_deep_nesting_is_a_bad_line(tmp_path: Path) -> None:
    """A line nested deeper than can be parsed is reported like any other bad line."""
    errors: list[int] = []
    path = written(tmp_path / "a.jsonl", b'{"a":' + b"[" * 100_000, HELLO)
    read_back = list(read(path, on_error=lambda line, _: errors.append(line)))
    assert (len(read_back), errors) == (1, [1])


def test_broken_gzip(tmp_path: Path) -> None:
    """A gzipped file that breaks off gives its whole lines and one error after them."""
    rows = b"".join(msgspec.json.encode(HELLO | {"id": n}) + b"\n" for n in range(20_000))
    path = tmp_path / "a.jsonl.gz"
    path.write_bytes(gzip.compress(rows)[:-2000])
    errors: list[tuple[int, str]] = []
    count = sum(1 for _ in read(path, on_error=lambda line, reason: errors.append((line, reason))))
    assert 0 < count < 20_000
    assert errors[0][0] == count + 1
    assert "cannot be read" in errors[0][1]


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=4),
    max_leaves=12,
)


@settings(deadline=None)
@given(JSON, st.sampled_from([None, *FORMATS[:3]]))
@example({"messages": [{"role": "user", "content": [{"type": []}]}]}, None)
def test_any_json_is_read_or_reported(row: Any, format: str | None) -> None:
    """Whatever JSON a line holds, it is a conversation or a reported line, never a crash."""
    with TemporaryDirectory() as folder:
        path = written(Path(folder) / "a.jsonl", row)
        errors: list[str] = []
        read_back = list(
            read(
                path,
                format=format,
                on_error=lambda _, reason: errors.append(reason),
            )
        )
        known = isinstance(row, dict) and format_of(row) in READERS
        assert len(read_back) + len(errors) == 1 or not known


def test_missing_file(tmp_path: Path) -> None:
    """A file that is not there is a configuration error that names it."""
    with pytest.raises(ConfigError, match="cannot read"):
        list(read(tmp_path / "missing.jsonl"))


def test_empty_file(tmp_path: Path) -> None:
    """An empty file holds no conversations."""
    assert list(read(written(tmp_path / "a.jsonl"))) == []


def test_tools_by_key(tmp_path: Path) -> None:
    """A tools key is looked up in the tools.json beside the file, else the line is an error."""
    written(tmp_path / "tools.json", {"shop": [{"function": {"name": "f"}}]})
    path = written(tmp_path / "a.jsonl", HELLO | {"tools": "shop"}, HELLO | {"tools": "bank"})
    errors: list[str] = []
    read_back = list(read(path, on_error=lambda _, reason: errors.append(reason)))
    assert [[t.name for t in c.tools] for c in read_back] == [["f"]]
    assert errors == ["`tools` is the key 'bank', which no tools.json beside the file defines"]


def test_labels(tmp_path: Path) -> None:
    """Labels are the row's own, with fault, faithful and source beside them."""
    labelled = HELLO | {"labels": {"looping": True}, "fault": "loop", "source": "mine"}
    path = written(tmp_path / "a.jsonl", labelled, HELLO)
    assert [labels for _, labels in read_labelled(path)] == [
        {"looping": True, "fault": "loop", "source": "mine"},
        {},
    ]


def test_rows_of_many_formats(tmp_path: Path) -> None:
    """One file may mix formats: rows that are conversations come first, spans' at the end."""
    span = {
        "context": {"trace_id": "0x" + "ab" * 16, "span_id": "0x" + "cd" * 8},
        "name": "chat",
        "start_time": "2026-03-01T10:00:00Z",
        "attributes": {
            "openinference.span.kind": "LLM",
            "input.value": "Hi",
            "output.value": "Hello",
            "session.id": "s-1",
        },
    }
    said = {"type": "user", "sessionId": "c-1", "message": {"role": "user", "content": "Hey"}}
    path = written(tmp_path / "a.jsonl", span, said, HELLO | {"id": "k"}, {"data": [span]})
    assert [c.id for c in read(path)] == ["k", "c-1", "s-1"]


def test_formats_that_are_said(tmp_path: Path) -> None:
    """Rows of a said format are found inside others too; what is none of it is reported."""
    span = {"trace_id": "ab" * 16, "span_id": "cd" * 8, "gen_ai.operation.name": "chat"}
    path = written(tmp_path / "a.jsonl", {"data": [span]}, HELLO)
    errors: list[tuple[int, str]] = []

    def report(line: int, reason: str) -> None:
        errors.append((line, reason))

    assert [c.span_count for c in read(path, format="spans", on_error=report)] == [1]
    assert list(read(path, format="claude-code", on_error=report)) == []
    assert [line for line, _ in errors] == [2, 1, 2]
    assert "not a line of a Claude Code session" in errors[-1][1]


def test_files_are_gathered(tmp_path: Path) -> None:
    """What several files of one command say of the same conversation is one conversation."""
    lines = [
        {"type": kind, "sessionId": "c-1", "uuid": kind, "message": {"content": kind}}
        for kind in ("user", "assistant")
    ]
    paths = [written(tmp_path / f"{n}.jsonl", line) for n, line in enumerate(lines)]
    gathering, ids = Gathering(), DistinctIds()
    for path in paths:
        assert list(read_labelled(path, ids=ids, gathering=gathering)) == []
    ((found, _),) = gathered(gathering, ids)
    assert [m.role for m in found.messages] == ["user", "assistant"]


def test_calls_at() -> None:
    """Every assistant message is a model call, but a greeting that opens the conversation."""
    greeting, reply = agent("Welcome"), agent("Hello")
    assert calls_at([greeting, user("Hi"), reply, reply]) == [2, 3]
    assert calls_at([greeting, agent("How can I help?")]) == []
    assert calls_at([agent("", request("f")), result("f", "ok"), reply]) == [0, 2]
