"""The documents say what the code says."""

import re
import shlex
from pathlib import Path

import pytest

from alerts.metrics import docs_rows
from collector.cli import COMMANDS, parser
from collector.commands.reference import BLOCKS, DOCUMENTS, rendered, stale
from collector.settings import settings
from scorers.registry import builtin

ROOT = Path(__file__).parent.parent


def read(name: str) -> str:
    """Return a document's text."""
    return (ROOT / name).read_text(encoding="utf-8")


def test_no_document_is_stale() -> None:
    """What is rendered from code is current; `make docs` renders it again."""
    assert not sorted(stale(ROOT))


def test_every_block_is_used() -> None:
    """Every table that can be rendered stands in some document."""
    text = "".join(read(name) for name in DOCUMENTS)
    assert {name for name in BLOCKS if f"<!-- begin {name} -->" in text} == set(BLOCKS)


def test_every_setting_is_documented() -> None:
    """Each configuration key has a row with its meaning."""
    text = read("docs/configuration.md")
    for setting in settings():
        assert setting.meaning
        assert f"| `{setting.key}` |" in text


def test_every_metric_is_documented() -> None:
    """Each metric of the catalogue has a row."""
    text = read("docs/metrics.md")
    for row in docs_rows():
        assert row[0] in text


def test_every_scorer_is_documented() -> None:
    """Each scorer has a section of its own and a row in the README."""
    for info in builtin():
        assert f"## `{info.name}`" in read("docs/scorers.md")
        assert f"| `{info.name}` |" in read("README.md")


def test_an_unknown_block_is_an_error() -> None:
    """A misspelt block is found when rendering, not by a reader."""
    with pytest.raises(LookupError, match="typo"):
        rendered("<!-- begin typo -->\n<!-- end typo -->")


def test_rendering_is_idempotent() -> None:
    """Rendering a rendered document changes nothing."""
    once = rendered("<!-- begin settings -->\n<!-- end settings -->\n")
    assert rendered(once) == once


@pytest.mark.parametrize("command", COMMANDS, ids=lambda c: c.name)
def test_every_example_parses(command: object) -> None:
    """The command lines in the help are ones that the parser takes."""
    examples = [line for c in COMMANDS if c is command for line in c.examples.splitlines()]
    assert 2 <= len(examples) <= 4
    for line in examples:
        bare = line.partition("#")[0].partition(" | jq")[0].partition(" > ")[0]
        bare = bare.split(" | ")[-1]
        words = [w for w in shlex.split(bare) if not re.match(r"[A-Z_]+=", w)]
        assert words[0] == "outrider"
        parser().parse_args(words[1:])


@pytest.mark.parametrize("name", ["README.md", "CONTRIBUTING.md", "CHANGELOG.md", *DOCUMENTS])
def test_links_lead_somewhere(name: str) -> None:
    """Every relative link and every named file of ours exists."""
    text = read(name)
    here = (ROOT / name).parent
    for target in re.findall(r"\]\(([^)#:]+)\)", text):
        assert (here / target).exists(), f"{name} links to {target}"
    for path in re.findall(r"`((?:collector|scorers|alerts|tests|examples|docs)/[\w/.]+)`", text):
        assert (ROOT / path).exists(), f"{name} names {path}"
