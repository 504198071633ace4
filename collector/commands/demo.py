"""Show what Outrider is for: a live agent, a bad release, and the alarm."""

from __future__ import annotations

import argparse
import logging
import random
import signal
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING

from collector.commands.command import Command, count
from collector.errors import ConfigError, OutriderError, RetryableError

if TYPE_CHECKING:
    from collector.demo.outcome import Outcome
    from collector.demo.performance import Performance
    from collector.demo.screen import Screen
    from collector.demo.service import Service
    from collector.demo.watch import Watch

LASTS_S = 150.0
"""Seconds in which the two days of the story pass."""
POLL_S = 1.0
PATIENCE_S = 60.0
"""Longest that the instance may not answer."""
SETTLE_S = 180.0
"""Longest that the last conversations are waited for."""
QUIET_POLLS = 3
"""Polls without anything new, after which the instance has seen everything."""
_SEEDS = 100_000


def run(arguments: argparse.Namespace) -> int:
    """Play the demonstration.

    Returns 0 when it went as it should, 1 when the alarm did not, 130 when it was interrupted
    before its end.
    """
    from collector.demo.scratch import scratch
    from collector.demo.screen import Screen
    from collector.demo.service import environment

    environ = environment()
    screen = Screen(sys.stdout, environ)
    # What the SDK says of a receiver that is busy is no news: the sender tries again.
    logging.getLogger("opentelemetry").setLevel(logging.CRITICAL)
    with _stopping() as stop, scratch(stop.is_set) as directory:
        from collector.demo.service import HURRY_S, STOP_S, Service

        data_dir = arguments.data_dir or directory / "data"
        _make_empty(data_dir)
        screen.line("Starting `outrider serve` ...", "dim")
        log = directory / "serve.log"
        stop_s = STOP_S if arguments.data_dir else HURRY_S
        with Service(data_dir, log=log, environ=environ, stop_s=stop_s) as service:
            for address in service.taken:
                screen.line(f"{address} is taken, so another port is used.", "yellow")
            return _play(arguments, service, screen, stop)


def _play(
    arguments: argparse.Namespace, service: Service, screen: Screen, stop: threading.Event
) -> int:
    import httpx

    from collector.demo.console import Console
    from collector.demo.mistakes import Regression
    from collector.demo.performance import Performance
    from collector.demo.sending import otlp_exporter
    from collector.demo.watch import Watch

    seed = arguments.seed or random.SystemRandom().randrange(1, _SEEDS)
    performance = Performance(
        otlp_exporter(service.receiver),
        seed=seed,
        regression=Regression() if arguments.regression else None,
        lasts_s=0.0 if arguments.fast else LASTS_S,
        goes_on=not arguments.exit,
        clock_ns=time.time_ns,
    )
    _introduce(screen, service, seed=seed, fast=arguments.fast)
    began = time.monotonic()
    with httpx.Client(timeout=10.0, trust_env=False) as client:
        watch = Watch(Console(service.console, client), screen, performance.plan)
        watch.head()
        performance.start()
        try:
            if not _follow(performance, service, watch, stop):
                return 130
            outcome = _conclude(performance, screen, watch, regression=arguments.regression)
            screen.line(f"All of it took {time.monotonic() - began:.0f} s.", "dim")
            _point(screen, service, stays=not arguments.exit)
            if not arguments.exit:
                _stay(performance, service, watch, stop)
        finally:
            if stop.is_set():
                screen.line("Stopping ...", "dim")
                # First the instance: a sender that waits for its answer would wait on.
                performance.end()
                service.stop()
            performance.close()
    return 0 if outcome.good else 1


def _introduce(screen: Screen, service: Service, *, seed: int, fast: bool) -> None:
    from collector.demo.watch import TELLING

    screen.line(f"Console: {service.console}/", "bold")
    screen.line()
    screen.line(
        "The support agent of an outdoor shop answers its customers: two days of traffic, sent"
        f" as OTLP {'as fast as it is taken' if fast else f'in {LASTS_S / 60:g} minutes'}."
    )
    screen.line(
        f"On the second day a new version goes live. Watch two scorers' failure rates, and the"
        f" evidence of {TELLING[0]} against its threshold (times are UTC, seed {seed})."
    )
    screen.line()


def _follow(
    performance: Performance, service: Service, watch: Watch, stop: threading.Event
) -> bool:
    """Show the story until the instance has seen all of it; false when we are to stop."""
    quiet, deadline, before, answered = 0, float("inf"), -1, time.monotonic()
    while quiet < QUIET_POLLS and time.monotonic() < deadline:
        if stop.wait(POLL_S):
            return False
        _check(performance, service)
        former, answered = answered, _poll(watch, answered)
        if performance.over.is_set() and answered > former:
            deadline = min(deadline, time.monotonic() + SETTLE_S)
            done = watch.seen_ns >= performance.told_ns and watch.seen == before
            quiet = quiet + 1 if done else 0
            before = watch.seen
    return True


def _check(performance: Performance, service: Service) -> None:
    """Raise when somebody has left.

    Raises:
        OutriderError: the instance ended, or does not take the spans.
    """
    if not service.alive:
        raise OutriderError(f"`outrider serve` ended: {service.last_words()}")
    if performance.problem:
        raise OutriderError(f"{performance.problem} {service.last_words()}")
    if not performance.is_alive() and not performance.over.is_set():
        raise OutriderError("the sender ended before the story did")


def _conclude(
    performance: Performance, screen: Screen, watch: Watch, *, regression: bool
) -> Outcome:
    from collector.demo.outcome import Outcome, outcome_of

    watch.tell_all()
    watch.rates()
    screen.line()
    screen.line(f"{performance.told} conversations were sent, {watch.seen} were scored.", "bold")
    outcome = outcome_of(
        watch.alarms.events, switch_ns=performance.plan.switch_ns, regression=regression
    )
    if watch.seen < performance.told:
        outcome = Outcome(
            good=False, lines=(*outcome.lines, "Not all of them were scored in time.")
        )
    for line in outcome.lines:
        screen.line(line, "green" if outcome.good else "red")
    return outcome


def _point(screen: Screen, service: Service, *, stays: bool) -> None:
    if not stays:
        return
    screen.line()
    screen.line("Look for yourself:", "bold")
    screen.line(f"  quality and evidence     {service.console}/")
    screen.line(f"  failing conversations    {service.console}/conversations?scorer=false_success")
    screen.line(f"  what the detectors said  {service.console}/alerts")
    screen.line(f"  Prometheus metrics       {service.metrics}/metrics")
    screen.line(f"  send traffic of yours    OTEL_EXPORTER_OTLP_ENDPOINT={service.receiver}")
    screen.line()
    screen.line("A conversation comes every few seconds, in real time. Ctrl-C ends it.")


def _stay(performance: Performance, service: Service, watch: Watch, stop: threading.Event) -> None:
    """Stay up, and go on telling of alarms, until we are to stop."""
    performance.go_on()
    answered = time.monotonic()
    while not stop.wait(POLL_S):
        _check(performance, service)
        answered = _poll(watch, answered)


def _poll(watch: Watch, answered: float) -> float:
    """Poll, and return when the instance last answered.

    Raises:
        RetryableError: it has not answered for too long.
    """
    try:
        watch.poll()
    except RetryableError:
        if time.monotonic() - answered > PATIENCE_S:
            raise
        return answered
    return time.monotonic()


def _make_empty(data_dir: Path) -> None:
    """Make the data directory.

    Raises:
        ConfigError: there is something in it, which would become part of the story.
    """
    try:
        data_dir.mkdir(parents=True, exist_ok=True)
        if any(data_dir.iterdir()):
            raise ConfigError(f"--data-dir {data_dir}: is not empty; the demo starts from nothing")
    except OSError as error:
        raise ConfigError(f"--data-dir {data_dir}: {error.strerror}") from error


@contextmanager
def _stopping() -> Iterator[threading.Event]:
    """Turn the first Ctrl-C, SIGTERM or end of the terminal into an event; the second ends the process as ever."""
    stop = threading.Event()
    numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    former = [signal.getsignal(number) for number in numbers]

    def restore() -> None:
        for number, handler in zip(numbers, former, strict=True):
            signal.signal(number, handler)

    def told(number: int, frame: FrameType | None) -> None:
        del number, frame
        stop.set()
        restore()

    for number in numbers:
        signal.signal(number, told)
    try:
        yield stop
    finally:
        restore()


def declare(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument(
        "--fast",
        action="store_true",
        help="send the story as fast as it is taken (default: in two and a half minutes)",
    )
    parser.add_argument(
        "--seed",
        type=count,
        metavar="N",
        help="the same seed tells the same story (default: random)",
    )
    parser.add_argument(
        "--no-regression",
        action="store_false",
        dest="regression",
        help="let the new version be as good as the old one; no alarm should fire",
    )
    parser.add_argument(
        "--data-dir",
        type=Path,
        metavar="DIR",
        help="keep the data here; has to be empty (default: a temporary directory)",
    )
    parser.add_argument(
        "--exit",
        action="store_true",
        help="end after the story; exit code 1 when the alarm did not fire as it should",
    )


DEMO = Command(
    name="demo",
    summary="watch a bad release of an invented agent being found out",
    description=(
        "Start an instance of its own and send it two days of an invented shop's support traffic, "
        "as real OTLP in accelerated time. The agent is healthy first; then a new version claims "
        "refunds that it did not make and repeats its calls. Shows the quality by version, the "
        "alarm and what it says, and where to look; stays up until Ctrl-C and leaves nothing behind. "
        "The exit code is 0 when the story went as it should, 1 when it did not, and 130 when it was "
        "stopped before the end of the story."
    ),
    examples="""\
outrider demo
outrider demo --fast --seed 7                   # as fast as it goes, always the same story
outrider demo --no-regression                   # nothing is wrong, and no alarm fires
outrider demo --fast --exit                     # for scripts: the exit code says whether it worked""",
    arguments=declare,
    run=run,
)
