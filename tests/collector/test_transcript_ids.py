"""Conversations of transcript files have names of their own."""

from pathlib import Path

import pytest

from collector.transcript_ids import DistinctIds, id_of_line


@pytest.mark.parametrize(
    ("path", "id"),
    [
        (None, "line-7"),
        (Path("-"), "line-7"),
        (Path("there/monday.jsonl"), "monday-7"),
        (Path("monday.jsonl.gz"), "monday-7"),
        (Path("shop.eu.json"), "shop.eu-7"),
        (Path(".jsonl"), "line-7"),
    ],
)
def test_a_row_without_an_id_is_named_by_its_place(path: Path | None, id: str) -> None:
    """The name is the file's, without its endings, and the line's number."""
    assert id_of_line(path, 7) == id


def test_repeated_ids_are_numbered() -> None:
    """No id is given twice, not even one that looks like a numbered one."""
    ids = DistinctIds()
    given = list(map(ids.distinct, ("a", "a", "b", "a#2", "a", "a#3")))
    assert given == ["a", "a#2", "b", "a#2#2", "a#3", "a#3#2"]
