"""Play every recording under every library, and write docs/capture.md.

``python -m tests.capture [WORDS]``: with words, only libraries whose names hold them, and no page.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from bench.environments import Environments
from bench.failure import UnavailableError
from tests.capture.libraries import LIBRARIES, Library
from tests.capture.page import page
from tests.capture.playing import DriverError, play
from tests.capture.recordings import Cassette, cassettes
from tests.capture.tally import Tally

ROOT = Path(__file__).parent.parent.parent
PAGE = ROOT / "docs" / "capture.md"
_SHOWN = 10
_WIDTH = 300


def main(words: str) -> int:
    """Play, say what was lost, and return 1 if anything was."""
    corpora = Path(os.environ.get("OUTRIDER_CORPORA") or ROOT.parent / "shared" / "corpora")
    recordings = corpora / "recordings"
    if not recordings.is_dir():
        print(f"There are no recordings at {recordings}; nothing was played.")
        print("OUTRIDER_CORPORA names the directory that has them.")
        return 0
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "outrider-capture"
    environments = Environments(cache)
    read: dict[str, list[Cassette]] = {}
    tallies: dict[str, Tally] = {}
    failed = 0
    for library in LIBRARIES:
        if words.lower() not in library.name.lower():
            continue
        for api in library.apis:
            read.setdefault(api, list(cassettes(recordings, api)))
        played = [cassette for api in library.apis for cassette in read[api]]
        try:
            tallies[library.name] = tally = _tally(library, played, environments)
        except (UnavailableError, DriverError) as error:
            print(f"{library.name}: {error}")
            failed += 1
            continue
        failed += bool(tally.lost)
        _tell(library, tally)
    if not words and len(tallies) == len(LIBRARIES):
        PAGE.write_text(page(tallies))
    print(f"{len(tallies) - failed if failed <= len(tallies) else 0} passed, {failed} failed")
    return 1 if failed else 0


def _tally(library: Library, played: list[Cassette], environments: Environments) -> Tally:
    name = "_".join(library.packages).replace("==", "-").replace("[", "-").replace("]", "")
    # Theirs are not ours: what they need of OpenTelemetry comes in their own versions.
    needed = ("opentelemetry-sdk", "opentelemetry-exporter-otlp-proto-http")
    python = environments.made(name[:200], [*library.packages, *needed]) / "python"
    tally = Tally()
    for one in play(library, played, python):
        tally.add(one)
    return tally


def _tell(library: Library, tally: Tally) -> None:
    print(f"{library.name}: {tally.calls} calls, {len(tally.lost)} facts lost", flush=True)
    for cassette, finding in tally.lost[:_SHOWN]:
        print(f"  lost: {cassette[-_WIDTH:]}: {str(finding.fact)[:_WIDTH]}")


if __name__ == "__main__":
    sys.exit(main(" ".join(sys.argv[1:])))
