"""The page says what was measured, and what was not."""

from pathlib import Path

import msgspec
import pytest

from bench.__main__ import pairings
from bench.campaign import Ceiling, Entry, Outcome
from bench.figures import Spread, spread
from bench.load import Body, Load
from bench.machine import Machine
from bench.page import page, shown, speedups
from bench.trial import Trial

HERE = Machine(
    cpu="Loom 9000",
    cores=2,
    memory_bytes=2**33,
    kernel="Linux 6",
    python="3.11",
    disk="/dev/a, ext4",
    sync_s=0.002,
    load_average=0.1,
)


def load(name: str) -> Load:
    """Make a load of ten requests of 100 spans."""
    return Load(
        name=name,
        title=f"The {name} load",
        story="Invented.",
        bodies=(Body(data=bytes(1_000), spans=100),) * 10,
        conversations=250,
        span_bytes_mean=1_400.0,
        span_bytes_p95=2_000.0,
    )


def entry(system: str, name: str, *, number: int, against: str, done_s: float) -> Entry:
    """Make one trial of 1,000 spans that was acknowledged in a tenth of a second."""
    return Entry(
        round=number,
        against=against,
        trial=Trial(
            system=system,
            load=name,
            spans=1_000,
            size=10_000,
            acknowledged_s=0.1,
            durable_s=done_s,
            cpu_s=2.0,
            peak_bytes=3_000_000,
            disk_bytes=4_000_000,
            ack_p50_s=0.010,
            ack_p99_s=0.060,
            retries=0,
            load_average=0.0,
        ),
    )


def outcome() -> Outcome:
    """Make two rounds against one peer that could be measured; the other could not."""
    entries = [
        entry(system, name, number=number, against="Phoenix", done_s=done_s * number)
        for number in (1, 2)
        for name in ("small", "corpus")
        for system, done_s in (("Outrider", 2.0), ("Phoenix", 24.0))
    ]
    one = spread([5_000.0])
    assert one is not None
    return Outcome(
        loads=[load("small"), load("corpus")],
        senders=4,
        rounds=2,
        versions={"Outrider": "1.0", "Phoenix": "20"},
        entries=entries,
        ceilings=[Ceiling(load="small", spans_per_s=one, bytes_per_s=one)],
        problems=["MLflow could not be installed: no such package"],
    )


def text() -> str:
    """Render the page."""
    return page(outcome(), HERE, date="2026-01-01", command="python -m bench")


def test_a_single_run_has_no_range() -> None:
    """Several have one."""
    assert shown(Spread(median=1, low=1, high=1, runs=1), str) == "1"
    assert shown(Spread(median=2, low=1, high=3, runs=2), str) == "2 (1 to 3)"


def test_each_system_has_a_row_with_its_medians_and_ranges() -> None:
    """500 and 250 spans a second make 375."""
    assert "| Outrider | 10,000 (10,000 to 10,000) | 375 (250 to 500) |" in text()
    assert "| Phoenix | 10,000 (10,000 to 10,000) | 31 (21 to 42) |" in text()


def test_pairs_are_compared_round_by_round() -> None:
    """Both took twice as long in the second round, so the ratio is 12 in each."""
    found = speedups(outcome(), "corpus", "Phoenix")
    assert found is not None
    assert (found.low, found.high) == (12.0, 12.0)
    assert "12.0 (12.0 to 12.0) times as fast as Phoenix" in text()


@pytest.mark.parametrize(
    "row",
    [
        "10,000 | 10,000 (10,000 to 10,000) | yes |",
        "10 times Phoenix's rate | 12.0 (12.0 to 12.0) | yes |",
        "20 times Phoenix's rate | 12.0 (12.0 to 12.0) | no |",
        "50 ms | not measured |  |",
    ],
)
def test_targets_are_held_against_the_median(row: str) -> None:
    """What was not measured is not met."""
    assert row in text()


def test_the_page_tells_machine_method_and_failures() -> None:
    """Nothing that went wrong is left out."""
    for words in ("Loom 9000", "Phoenix 20", "ext4", "2.00 ms", "OUTRIDER_CORPORA", "2026-01-01"):
        assert words in text()
    assert "- MLflow could not be installed: no such package" in text()
    assert "{" not in text()


def test_a_busy_machine_is_told_of() -> None:
    """Figures taken beside other work carry a warning."""
    busy = msgspec.structs.replace(HERE, load_average=2.0)
    warned = page(outcome(), busy, date="2026-01-01", command="python -m bench")
    assert "was busy" in warned
    assert "was busy" not in text()


def test_only_what_was_asked_for_is_prepared(tmp_path: Path) -> None:
    """Peers are not sent the sustained load."""
    found = pairings(["sustained"], quick=True, corpora=tmp_path)
    assert [(p.load.name, p.with_peers) for p in found] == [("sustained", False)]
