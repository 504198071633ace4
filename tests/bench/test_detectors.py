"""The comparison of detectors counts alarms and delays as it says."""

import itertools
import math
import random

import pytest

from alerts.detectors.evidence import Bets
from bench.detectors.measured import (
    HOURS,
    WATCHED,
    Delay,
    Quiet,
    delay,
    healthy,
    quiet,
    worsening,
)
from bench.detectors.page import WORSE, Row, page
from bench.detectors.traffic import DAY, KINDS, PER_HOUR, USUAL, verdicts
from bench.detectors.watchers import (
    OURS,
    RIVALS,
    WINDOW,
    Watcher,
    blocks_of,
    crossings,
    shipped,
    told,
    window,
)


def watcher(*alarms: tuple[int, int]) -> Watcher:
    """Build a watcher that alarms at the same places in whatever it sees."""
    return Watcher(name="clock", note="alarms by the clock", watch=lambda _: list(alarms))


def test_false_alarms_are_counted_by_run_and_in_all() -> None:
    """Two alarms in each of three months are six alarms, ten times in hundred days, in every run."""
    found = quiet(watcher((5, 6), (9, 12)), [b"", b"", b""])
    assert (found.alarms, found.runs, found.alarmed) == (6, 3, 3)
    assert found.days_between == WATCHED / 2
    assert found.days_error == pytest.approx(WATCHED / 2 / math.sqrt(6))
    assert (found.share, found.share_error) == (1.0, 0.0)
    assert quiet(watcher(), [b""]).days_between == math.inf


def test_a_delay_is_from_the_change_to_the_alarm_after_it() -> None:
    """An alarm before the change is none of it, and one that is on when it comes decides nothing."""
    runs = [(bytes(1_000), 500), (bytes(1_000), 500)]
    found = delay(watcher((100, 101), (600, 700), (800, 801)), runs)
    assert (found.runs, found.mean, found.error, found.missed) == (2, 101 / PER_HOUR, 0.0, 0)
    assert delay(watcher((500, 501)), runs).mean == 1 / PER_HOUR
    missed = delay(watcher((100, 101)), runs)
    assert (missed.mean, missed.missed) == (500 / PER_HOUR, 2)
    with pytest.raises(ValueError, match="two runs"):
        delay(watcher((400, 501)), runs)


def test_a_window_alarms_while_it_is_over_its_limit() -> None:
    """An alarm lasts from the first conversation over the limit to the first that is not."""
    failing = bytes(DAY) + bytes([1]) * 30 + bytes(WINDOW + 10)
    assert window(0.1)(failing) == [(DAY + 20, DAY + WINDOW + 9)]
    assert window(0.1)(bytes(DAY) + bytes([1]) * 30) == [(DAY + 20, DAY + 30)]
    assert window(0.2)(failing) == []


def test_evidence_begins_anew_after_each_alarm() -> None:
    """In traffic that only fails alarms come at equal distances, and none on the first day."""
    places = crossings(bytes([1]) * (DAY + 100), Bets(USUAL, 1.0), level=1_000.0)
    distances = {b - a for (a, _), (b, _) in itertools.pairwise(places)}
    assert places[0][0] >= DAY
    assert len(places) > 5
    assert len(distances) == 1


def test_ours_are_quiet_and_then_find_a_rise() -> None:
    """Told the rate or having learned it, the detector says nothing for two days and then alarms."""
    (series, changed) = worsening(3, 0.3, runs=1)[0]
    for watch in (told, shipped):
        found = watch(series[: changed + PER_HOUR * 4])
        assert found
        assert all(at >= changed for at, _ in found)


def test_traffic_is_what_it_says() -> None:
    """A daily cycle has its worst hours in the morning, users' conversations are alike, all fail at 10 %."""
    seen = {
        kind: verdicts(random.Random(4), 20 * DAY, kind=kind)  # noqa: S311 - repeatable
        for kind in KINDS
    }
    for one in seen.values():
        assert sum(one) / len(one) == pytest.approx(USUAL, abs=0.006)
    hours = blocks_of(seen["daily"])
    early, late = (
        sum(b.total for b in hours if b.hour % 24 in part) for part in (range(3, 9), range(15, 21))
    )
    assert early > 1.25 * late
    together = [
        sum(one[i] and one[i + 1] for i in range(0, len(one), 5))
        for one in (seen["even"], seen["users"])
    ]
    assert together[1] > 1.5 * together[0]


def test_the_same_seed_draws_the_same() -> None:
    """A measurement can be repeated, and runs differ from each other."""
    first, second = (list(healthy(7, "users", runs=2)) for _ in range(2))
    assert first == second
    assert first[0] != first[1]
    assert len(first[0]) == (WATCHED + 1) * DAY


def test_the_page_shows_what_was_measured() -> None:
    """Each method has a row in both tables, with errors, misses and what no alarm means."""
    rows = [
        Row(
            watcher=one,
            quiet={kind: Quiet(alarms=alarms, runs=10, alarmed=min(alarms, 10)) for kind in KINDS},
            delays=[Delay(runs=30, mean=1.5, error=0.25, missed=missed) for _ in WORSE],
        )
        for one, alarms, missed in ((OURS[1], 0, 0), (RIVALS[0], 1_200, 3))
    ]
    text = page(
        rows,
        command="python -m bench.detectors",
        date="2026-03-01",
        seed=5,
        quiet_runs=10,
        delay_runs=30,
        problems=["river: cannot be installed"],
    )
    assert "on 2026-03-01, seed 5;" in text
    ours, theirs = (
        line for line in text.splitlines() if line.endswith("1.50 ± 0.25 |") or "missed) |" in line
    )
    assert ours == "| **Outrider as shipped** | none in 300 days" + 4 * " | 1.50 ± 0.25" + " |"
    assert theirs == "| window, 13 % | 6.0 ± 0.2 h" + 4 * " | 1.50 ± 0.25 (3 missed)" + " |"
    assert "| window, 13 % | 100 ± 0 % | 100 ± 0 % | 100 ± 0 % |" in text
    assert f"counts as {HOURS}" in text
    assert "allows 28 % in 30 days" in text
    assert "- river: cannot be installed" in text
