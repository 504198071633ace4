"""Watch by the detectors of river, which runs in an environment of its own."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from bench.detectors.traffic import DAY
from bench.detectors.watchers import Alarm, Watch, Watcher
from bench.environments import Environments
from bench.failure import UnavailableError

PACKAGE = "river"
_SCRIPT = Path(__file__).with_name("river_script.py")
_BITS = bytes.maketrans(b"\x00\x01", b"01")


@contextmanager
def river(environments: Environments) -> Iterator[tuple[str, tuple[Watcher, ...]]]:
    """Give river's version and its watchers while it runs.

    Raises:
        UnavailableError: it cannot be installed.
    """
    binaries, version = environments.installed(PACKAGE)
    with subprocess.Popen(
        [str(binaries / "python"), str(_SCRIPT)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        yield (
            version,
            (
                Watcher(
                    name="ADWIN",
                    note=f"river {version}, defaults: finds changes of either direction, needs no reference",
                    watch=_asking(process, "ADWIN"),
                ),
                Watcher(
                    name="Page-Hinkley",
                    note=f"river {version}, defaults, upwards",
                    watch=_asking(process, "PageHinkley"),
                ),
            ),
        )
        if process.stdin is not None:
            process.stdin.close()


def _asking(process: subprocess.Popen[str], detector: str) -> Watch:
    def watch(verdicts: bytes) -> list[Alarm]:
        if process.stdin is None or process.stdout is None:
            raise AssertionError("both are pipes")
        asked = {"detector": detector, "verdicts": verdicts.translate(_BITS).decode()}
        process.stdin.write(json.dumps(asked) + "\n")
        process.stdin.flush()
        line = process.stdout.readline()
        if not line:
            raise UnavailableError("river ended")
        return [(at, at + 1) for at in json.loads(line) if at >= DAY]

    return watch
