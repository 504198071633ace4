"""When it is told that traffic or verdicts do not get on."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.alerts.promtool import JOB, constant, simulate, traffic

pytestmark = pytest.mark.slow


def test_a_stuck_pipeline_pages(tmp_path: Path) -> None:
    """Requests that wait ever longer page before the journal is full."""
    series = {
        **traffic((60, 1.0)),
        f"outrider_pipeline_lag_seconds{{{JOB}}}": "0x9 0+60x49",
        f"outrider_journal_bytes{{{JOB}}}": f"{constant(1_000, 50)} {constant(4e9, 10)}",
    }
    stuck = "OutriderStuck"
    expected = {20: set[str](), 37: {stuck}, 58: {stuck, "OutriderJournalFilling"}}
    simulate(tmp_path, series, expected)


HOUR = 60
FULL = 4 * 1024 * 1024 * 1024
"""``journal.max_size``."""


def test_senders_that_are_turned_away_page(tmp_path: Path) -> None:
    """Ten minutes of refusals page; a burst that was refused and sent again does not."""
    refused = f'outrider_requests_rejected_total{{{JOB},receiver="otlp_http",reason='
    series = {
        **traffic((180, 1.0)),
        f'{refused}"unavailable"}}': "0x29 30x59 30+1x89",
        f'{refused}"disconnected"}}': "0+3x179",
    }
    simulate(tmp_path, series, {45: set(), 95: set(), 125: {"OutriderTurnsAway"}})


def test_a_proxy_without_a_provider_pages(tmp_path: Path) -> None:
    """Agents that call through the proxy do not work then, which is not a refusal of what they send."""
    failed = f'outrider_requests_rejected_total{{{JOB},receiver="proxy",reason="unreachable"}}'
    series = {**traffic((120, 1.0)), failed: "0x59 0+2x59"}
    simulate(
        tmp_path, series, {55: set(), 75: {"OutriderProxyCutOff"}, 115: {"OutriderProxyCutOff"}}
    )


def test_a_journal_that_cannot_be_written_pages(tmp_path: Path) -> None:
    """While the disk is full every total stands still; the one gauge that moves pages."""
    series = traffic((120, 1.0), (60, 0.0))
    writable = f"outrider_journal_writable{{{JOB}}}"
    for length, fired in ((3, set[str]()), (60, {"OutriderJournalFails"})):
        series[writable] = f"1x119 0x{length - 1} 1x{60 - length}"
        simulate(tmp_path, series, {110: set(), 128: fired, 150: fired})


def test_a_journal_that_fills_up_is_told_before(tmp_path: Path) -> None:
    """Growth that would fill it within hours opens a ticket, long before the page; what levels off half-way does not."""
    series = traffic((6 * HOUR, 1.0))
    held = f"outrider_journal_bytes{{{JOB}}}"
    series[held] = f"0+{FULL / (8 * HOUR):.0f}x{6 * HOUR - 1}"
    grows = {"OutriderJournalGrows"}
    simulate(tmp_path, series, {2 * HOUR: set(), 5 * HOUR: grows, 6 * HOUR - 1: grows})
    series[held] = f"0+{0.45 * FULL / (4 * HOUR):.0f}x{4 * HOUR} {0.45 * FULL:.0f}x{2 * HOUR - 2}"
    simulate(tmp_path, series, {m: set() for m in range(0, 6 * HOUR, 10)})


def test_a_store_that_takes_nothing_pages(tmp_path: Path) -> None:
    """Verdicts that wait for half an hour page, whether the store hangs or is only too slow; without traffic nothing waits."""
    outbox = f"outrider_outbox_rows{{{JOB}}}"
    rows = f'outrider_store_rows_total{{{JOB},table="scores"}}'
    behind = {"OutriderStoreBehind"}
    hangs = {outbox: "3x59 1+2x59", rows: "0+40x59 2400x59"}
    simulate(tmp_path, {**traffic((120, 1.0)), **hangs}, {58: set(), 80: set(), 100: behind})
    slow = {outbox: "3x59 200+20x59", rows: "0+40x119"}
    simulate(tmp_path, {**traffic((120, 1.0)), **slow}, {58: set(), 80: set(), 100: behind})
    never = {outbox: "0x9 1x109"}
    simulate(tmp_path, {**traffic((120, 1.0)), **never}, {8: set(), 60: behind})
    quiet = {outbox: "0x119", rows: "50x119"}
    simulate(tmp_path, {**traffic((120, 0.0)), **quiet}, {m: set() for m in range(0, 120, 10)})


def test_kafka_that_is_gone_pages(tmp_path: Path) -> None:
    """Brokers that do not answer page, since what is not read is not missed by anything else; a short outage does not."""
    connected = f"outrider_kafka_connected{{{JOB}}}"
    series = {**traffic((60, 1.0), (60, 0.0)), connected: "1x19 0x9 1x29 0x59"}
    simulate(tmp_path, series, {35: set(), 55: set(), 80: {"OutriderKafkaGone"}})


@pytest.mark.parametrize(
    ("lag", "read", "fires"),
    [
        pytest.param("0x59 100+50x59", "0+100x119", False, id="a-moment-of-work"),
        pytest.param("0x59 100+200x59", "0+100x59 6000+2x59", True, id="slower-than-it-comes"),
        pytest.param("0x59 7x59", "0+100x59 6000x59", True, id="stands-still"),
        pytest.param("7x119", None, True, id="never-read"),
        pytest.param("0x119", None, False, id="an-empty-topic"),
        pytest.param("0 1 0 2 0 1 0x113", "0+1x5 6x113", False, id="a-trickle"),
    ],
)
def test_kafka_that_is_read_too_slowly_pages(
    tmp_path: Path, lag: str, read: str | None, fires: bool
) -> None:
    """More than half an hour of reading ahead pages, whatever the number of messages is."""
    series = {
        **traffic((120, 1.0)),
        f'outrider_kafka_lag{{{JOB},topic="otlp_spans",partition="0"}}': lag,
        f'outrider_kafka_lag{{{JOB},topic="otlp_spans",partition="1"}}': "0x119",
    }
    if read is not None:
        series[f'outrider_kafka_messages_total{{{JOB},topic="otlp_spans",result="taken"}}'] = read
    simulate(tmp_path, series, {5: set(), 118: {"OutriderKafkaBehind"} if fires else set()})


@pytest.mark.parametrize(
    ("more", "alert"),
    [
        ({f'outrider_store_errors_total{{{JOB},kind="unavailable"}}': "0+3x59"}, "StoreFails"),
        ({f'outrider_detector_errors_total{{{JOB},error="X"}}': "0+1x59"}, "DetectorsFail"),
        ({f"outrider_detector_behind_observations{{{JOB}}}": "5000x59"}, "DetectorsBehind"),
    ],
)
def test_what_loses_nothing_yet_opens_a_ticket(
    tmp_path: Path, more: dict[str, str], alert: str
) -> None:
    """What loses nothing yet is told in working hours."""
    simulate(tmp_path, {**traffic((60, 1.0)), **more}, {5: set(), 58: {f"Outrider{alert}"}})
