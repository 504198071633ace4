"""Run an instance at half of what the machine can do, break something every few seconds, and compare the books.

``python -m tests.faults.soak --minutes 10`` prints what it did and exits with 1 when anything was
lost, doubled or judged otherwise than in an undisturbed run, or when memory grew.
"""

from __future__ import annotations

import argparse
import random
import statistics
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import httpx

from collector.model import Conversation
from collector.replay import Request
from collector.replay_client import Report, send
from tests.clickhouse_endpoint import Endpoint, FaultMode
from tests.e2e.served import PATIENCE_S, Sending, Served, eventually
from tests.e2e.traffic import synthetic
from tests.faults.books import check_once, planned, undisturbed
from tests.faults.disks import FullFiles
from tests.faults.test_clock import BELOW_IDLE, HOUR, Wall
from tests.faults.test_store import ROWS

CHUNK = 36
"""Conversations under way at a time in each sender."""
SENDERS = 3
FAULT_EVERY_S = (2.0, 6.0)
FAULT_LASTS_S = (0.5, 4.0)
GROWTH = 1.25
"""By how much the memory of the last fifth may exceed that of the second."""
DRAINED_S = 600.0
_STORE: tuple[tuple[FaultMode, int], ...] = (
    ("refuse", 0),
    ("hang", 0),
    ("late", 0),
    ("half", 0),
    ("mute", 0),
    ("error", 16),
    ("error", 164),
    ("error", 241),
    ("error", 252),
)


class Stream(threading.Thread):
    """Send conversations without end at a steady rate, as exporters that try again."""

    def __init__(self, served: Served, *, number: int, per_s: float) -> None:
        super().__init__(daemon=True)
        self._url = served.receive
        self._number = number
        self._per_s = per_s
        self._over = threading.Event()
        self.conversations: list[Conversation] = []
        self.requests: list[Request] = []
        self.report = Report()

    def run(self) -> None:
        """Send until told to end; what was begun is sent to its end."""
        with httpx.Client(timeout=PATIENCE_S, trust_env=False) as client:
            self.report = send(
                self._paced(),
                url=self._url,
                client=client,
                sleep=lambda seconds: time.sleep(min(seconds, 0.2)),
            )

    def _paced(self) -> Iterator[Request]:
        began, sent = time.monotonic(), 0
        for chunk in range(1_000_000):
            if self._over.is_set():
                return
            told = synthetic(CHUNK, seed=10_000_000 * (self._number + 1) + chunk)
            requests = planned(told)
            self.conversations += told
            for place, request in enumerate(requests):
                self.requests.append(request)
                due = began + (sent + CHUNK * place / len(requests)) / self._per_s
                time.sleep(max(0.0, due - time.monotonic()))
                yield request
            sent += CHUNK
            # After an outage it goes on at its rate, as live traffic does, and catches nothing up.
            began = max(began, time.monotonic() - sent / self._per_s - 1.0)

    def finish(self) -> None:
        """End, and hold that everything was acknowledged."""
        self._over.set()
        self.join(DRAINED_S)
        assert not self.is_alive()
        assert not self.report.stopped, self.report.problem
        assert self.report.requests == len(self.requests)


class Watching(threading.Thread):
    """Note the process's resident memory every second."""

    def __init__(self, served: Served) -> None:
        super().__init__(daemon=True)
        self._served = served
        self._over = threading.Event()
        self.bytes: list[int] = []

    def run(self) -> None:
        """Go on until told to stop."""
        while not self._over.wait(1.0):
            process = self._served.process
            try:
                status = Path(f"/proc/{process.pid if process else 0}/status").read_text()
            except OSError:
                continue
            for line in status.splitlines():
                if line.startswith("VmRSS:"):
                    self.bytes.append(int(line.split()[1]) * 1024)

    def finish(self) -> None:
        """Stop."""
        self._over.set()
        self.join()


class Breaking:
    """Break one thing at a time, and mend it."""

    def __init__(
        self, served: Served, endpoint: Endpoint, wall: Wall, *, seed: int, without: Sequence[str]
    ) -> None:
        self._served, self._endpoint, self._wall = served, endpoint, wall
        self._chance = random.Random(seed)  # noqa: S311 - repeatable, not secret
        self.done: Counter[str] = Counter()
        self._kinds: dict[str, tuple[int, Callable[[], None]]] = {
            "kill": (2, self._kill),
            "stop": (1, self._stop),
            "store": (8, self._store),
            "disk": (2, self._disk),
            "clock": (2, self._clock),
        }
        for name in without:
            del self._kinds[name]

    def one(self) -> None:
        """Break something, wait, and mend it."""
        names = list(self._kinds)
        (name,) = self._chance.choices(names, [self._kinds[n][0] for n in names])
        self._kinds[name][1]()
        self.done[name] += 1

    def rest(self) -> None:
        """Leave everything alone for a while."""
        time.sleep(self._chance.uniform(*FAULT_EVERY_S))

    def _last(self) -> None:
        time.sleep(self._chance.uniform(*FAULT_LASTS_S))

    def _kill(self) -> None:
        self._served.kill()
        self._served.start()

    def _stop(self) -> None:
        self._served.signal()
        assert self._served.ended() == 0
        self._served.start()

    def _store(self) -> None:
        mode, code = self._chance.choice(_STORE)
        self._endpoint.fault(mode, code=code, match=ROWS)
        self._last()
        self._endpoint.fault("")

    def _disk(self) -> None:
        files = FullFiles()
        files.fill(self._served)
        self._last()
        files.empty(self._served)

    def _clock(self) -> None:
        self._wall.jump(self._chance.choice([-HOUR, BELOW_IDLE * self._chance.random()]))


def capacity(directory: Path, endpoint: Endpoint) -> float:
    """Return how many conversations a second one instance gets done, from sending to the store."""
    conversations = synthetic(600, seed=1)
    requests = planned(conversations)
    with Served(directory, STORE__URL=endpoint.url, STORE__DATABASE="capacity") as served:
        eventually(lambda: served.ready() == (200, []), "it is ready")
        began = time.monotonic()
        sending = Sending(served, requests)
        sending.start()
        sending.finish()
        served.settled(len(conversations))
        return len(conversations) / (time.monotonic() - began)


def drained(served: Served, episodes: int) -> float:
    """Wait until everything is decided and stored; return how long that took."""
    began = time.monotonic()
    names = ("spans_in_flight", "open_episodes", "outbox_rows")
    while True:
        series = served.series()
        if [series.get((name, ())) for name in names] == [0, 0, 0]:
            return time.monotonic() - began
        assert time.monotonic() < began + DRAINED_S, f"{episodes} are not done"
        time.sleep(0.5)


def soak(scratch: Path, *, minutes: float, seed: int, without: Sequence[str] = ()) -> int:
    """Run it, print the figures and return the exit code."""
    wall = Wall(scratch / "offset")
    with Endpoint(scratch / "engine") as endpoint:
        most = capacity(scratch / "capacity" / "data", endpoint)
        say(f"capacity {most:.1f} conversations/s; the soak runs at half of it")
        served = Served(
            scratch / "soak" / "data",
            STORE__URL=endpoint.url,
            STORE__DATABASE="soak",
            STORE__TIMEOUT="2s",
            ASSEMBLE__LATE_WINDOW="30s",
        )
        served.program = ("-m", "tests.faults.jumping", str(wall.path))
        breaking = Breaking(served, endpoint, wall, seed=seed, without=without)
        with served:
            watching = Watching(served)
            streams = [
                Stream(served, number=number, per_s=most / 2 / SENDERS) for number in range(SENDERS)
            ]
            for thread in (watching, *streams):
                thread.start()
            began = time.monotonic()
            while time.monotonic() < began + 60 * minutes:
                breaking.rest()
                breaking.one()
            for stream in streams:
                stream.finish()
            lasted = time.monotonic() - began
            conversations = [told for stream in streams for told in stream.conversations]
            behind = drained(served, len(conversations))
            watching.finish()
            requests = [request for stream in streams for request in stream.requests]
            say(
                f"{lasted:.0f} s: {len(conversations)} conversations, {len(requests)} requests,"
                f" {sum(request.spans for request in requests)} spans acknowledged;"
                f" faults {dict(breaking.done)}; everything in the store {behind:.0f} s after the last"
            )
            # The last question to the store is a long one, and nothing hangs any more.
            del served.settings["STORE__TIMEOUT"]
            served.signal()
            assert served.ended() == 0
            served.start()
            check_once(served, conversations, undisturbed(scratch / "calm", requests))
            say("nothing lost, nothing doubled, no verdict, count or observation changed")
    return flat(watching.bytes)


def flat(sizes: list[int]) -> int:
    """Print how memory went, and return 1 when it grew."""
    fifth = max(1, len(sizes) // 5)
    medians = [
        statistics.median(sizes[place : place + fifth])
        for place in range(0, 5 * fifth, fifth)
        if sizes[place : place + fifth]
    ]
    shown = ", ".join(f"{size / 1e6:.0f}" for size in medians)
    grew = medians[-1] > GROWTH * medians[1]
    say(f"resident memory by fifths of the run, MB: {shown}; peak {max(sizes) / 1e6:.0f}")
    say("it grew" if grew else "it is flat")
    return int(grew)


def say(text: str) -> None:
    """Tell whoever waits."""
    sys.stdout.write(f"soak: {text}\n")
    sys.stdout.flush()


def main() -> int:
    """Run from the command line."""
    parser = argparse.ArgumentParser(prog="python -m tests.faults.soak", description=__doc__)
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument(
        "--without",
        action="append",
        default=[],
        choices=("kill", "stop", "store", "disk", "clock"),
        help="leave a kind of fault out",
    )
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="outrider-soak-") as scratch:
        for name in ("capacity", "soak"):
            (Path(scratch) / name).mkdir()
        return soak(
            Path(scratch),
            minutes=arguments.minutes,
            seed=arguments.seed,
            without=arguments.without,
        )


if __name__ == "__main__":
    sys.exit(main())
