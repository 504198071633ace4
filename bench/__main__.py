"""Measure Outrider beside its peers and write docs/benchmarks.md: ``python -m bench``."""

from __future__ import annotations

import argparse
import os
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from bench.campaign import Pairing, run
from bench.corpus_spans import corpus_spans, draw
from bench.environments import Environments
from bench.machine import machine
from bench.outrider import Outrider
from bench.page import page
from bench.peers import MLFLOW, PHOENIX, Peer
from bench.proxy_latency import added_latency
from bench.recovery import GIB, line, recovery
from bench.small_spans import small_spans

ROOT = Path(__file__).parent.parent
LOADS = ("small", "sustained", "corpus")
PROXY = "proxy"
"""Not a load: what the proxy adds to calls."""
SEED = 20_260_301
RECOVERY = "recovery"
"""Not a load either: how soon an instance with a large journal receives again; printed, not on the page."""
WARM_UP = 16
"""Conversations."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the benchmark; 1 when something could not be measured."""
    arguments = _parser().parse_args(argv)
    # An end from outside runs what stands in ``finally``, so that no server is left behind.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    cache: Path = arguments.cache.expanduser().resolve()
    cache.mkdir(parents=True, exist_ok=True)
    scratch = Path(tempfile.mkdtemp(prefix="run-", dir=cache))
    began = time.monotonic()

    def say(text: str) -> None:
        print(f"bench {time.monotonic() - began:5.0f} s: {text}", file=sys.stderr, flush=True)

    try:
        here = machine(scratch)
        wanted = arguments.only or (*LOADS, PROXY, RECOVERY)
        say(f"load average {here.load_average:.2f}; a busy machine gives figures that mean little")
        added = None
        if PROXY in wanted:
            say("calls through the proxy and directly, in turns")
            added = added_latency(scratch, calls=5 if arguments.quick else 20)
        if RECOVERY in wanted:
            say("starts on a large journal")
            for concluded in (True, False):
                size = GIB // (8 if arguments.quick else 1)
                say(line(recovery(scratch, size=size, concluded=concluded)))
        say("preparing the requests")
        outcome = run(
            pairings(
                [name for name in wanted if name in LOADS],
                quick=arguments.quick,
                corpora=arguments.corpora,
            ),
            Outrider(),
            [] if arguments.no_peers else _peers(cache),
            warm_up=small_spans(WARM_UP, seed=SEED + 1, max_spans=2),
            rounds=arguments.rounds or (1 if arguments.quick else 3),
            senders=arguments.senders,
            scratch=scratch,
            say=say,
        )
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    text = page(
        outcome,
        here,
        added,
        date=datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        command=" ".join(["python -m bench", *(sys.argv[1:] if argv is None else argv)]),
    )
    arguments.output.write_text(text, encoding="utf-8")
    say(f"{arguments.output} written")
    return 1 if outcome.problems else 0


def pairings(only: Sequence[str], *, quick: bool, corpora: Path) -> list[Pairing]:
    """Prepare the loads that were asked for.

    Peers are slow, so what they are sent too is short; *sustained* is for Outrider alone.
    """
    share = 4 if quick else 1
    found: list[Pairing] = []
    for name in only:
        if name == "corpus":
            drawn, story = draw(corpora, 400 // share, seed=SEED)
            load = corpus_spans(drawn, story=story, seed=SEED)
        else:
            sustained = name == "sustained"
            count = (6_000 if sustained else 160) // share
            title = "Small spans, sustained" if sustained else "Small spans"
            load = small_spans(count, seed=SEED, name=name, title=title)
        found.append(Pairing(load=load, with_peers=name != "sustained"))
    return found


def _peers(cache: Path) -> list[Peer]:
    environments = Environments(cache / "peers")
    return [Peer(recipe, environments) for recipe in (PHOENIX, MLFLOW)]


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m bench", description="Measure Outrider beside Phoenix and MLflow."
    )
    parser.add_argument("--rounds", type=int, default=0, metavar="N", help="default: 3")
    parser.add_argument(
        "--only",
        action="append",
        choices=(*LOADS, PROXY, RECOVERY),
        help="one part; may be given several times",
    )
    parser.add_argument("--quick", action="store_true", help="one round, a quarter of each load")
    parser.add_argument("--no-peers", action="store_true", help="measure Outrider alone")
    parser.add_argument(
        "--senders", type=int, default=4, metavar="N", help="connections (default: 4)"
    )
    parser.add_argument(
        "--output",
        type=Path,
        default=ROOT / "docs" / "benchmarks.md",
        metavar="FILE",
        help="the page to write (default: docs/benchmarks.md)",
    )
    parser.add_argument(
        "--corpora",
        type=Path,
        default=Path(os.environ.get("OUTRIDER_CORPORA", ROOT.parent / "shared" / "corpora")),
        metavar="DIR",
        help="real conversations (default: OUTRIDER_CORPORA)",
    )
    parser.add_argument(
        "--cache",
        type=Path,
        default=Path(os.environ.get("XDG_CACHE_HOME", "~/.cache")) / "outrider-bench",
        metavar="DIR",
        help="environments of the peers, and the data while a system runs",
    )
    return parser


if __name__ == "__main__":
    sys.exit(main())
