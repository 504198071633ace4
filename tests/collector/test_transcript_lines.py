"""Files are read line by line, and what holds no object is reported."""

import json
from typing import Any

import pytest

from collector.transcript_lines import NOT_LINES, rows

ROW = {"id": "a", "messages": [{"role": "user", "content": "Hi"}]}


def read(text: str) -> tuple[list[int], list[tuple[int, str]]]:
    """Return the numbers of the rows that were read, and the reports."""
    errors: list[tuple[int, str]] = []
    lines = text.encode().splitlines(keepends=True)
    found = [number for number, _, _ in rows(lines, lambda *error: errors.append(error))]
    return found, errors


@pytest.mark.parametrize("document", [ROW, [ROW, ROW], [ROW]])
@pytest.mark.parametrize("blank", ["", "\n\n"])
def test_a_pretty_printed_document_is_one_error(document: Any, blank: str) -> None:
    """A document over many lines is said to be one, once, with the way out."""
    found, errors = read(blank + json.dumps(document, indent=2))
    assert found == []
    ((number, reason),) = errors
    assert number == len(blank) + 1
    assert reason.startswith(NOT_LINES)
    assert ("jq -c '.[]'" in reason) == isinstance(document, list)


def test_a_list_with_a_row_a_line_is_one_error() -> None:
    """So is a list that holds its rows on lines of their own."""
    row = json.dumps(ROW)
    for text in (f"[{row},\n{row},\n{row}]", f"[\n{row}\n]", f"[\n{row},\n{row}\n]"):
        assert [reason.startswith(NOT_LINES) for _, reason in read(text)[1]] == [True]


def test_a_list_on_one_line_is_one_error() -> None:
    """A list of rows on one line is told from other values."""
    found, ((number, reason),) = read(json.dumps([ROW, ROW]))
    assert (found, number) == ([], 1)
    assert reason.startswith(NOT_LINES)


@pytest.mark.parametrize("broken", ['{"id": "a",', "{"])
def test_a_broken_first_row_does_not_hide_the_others(broken: str) -> None:
    """Where whole rows follow, the first line was a row that was cut off."""
    found, errors = read(f"{broken}\n{json.dumps(ROW)}\n\n{json.dumps(ROW)}\n")
    assert found == [2, 4]
    assert [number for number, _ in errors] == [1]
    assert "not valid JSON" in errors[0][1]
