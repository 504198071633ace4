"""Write what was measured as docs/benchmarks.md."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import msgspec

from bench.campaign import Ceiling, Outcome
from bench.figures import Spread, quantile, ratios, spread
from bench.load import MAX_BYTES, MAX_SPANS, Load
from bench.machine import Machine
from bench.method import METHOD
from bench.proxy_latency import Added
from bench.trial import Trial
from collector.commands.markdown import table

OURS = "Outrider"
BUSY = 0.25
"""Load average a core, before the first run, from which the page warns."""


class Target(msgspec.Struct, frozen=True, kw_only=True):
    """A figure that Outrider should reach, and what it reached."""

    text: str
    wanted: float
    found: Spread | None
    written: Callable[[float], str]
    at_most: bool = False

    @property
    def row(self) -> tuple[str, str, str]:
        """The row of the table: the target, the figure, whether it is met by the median."""
        if self.found is None:
            return self.text, "not measured", ""
        median = self.found.median
        met = median <= self.wanted if self.at_most else median >= self.wanted
        return self.text, shown(self.found, self.written), "yes" if met else "no"


def page(
    outcome: Outcome, machine: Machine, added: Added | None = None, *, date: str, command: str
) -> str:
    """Return the whole document."""
    parts = [
        _head(outcome, machine, date=date, command=command),
        *(_load(outcome, load) for load in outcome.loads),
        *([_proxy(added)] if added else []),
        _targets(outcome, added),
        METHOD.format(spans=MAX_SPANS, kib=MAX_BYTES // 1024, senders=outcome.senders),
    ]
    if outcome.problems:
        parts.append("## What could not be measured\n\n" + _bullets(outcome.problems))
    return "\n".join(parts)


def shown(found: Spread, written: Callable[[float], str]) -> str:
    """Write a median and its range."""
    if found.runs == 1:
        return written(found.median)
    return f"{written(found.median)} ({written(found.low)} to {written(found.high)})"


def speedups(outcome: Outcome, load: str, peer: str) -> Spread | None:
    """Compare rates until done, pair by pair: how many times the peer's is Outrider's."""
    entries = [e for e in outcome.entries if e.trial.load == load and e.against == peer]
    ours = {e.round: e.trial for e in entries if e.trial.system == OURS}
    theirs = {e.round: e.trial for e in entries if e.trial.system == peer}
    return ratios(
        (theirs[number].durable_s, ours[number].durable_s) for number in ours if number in theirs
    )


def _head(outcome: Outcome, machine: Machine, *, date: str, command: str) -> str:
    versions = ", ".join(f"{name} {version}" for name, version in outcome.versions.items())
    rows = [
        ("date", date),
        ("systems", versions),
        ("processor", f"{machine.cpu}, {machine.cores} cores"),
        ("memory", f"{machine.memory_bytes / 2**30:.1f} GiB"),
        ("kernel, Python", f"{machine.kernel}, {machine.python}"),
        ("disk", f"{machine.disk}; 4 KiB made durable in {machine.sync_s * 1e3:.2f} ms"),
        ("load average before the first run", f"{machine.load_average:.2f}"),
        ("rounds", str(outcome.rounds)),
    ]
    busy = (
        "\n**The machine was busy with other things: rates are lower, and times longer, than it can do.**\n"
        if machine.load_average > BUSY * machine.cores
        else ""
    )
    return (
        "# Benchmarks\n\n"
        "What one machine does with one instance of each system, sent the same bytes as OTLP over HTTP."
        " Rendered by\n"
        f"`{command}`; do not edit. Figures are medians over the rounds, with the lowest and highest in"
        " brackets.\n" + busy + "\n" + table(("", ""), rows)
    )


def _load(outcome: Outcome, load: Load) -> str:
    rows = [
        (
            name,
            *(shown(found, written) for found, written in _columns(_trials(outcome, load, name))),
        )
        for name in outcome.versions
        if _trials(outcome, load, name)
    ]
    said = (
        f"{load.story} {load.conversations:,} conversations, {load.spans:,} spans,"
        f" {load.size / 1e6:.1f} MB in {len(load.bodies):,} requests; a span has"
        f" {load.span_bytes_mean:,.0f} bytes on average, {load.span_bytes_p95:,.0f} at the 95th percentile."
    )
    lines = [
        f"## {load.title}\n\n{said}\n",
        table(
            (
                "system",
                "acknowledged, spans/s",
                "done, spans/s",
                "done, MB/s",
                "CPU seconds per 1,000 spans",
                "peak memory, MB",
                "acknowledgement p50, ms",
                "p99, ms",
                "on disk, MB",
            ),
            rows,
        ),
    ]
    for peer in list(outcome.versions)[1:]:
        faster = speedups(outcome, load.name, peer)
        if faster is not None:
            lines.append(
                f"Outrider got done with the same bytes {shown(faster, _times)} times as fast as {peer}.\n"
            )
    lines.extend(_ceiling(c) for c in outcome.ceilings if c.load == load.name)
    return "\n".join(lines)


def _ceiling(found: Ceiling) -> str:
    return (
        "The load generator alone, against a server that only reads and answers:"
        f" {shown(found.spans_per_s, _whole)} spans/s, {shown(found.bytes_per_s, _mega)} MB/s.\n"
    )


def _columns(trials: Sequence[Trial]) -> list[tuple[Spread, Callable[[float], str]]]:
    columns: list[tuple[Callable[[Trial], float], Callable[[float], str]]] = [
        (lambda t: t.spans / t.acknowledged_s, _whole),
        (lambda t: t.spans / t.durable_s, _whole),
        (lambda t: t.size / t.durable_s, _mega),
        (lambda t: 1_000 * t.cpu_s / t.spans, _two),
        (lambda t: t.peak_bytes, _mega),
        (lambda t: t.ack_p50_s, _milli),
        (lambda t: t.ack_p99_s, _milli),
        (lambda t: t.disk_bytes, _mega),
    ]
    found = [(spread(map(value, trials)), written) for value, written in columns]
    return [(figure, written) for figure, written in found if figure is not None]


def _proxy(added: Added) -> str:
    shares = (0.5, 0.9, 0.99)
    rows = [
        (name, *(_milli(quantile(times, share)) for share in shares))
        for name, times in (("directly", added.direct_s), ("through the proxy", added.proxied_s))
    ]
    rows.append(("added", *(_milli(added.added_s(share)) for share in shares)))
    return (
        "## Calls through the LLM proxy\n\n"
        "Streamed calls to one upstream that thinks for 50 ms and then sends 50 pieces a second, in"
        f" turns directly and through Outrider's proxy, which captures them: {added.streams} calls at"
        f" once, {len(added.direct_s):,} pairs. Time to the first byte, in milliseconds:\n\n"
        + table(("", "p50", "p90", "p99"), rows)
    )


def _targets(outcome: Outcome, added: Added | None) -> str:
    def ours(load: str, value: Callable[[Trial], float]) -> Spread | None:
        return spread(
            value(e.trial)
            for e in outcome.entries
            if e.trial.system == OURS and e.trial.load == load
        )

    def rate(trial: Trial) -> float:
        return trial.spans / trial.acknowledged_s

    def through_proxy(share: float) -> Spread | None:
        return spread([added.added_s(share)]) if added else None

    received = ours("sustained", rate) or ours("small", rate)
    targets = [
        Target(
            text="small spans received and journaled, a second: 10,000",
            wanted=10_000,
            found=received,
            written=_whole,
        ),
        Target(
            text="corpus spans scored and stored: 10 times Phoenix's rate",
            wanted=10,
            found=speedups(outcome, "corpus", "Phoenix"),
            written=_times,
        ),
        *(
            Target(
                text=f"added by the proxy to the first byte, {name}: {wanted_s * 1e3:.0f} ms",
                wanted=wanted_s,
                found=through_proxy(share),
                written=lambda s: f"{_milli(s)} ms",
                at_most=True,
            )
            for name, share, wanted_s in (("p50", 0.5, 0.002), ("p99", 0.99, 0.010))
        ),
        Target(
            text="later: small spans received and journaled, a second: 20,000",
            wanted=20_000,
            found=received,
            written=_whole,
        ),
        Target(
            text="later: corpus spans scored and stored: 20 times Phoenix's rate",
            wanted=20,
            found=speedups(outcome, "corpus", "Phoenix"),
            written=_times,
        ),
        Target(
            text="later: acknowledgement p99 of small spans: 50 ms",
            wanted=0.05,
            found=ours("sustained", lambda t: t.ack_p99_s),
            written=lambda s: f"{_milli(s)} ms",
            at_most=True,
        ),
    ]
    return "## Targets\n\n" + table(
        ("target", "found", "met by the median"), [target.row for target in targets]
    )


def _trials(outcome: Outcome, load: Load, system: str) -> list[Trial]:
    return [
        e.trial for e in outcome.entries if e.trial.load == load.name and e.trial.system == system
    ]


def _bullets(lines: Sequence[str]) -> str:
    return "".join(f"- {line}\n" for line in lines)


def _whole(value: float) -> str:
    return f"{value:,.0f}"


def _two(value: float) -> str:
    return f"{value:,.2f}"


def _times(value: float) -> str:
    return f"{value:,.1f}"


def _mega(value: float) -> str:
    return f"{value / 1e6:,.1f}"


def _milli(value: float) -> str:
    return f"{value * 1e3:,.1f}"
