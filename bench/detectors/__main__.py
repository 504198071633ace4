"""Simulate the detectors beside others and write docs/alarms.md: ``python -m bench.detectors``."""

from __future__ import annotations

import argparse
import contextlib
import os
import sys
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from bench.detectors.measured import delay, healthy, quiet, worsening
from bench.detectors.page import WORSE, Row, page
from bench.detectors.river_peer import river
from bench.detectors.traffic import KINDS
from bench.detectors.watchers import OURS, RIVALS, Watcher
from bench.environments import Environments
from bench.failure import UnavailableError

ROOT = Path(__file__).parent.parent.parent


def main(argv: Sequence[str] | None = None) -> int:
    """Run the simulation; 1 when something could not be measured."""
    arguments = _parser().parse_args(argv)
    began = time.monotonic()

    def say(text: str) -> None:
        print(f"bench {time.monotonic() - began:5.0f} s: {text}", file=sys.stderr, flush=True)

    problems: list[str] = []
    with contextlib.ExitStack() as stack:
        watchers: list[Watcher] = [*OURS, *RIVALS]
        if not arguments.no_peers:
            try:
                environments = Environments(arguments.cache.expanduser().resolve() / "peers")
                watchers += stack.enter_context(river(environments))[1]
            except UnavailableError as error:
                problems.append(f"river: {error}")
        rows = []
        for watcher in watchers:
            say(watcher.name)
            rows.append(
                Row(
                    watcher=watcher,
                    quiet={
                        kind: quiet(watcher, healthy(arguments.seed, kind, runs=arguments.runs))
                        for kind in KINDS
                    },
                    delays=[
                        delay(watcher, worsening(arguments.seed, worse, runs=3 * arguments.runs))
                        for worse in WORSE
                    ],
                )
            )
    text = page(
        rows,
        command=" ".join(["python -m bench.detectors", *(sys.argv[1:] if argv is None else argv)]),
        date=datetime.now(UTC).strftime("%Y-%m-%d"),
        seed=arguments.seed,
        quiet_runs=arguments.runs,
        delay_runs=3 * arguments.runs,
        problems=problems,
    )
    arguments.output.write_text(text, encoding="utf-8")
    say(f"{arguments.output} written")
    return 1 if problems else 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m bench.detectors",
        description="Simulate the detectors beside windows, tests and river's detectors.",
    )
    parser.add_argument("--seed", type=int, default=20_260_301, metavar="N")
    parser.add_argument(
        "--runs",
        type=int,
        default=200,
        metavar="N",
        help="healthy months a method; three times as many of each change (default: 200)",
    )
    parser.add_argument("--no-peers", action="store_true", help="leave river out")
    parser.add_argument(
        "--output",
        type=Path,
        default=ROOT / "docs" / "alarms.md",
        metavar="FILE",
        help="the page to write (default: docs/alarms.md)",
    )
    parser.add_argument(
        "--cache",
        type=Path,
        default=Path(os.environ.get("XDG_CACHE_HOME", "~/.cache")) / "outrider-bench",
        metavar="DIR",
        help="environments of the peers",
    )
    return parser


if __name__ == "__main__":
    sys.exit(main())
