"""Run every system on every load, Outrider and a peer in turn, round after round."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec

from bench.failure import BenchError, UnavailableError
from bench.figures import Spread, spread
from bench.load import Load
from bench.loopback import accepts
from bench.senders import Endpoint, send
from bench.server import Server, environment, free_port
from bench.system import System
from bench.trial import Session, Trial

ROOT = Path(__file__).parent.parent

Say = Callable[[str], None]
"""Tell whoever waits how far things are."""


class Entry(msgspec.Struct, frozen=True, kw_only=True):
    """One trial and its place."""

    round: int
    against: str
    """Name of the peer in whose pair it ran; empty when it ran alone."""
    trial: Trial


class Ceiling(msgspec.Struct, frozen=True, kw_only=True):
    """What the load generator does against a server that does nothing."""

    load: str
    spans_per_s: Spread
    bytes_per_s: Spread


class Outcome(msgspec.Struct, frozen=True, kw_only=True):
    """Everything that was found out."""

    loads: Sequence[Load]
    senders: int
    rounds: int
    versions: dict[str, str]
    """Version by system, in the order of the tables; only those that could be installed."""
    entries: list[Entry] = []
    ceilings: list[Ceiling] = []
    problems: list[str] = []
    """What could not be measured, a sentence each."""


class Pairing(msgspec.Struct, frozen=True, kw_only=True):
    """One load, and whether peers are sent it too."""

    load: Load
    with_peers: bool


def run(
    pairings: Sequence[Pairing],
    ours: System,
    peers: Sequence[System],
    *,
    warm_up: Load,
    rounds: int,
    senders: int,
    scratch: Path,
    say: Say,
) -> Outcome:
    """Measure everything; a system that fails is noted and the rest goes on."""
    outcome = Outcome(
        loads=[pairing.load for pairing in pairings],
        senders=senders,
        rounds=rounds,
        versions={ours.name: ours.prepare()},
    )
    there: list[System] = []
    for peer in peers:
        say(f"{peer.name}: installing, unless it is there")
        try:
            outcome.versions[peer.name] = peer.prepare()
            there.append(peer)
        except UnavailableError as error:
            _note(outcome, say, f"{peer.name} could not be installed: {error}")
    for pairing in pairings:
        outcome.ceilings.append(ceiling(pairing.load, senders=senders, scratch=scratch))
    shared = [p.load for p in pairings if p.with_peers and there]
    alone = [p.load for p in pairings if not (p.with_peers and there)]

    def one(system: System, loads: Sequence[Load], number: int, against: str) -> None:
        where = f"round {number} of {rounds}, {system.name}"
        if not loads:
            return
        say(f"{where}: starting")
        try:
            session = Session(system, warm_up, senders=senders, scratch=scratch)
            found = _measured(session, loads, where, say)
        except BenchError as error:
            _note(outcome, say, f"{where}: {error}")
            return
        outcome.entries.extend(Entry(round=number, against=against, trial=t) for t in found)

    for number in range(1, rounds + 1):
        for peer in there:
            one(ours, shared, number, peer.name)
            one(peer, shared, number, peer.name)
        one(ours, alone, number, "")
    return outcome


def _measured(session: Session, loads: Sequence[Load], where: str, say: Say) -> list[Trial]:
    """Measure one instance on the loads in turn, and stop it."""
    found: list[Trial] = []
    try:
        for load in loads:
            say(f"{where}, {load.name}: {load.spans} spans, {load.size / 1e6:.0f} MB")
            trial = session.measure(load)
            found.append(trial)
            say(
                f"{where}, {load.name}: {trial.spans / trial.acknowledged_s:,.0f} spans/s"
                f" acknowledged, {trial.spans / trial.durable_s:,.0f} done"
            )
    except BaseException:
        session.abandon()
        raise
    session.close()
    return found


def ceiling(load: Load, *, senders: int, scratch: Path, times: int = 3) -> Ceiling:
    """Send a load to a server that only reads and answers."""
    port = free_port()
    server = Server(
        [sys.executable, "-m", "bench.null_server", str(port)],
        directory=scratch,
        env=environment(scratch, {"PYTHONPATH": str(ROOT)}),
    )
    try:
        server.wait_until(lambda: accepts(port))
        endpoint = Endpoint(url=f"http://127.0.0.1:{port}/v1/traces")
        took = [
            send(load.bodies, endpoint, senders=senders, seconds=time.perf_counter).seconds
            for _ in range(times)
        ]
    finally:
        server.stop()
    spans = spread(load.spans / seconds for seconds in took)
    size = spread(load.size / seconds for seconds in took)
    if spans is None or size is None:
        raise BenchError("nothing was sent")
    return Ceiling(load=load.name, spans_per_s=spans, bytes_per_s=size)


def _note(outcome: Outcome, say: Say, problem: str) -> None:
    line = " ".join(problem.split())
    outcome.problems.append(line)
    say(line)
