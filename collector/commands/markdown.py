"""Write Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Sequence


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Write a table; a cell may hold several lines and bars."""
    lines = [header, ["---"] * len(header), *rows]
    return "".join("| " + " | ".join(_cell(cell) for cell in line) + " |\n" for line in lines)


def markdown(text: str) -> str:
    """Turn a docstring's double backticks into Markdown's single ones."""
    return text.replace("``", "`")


def _cell(text: str) -> str:
    return markdown(" ".join(text.split())).replace("|", "\\|")
