"""What is installed is pinned by hash, from whatever index the machine has."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PINNED = sorted((ROOT / "requirements").glob("*.txt"))
_PIN = re.compile(
    r"[a-z0-9][a-z0-9._-]*(\[[a-z0-9,-]+\])?==\S+( ; [^\\]+)?( --hash=sha256:[0-9a-f]{64})+"
)


def pins(text: str) -> list[str]:
    """Return the logical lines of a file."""
    joined = re.sub(r"\s*\\\n\s*", " ", text)
    return [line for line in joined.splitlines() if line.strip()]


def problems(text: str) -> list[str]:
    """Return the lines that are no pin with hashes: an index, a URL, a range, an option."""
    return [line for line in pins(text) if not _PIN.fullmatch(line)]


@pytest.mark.parametrize("path", PINNED, ids=lambda path: path.name)
def test_every_requirement_is_pinned_by_hash(path: Path) -> None:
    """No file names an index or a URL, and no line lacks a version or a hash."""
    text = path.read_text(encoding="utf-8")
    assert len(pins(text)) > 10
    assert problems(text) == []


@pytest.mark.parametrize(
    "line",
    [
        "--index-url somewhere",
        "anyio==4.16.0",
        "anyio>=4 --hash=sha256:" + "0" * 64,
        "anyio @ https://files.example/anyio.whl --hash=sha256:" + "0" * 64,
        "anyio==4.16.0 --hash=md5:" + "0" * 32,
        "-e .",
    ],
)
def test_the_test_would_notice(line: str) -> None:
    """Each way around a hash is a problem."""
    assert problems(f"{line}\n") == [line]


def test_everything_pinned_is_written_by_make_lock() -> None:
    """No file is left behind when dependencies are upgraded, and each is audited."""
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for path in PINNED:
        assert f"--output-file requirements/{path.name}\n" in makefile
    assert "for file in requirements/*.txt" in makefile


def test_ci_asks_nobody_for_vulnerabilities() -> None:
    """`make audit` needs the network, which the suite does not."""
    assert "make audit" not in (ROOT / ".ci" / "run").read_text(encoding="utf-8")
