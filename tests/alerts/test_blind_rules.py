"""When a monitor that is down or sees nothing is told, and that a quiet night is not."""

from __future__ import annotations

from pathlib import Path

import pytest

from alerts.rules import Settings
from tests.alerts.promtool import DAY, JOB, PER_MINUTE, rising, simulate, traffic

pytestmark = pytest.mark.slow


def test_a_target_that_is_down_pages(tmp_path: Path) -> None:
    """A scrape that fails for minutes pages; a short restart does not."""
    series = {**traffic((60, 1.0)), f"up{{{JOB}}}": "1x9 0x2 1x16 0x30"}
    simulate(tmp_path, series, {13: set(), 28: set(), 32: set(), 36: {"OutriderDown"}})


@pytest.mark.parametrize("series", [{}, {'up{job="other"}': "1x30"}])
def test_a_target_that_is_absent_pages(tmp_path: Path, series: dict[str, str]) -> None:
    """A target that Prometheus does not know, or knows under another name, pages too."""
    simulate(tmp_path, {'other{x="y"}': "1x30", **series}, {3: set(), 8: {"OutriderDown"}})


@pytest.mark.parametrize("episodes", [0.0, 1.0])
def test_calls_without_verdicts_page(tmp_path: Path, episodes: float) -> None:
    """When verdicts stop while calls come, decided or not, somebody is called within the hour."""
    series = traffic((DAY, 1.0), scores=(240, 0.0), episodes=(240, episodes))
    expected = {DAY - 1: set[str](), DAY + 20: set(), DAY + 64: {"OutriderBlind"}}
    simulate(tmp_path, series, {**expected, DAY + 239: {"OutriderBlind"}})


def test_little_traffic_without_verdicts_pages_later(tmp_path: Path) -> None:
    """With two or three conversations an hour it takes a working day to be sure, not longer."""
    little = dict.fromkeys(("spans_received", "stitch", "episodes"), (600, 0.02))
    series = traffic((DAY, 0.02), scores=(600, 0.0), **little)
    simulate(tmp_path, series, {DAY + 60: set(), DAY + 480: {"OutriderBlind"}})


def test_a_quiet_night_does_not_page(tmp_path: Path) -> None:
    """Nothing fires over a night without traffic, nor in the morning before the first verdict."""
    series = traffic((DAY, 1.0), (600, 0.0), scores=(25, 0.0), episodes=(25, 0.0))
    at = [*range(30, DAY, 90), *range(DAY, DAY + 625, 5)]
    simulate(tmp_path, series, {m: set() for m in at})


def test_traffic_without_agents_does_not_page(tmp_path: Path) -> None:
    """At night spans of other services may come; they are not missed by the scorers."""
    series = traffic((DAY, 1.0), stitch=(600, 0.0), episodes=(600, 0.0), scores=(600, 0.0))
    series[f'outrider_stitch_total{{{JOB},method="trace",result="joined"}}'] = rising(
        (DAY + 600, 50)
    )
    simulate(tmp_path, series, {m: set() for m in range(DAY, DAY + 600, 20)})


def test_silence_pages_where_it_is_never_quiet(tmp_path: Path) -> None:
    """With --always-busy half an hour without a verdict pages."""
    series = traffic((120, 1.0), (120, 0.0))
    settings = Settings(always_busy=True)
    expected = {100: set[str](), 140: set(), 165: {"OutriderSilent"}}
    simulate(tmp_path, series, expected, settings=settings)


def test_another_instance_takes_over_in_silence(tmp_path: Path) -> None:
    """A new pod exports the old totals under another name; no rise is made of that."""
    series: dict[str, str] = {}
    for name, values in traffic((300, 1.0)).items():
        series[name] = values + " stale"
        start = 300 * PER_MINUTE.get(name, 0)
        step = PER_MINUTE.get(name, 0)
        value = f"{start}+{step}x299" if step else f"{values.partition('x')[0]}x299"
        series[name.replace("a:9464", "b:9464")] = f"_x299 {value}"
    simulate(tmp_path, series, {m: set() for m in range(280, 590, 10)})


def test_a_day_without_traffic_opens_a_ticket(tmp_path: Path) -> None:
    """Senders that went away are noticed, not at once, and not by a page."""
    series = traffic((DAY, 1.0), (DAY + 120, 0.0))
    simulate(tmp_path, series, {DAY + 600: set(), 2 * DAY + 90: {"OutriderNoTraffic"}})


def test_a_new_installation_is_left_in_peace(tmp_path: Path) -> None:
    """Neither a Prometheus that is minutes old nor one without any traffic yet tells anything."""
    simulate(tmp_path, traffic((300, 0.0)), {m: set() for m in range(0, 300, 20)})


def test_spans_without_agents_open_a_ticket(tmp_path: Path) -> None:
    """An instrumentation that records nothing of use any more is noticed within a day."""
    after = dict.fromkeys(("stitch", "episodes", "scores"), (DAY + 120, 0.0))
    series = traffic((DAY, 1.0), **after)
    simulate(tmp_path, series, {DAY + 600: set(), 2 * DAY + 90: {"OutriderSeesNoAgents"}})
