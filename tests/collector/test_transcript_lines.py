"""Files are read line by line, and what holds no object is reported."""

import json
from typing import Any

import pytest

from collector.transcript_lines import rows

ROW = {"id": "a", "messages": [{"role": "user", "content": "Hi"}]}


def read(text: str) -> tuple[list[int], list[tuple[int, str]]]:
    """Return the numbers of the rows that were read, and the reports."""
    errors: list[tuple[int, str]] = []
    lines = text.encode().splitlines(keepends=True)
    found = [number for number, _, _ in rows(lines, lambda *error: errors.append(error))]
    return found, errors


@pytest.mark.parametrize("document", [ROW, [ROW, ROW], [ROW]])
@pytest.mark.parametrize("indent", [None, 2])
@pytest.mark.parametrize("blank", ["", "\n\n"])
def test_a_document_is_read_object_by_object(document: Any, indent: int | None, blank: str) -> None:
    """A document, over many lines or on one, gives its objects with the lines they begin on."""
    found, errors = read(blank + json.dumps(document, indent=indent))
    many = isinstance(document, list)
    first = len(blank) + (2 if many and indent else 1)
    assert len(found) == (len(document) if many else 1)
    assert (found[0], errors) == (first, [])


def test_a_list_with_a_row_a_line() -> None:
    """A list may hold its rows on lines of their own, and a broken one hides no other."""
    row = json.dumps(ROW)
    for text in (f"[{row},\n{row},\n{row}]", f"[\n{row}\n]", f"[\n{row},\n{row}\n]\n"):
        found, errors = read(text)
        assert (len(found), errors) == (text.count("}]}"), [])
    found, errors = read(f'[\n{row},\n{{"id": tru}},\n{row}\n]')
    assert (found, [number for number, _ in errors]) == ([2, 4], [3])


def test_documents_one_after_the_other() -> None:
    """Pretty-printed objects may follow each other, as ``jq`` writes them."""
    found, errors = read(json.dumps(ROW, indent=2) + "\n" + json.dumps(ROW, indent=2))
    assert (len(found), found[0], errors) == (2, 1, [])


def test_lists_on_lines() -> None:
    """A line may hold a list of rows, which share its number."""
    found, errors = read(f"{json.dumps(ROW)}\n{json.dumps([ROW, ROW])}\n[1]\n")
    assert (found, errors) == ([1, 2, 2], [(3, "not a JSON object")])


def test_long_lines_come_in_pieces() -> None:
    """Lines that are read in pieces are put together, and counted once."""
    text = (json.dumps(ROW) + "\n").encode() * 3
    errors: list[tuple[int, str]] = []
    pieces = [piece for line in text.splitlines(keepends=True) for piece in (line[:5], line[5:])]
    found = [number for number, _, _ in rows(pieces, lambda *error: errors.append(error))]
    assert (found, errors) == ([1, 2, 3], [])


@pytest.mark.parametrize("broken", ['{"id": "a",', "{"])
def test_a_broken_first_row_does_not_hide_the_others(broken: str) -> None:
    """Where whole rows follow, the first line was a row that was cut off."""
    found, errors = read(f"{broken}\n{json.dumps(ROW)}\n\n{json.dumps(ROW)}\n")
    assert found == [2, 4]
    assert [number for number, _ in errors] == [1]
    assert "not valid JSON" in errors[0][1]


def test_a_text_that_was_cut_inside_a_character() -> None:
    """The row is read; the half is marked as what it is."""
    found = list(rows([rb'{"a": "cut \ud83d"}', b"\n"], lambda *error: pytest.fail(str(error))))
    assert [row for _, _, row in found] == [{"a": "cut \ufffd"}]


def test_what_pandas_and_windows_write() -> None:
    """Cells that are missing are nothing, and a mark of the byte order is no part of a row."""
    errors: list[tuple[int, str]] = []
    lines = [b'\xef\xbb\xbf{"a": NaN}\n', b'{"a": [-Infinity, 1]}\n', b'{"a": NaN\n']
    lines += [b'{"a": NaN, "b": "\\ud800"}\n']
    found = [row for _, _, row in rows(lines, lambda *error: errors.append(error))]
    assert found == [{"a": None}, {"a": [None, 1]}, {"a": None, "b": "\ufffd"}]
    assert [number for number, _ in errors] == [3]
