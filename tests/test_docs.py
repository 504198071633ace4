"""The documents say what the code says."""

import json
import re
import shlex
from pathlib import Path

import pytest

from alerts.metrics import docs_rows
from collector.api import EXPORTS
from collector.cli import COMMANDS, main, parser
from collector.commands.reference import BLOCKS, DOCUMENTS, rendered, stale
from collector.commands.scorer_reference import SKIP_REASONS, skip_reasons
from collector.settings import settings
from collector.transcripts import FORMATS, format_of
from scorers.evaluation import is_faulty
from scorers.registry import builtin

ROOT = Path(__file__).parent.parent


PAGES = sorted(str(p.relative_to(ROOT)) for p in (*ROOT.glob("*.md"), *ROOT.glob("docs/*.md")))


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


@pytest.mark.parametrize("name", PAGES)
def test_links_lead_somewhere(name: str) -> None:
    """Every relative link and every named file of ours exists."""
    text = read(name)
    here = (ROOT / name).parent
    for target in re.findall(r"\]\(([^)#:]+)\)", text):
        assert (here / target).exists(), f"{name} links to {target}"
    for path in re.findall(r"`((?:collector|scorers|alerts|tests|examples|docs)/[\w/.]+)`", text):
        assert (ROOT / path).exists(), f"{name} names {path}"


@pytest.mark.parametrize("name", PAGES)
def test_links_lead_to_headings(name: str) -> None:
    """Every link to a part of a document finds its heading."""
    here = (ROOT / name).parent
    for target, part in re.findall(r"\]\(([^)#:]*)#([^)]+)\)", read(name)):
        linked = here / target if target else ROOT / name
        headings = re.findall(r"^#+ (.+)$", linked.read_text(encoding="utf-8"), re.MULTILINE)
        anchors = {re.sub(r"[^\w\- ]", "", text.lower()).replace(" ", "-") for text in headings}
        assert part in anchors, f"{name} links to {target}#{part}"


def test_every_skip_reason_is_explained() -> None:
    """Each reason for which a scorer skips has its meaning, and no other has."""
    given = {reason for info in builtin() for reason in skip_reasons(info)}
    assert given == set(SKIP_REASONS)


def test_the_sample_verdict_is_real(capsys: pytest.CaptureFixture[str]) -> None:
    """The verdict that the README shows is a line that its own command prints."""
    assert main(["score", str(ROOT / "examples" / "support.jsonl")]) == 0
    shown = re.search(r"begin sample-verdict -->\n```json\n(.+)\n```", read("README.md"))
    assert shown is not None
    assert shown[1] in capsys.readouterr().out.splitlines()


def test_the_transcripts_are_ones_that_are_read(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Each example row is of the format it stands under, and is scored."""
    sections = re.findall(
        r"\(`([\w-]+)`\)\n.*?```json\n(.+?)\n```", read("docs/transcripts.md"), re.DOTALL
    )
    assert {name for name, _ in sections} == set(FORMATS)
    for name, row in sections:
        assert format_of(json.loads(row)) == name
        path = tmp_path / f"{name}.jsonl"
        path.write_text(row)
        assert main(["score", str(path)]) == 0
        scores = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
        assert {score["conversation_id"] for score in scores} == {re.findall(r"\"(k-\d)\"", row)[0]}


def test_the_labels_are_ones_that_are_measured() -> None:
    """Each label of the table speaks of the scorers beside it, in the sense the table says."""
    table = re.findall(
        r"^\| `(\w+)` \| (`.+`) \| (.+) \|$", read("docs/transcripts.md"), re.MULTILINE
    )
    measured = set()
    for label, scorers, meaning in table:
        for scorer in re.findall(r"`(\w+)`", scorers):
            measured.add(scorer)
            assert is_faulty(scorer, {label: True}) is ("`false` is a fault" not in meaning)
    assert measured == {i.name for i in builtin()} - {"ignored_tool_error"}


def test_every_endpoint_is_documented() -> None:
    """What the ports answer stands in the table of paths."""
    text = read("docs/traffic.md")
    for path in ("/v1/traces", "/v1/logs", "/v1/metrics", "/metrics", "/healthz", "/readyz"):
        assert f"{path}`" in text
    assert all(f"`{what}`" in text for what in EXPORTS)
