"""Name the conversations of transcript files so that no two of one command share a name."""

from __future__ import annotations

from pathlib import Path

_ENDINGS = (".gz", ".jsonl", ".ndjson", ".json")


def id_of_line(path: Path | None, number: int) -> str:
    """Name a row that has no id by its file and line: ``monday-7``; ``line-7`` on standard input."""
    stem = "" if path is None or str(path) == "-" else path.name
    for ending in _ENDINGS:
        stem = stem.removesuffix(ending)
    return f"{stem or 'line'}-{number}"


class DistinctIds:
    """Tell repeated ids apart: ``a``, ``a#2``, ``a#3``; the order of the rows decides."""

    def __init__(self) -> None:
        self._given: set[str] = set()
        self._counts: dict[str, int] = {}

    def distinct(self, id: str) -> str:
        """Return the id, or the first ``id#n`` from 2 on that was not given yet."""
        name = id
        count = self._counts.get(id, 1)
        while name in self._given:
            count += 1
            name = f"{id}#{count}"
        self._counts[id] = count
        self._given.add(name)
        return name
