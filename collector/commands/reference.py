"""Render the tables of the README and ``docs/`` from the code.

A document holds blocks ``<!-- begin NAME -->`` … ``<!-- end NAME -->``; what stands between
is written by ``python -m collector.commands.reference`` and nothing else. With ``--check``
nothing is written and the exit code is 1 when a document is stale.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from collector.commands.markdown import markdown, table
from collector.commands.scorer_reference import (
    constraints_block,
    policy_block,
    sample_verdict_block,
    scorers_block,
    scorers_short_block,
    skip_reasons_block,
)
from collector.settings import section_meanings, settings

ROOT = Path(__file__).parent.parent.parent
DOCUMENTS = (
    "README.md",
    "docs/alerts.md",
    "docs/commands.md",
    "docs/configuration.md",
    "docs/durability.md",
    "docs/metrics.md",
    "docs/outcomes.md",
    "docs/privacy.md",
    "docs/proxy.md",
    "docs/scorers.md",
    "docs/traffic.md",
    "docs/transcripts.md",
)

_BLOCK = re.compile(r"(<!-- begin (?P<name>[a-z-]+) -->\n).*?(<!-- end (?P=name) -->)", re.DOTALL)


def main(argv: Sequence[str] | None = None) -> int:
    """Write the documents again, or say which are stale."""
    parser = argparse.ArgumentParser(description="Render the tables of the README and docs/.")
    parser.add_argument("--check", action="store_true", help="write nothing; fail when stale")
    check = parser.parse_args(argv).check
    found = stale(ROOT)
    for name, text in found.items():
        if check:
            print(f"{name} is stale; run `make docs`", file=sys.stderr)
        else:
            (ROOT / name).write_text(text, encoding="utf-8")
            print(f"{name} written")
    return 1 if check and found else 0


def stale(root: Path) -> dict[str, str]:
    """Return the documents that differ from what the code says, with their right text."""
    found: dict[str, str] = {}
    for name in DOCUMENTS:
        text = (root / name).read_text(encoding="utf-8")
        right = rendered(text)
        if right != text:
            found[name] = right
    return found


def rendered(text: str) -> str:
    """Fill every block of a document.

    Raises:
        LookupError: there is no renderer of a block's name.
    """

    def fill(match: re.Match[str]) -> str:
        renderer = BLOCKS.get(match["name"])
        if renderer is None:
            raise LookupError(f"no block is called {match['name']!r}")
        return f"{match[1]}{renderer()}{match[3]}"

    return _BLOCK.sub(fill, text)


def settings_block() -> str:
    """Render every configuration key, a table for each section."""
    parts: list[str] = []
    for section, meaning in section_meanings().items():
        rows = [
            (f"`{s.key}`", s.kind, f"`{s.default}`", s.meaning)
            for s in settings()
            if s.section == section
        ]
        keys = table(("key", "expects", "default", "meaning"), rows)
        parts.append(f"\n## `{section}`\n\n{markdown(meaning)}\n\n{keys}")
    return "".join(parts) + "\n"


def sections_block() -> str:
    """Render the sections of the configuration in one short table."""
    return table(
        ("section", "what it sets"), ((f"`{k}`", v) for k, v in section_meanings().items())
    )


def metrics_block() -> str:
    """Render every metric of the catalogue."""
    from alerts.metrics import docs_rows

    return table(("metric", "kind", "labels", "meaning", "stability"), docs_rows())


def metrics_short_block() -> str:
    """Render the metrics that speak of the agents' quality in one short table."""
    from alerts.metrics import CATALOGUE, PREFIX

    rows = (
        (f"`{PREFIX}{metric.name}`", ", ".join(metric.labels), metric.help)
        for metric in CATALOGUE.values()
        if metric.group == "quality"
    )
    return table(("metric", "labels", "meaning"), rows)


def commands_block() -> str:
    """Render every command with its description and examples."""
    from collector.cli import COMMANDS

    return (
        "".join(
            f"\n## `outrider {c.name}`\n\n{c.description}\n\n```sh\n{c.examples.strip()}\n```\n"
            for c in COMMANDS
        )
        + "\n"
    )


def commands_short_block() -> str:
    """Render every command in one short table."""
    from collector.cli import COMMANDS

    return table(("command", "what it does"), ((f"`{c.name}`", c.summary) for c in COMMANDS))


BLOCKS: Mapping[str, Callable[[], str]] = {
    "commands": commands_block,
    "commands-short": commands_short_block,
    "constraints": constraints_block,
    "metrics": metrics_block,
    "metrics-short": metrics_short_block,
    "policy": policy_block,
    "sample-verdict": sample_verdict_block,
    "scorers": scorers_block,
    "scorers-short": scorers_short_block,
    "sections": sections_block,
    "settings": settings_block,
    "skip-reasons": skip_reasons_block,
}


if __name__ == "__main__":
    sys.exit(main())
