"""Test what a scraper gets, read back by the parsers of the client library."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping
from urllib.parse import urlencode

import httpx
import pytest
from prometheus_client.core import Metric as Family
from prometheus_client.openmetrics import parser
from prometheus_client.parser import text_string_to_metric_families as parse_plain

from alerts.exporter import Exporter, metrics_app, wants_openmetrics
from alerts.metrics import CATALOGUE
from collector.totals import Deltas, SeriesKey, add, observe, series

PROMETHEUS = (
    "application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.5,"
    "application/openmetrics-text;version=0.0.1;q=0.4,text/plain;version=0.0.4;q=0.2,*/*;q=0.1"
)
WHO = {"agent": "shop", "agent_version": "1", "environment": "prod", "variant": "production"}
SCORE = {**WHO, "scorer": "looping", "scorer_version": "1"}


def parse_openmetrics(text: str) -> Iterator[Family]:
    """Parse an OpenMetrics exposition, which refuses what the standard does."""
    families: Iterator[Family] = parser.text_string_to_metric_families(text)  # type: ignore[no-untyped-call]  # the library's
    return families


def some_totals() -> Deltas:
    """Build totals with a counter, a histogram and awkward label values."""
    totals: Deltas = {}
    add(totals, "scores_total", 3, **SCORE, verdict="pass")
    add(totals, "tool_calls_total", 2, agent='a"b\\c\nd', tool="é", outcome="ok")
    add(totals, "content_expected_total", 4, agent="shop", kind="input")
    add(totals, "content_seen_total", 3, agent="shop", kind="input")
    for value in (0.05, 3.0, 1000.0):
        bounds = CATALOGUE["tool_call_duration_seconds"].buckets
        observe(totals, "tool_call_duration_seconds", value, bounds, agent="shop", tool="find")
    return totals


def get(exporter: Exporter, *, path: str = "/metrics", **headers: str) -> httpx.Response:
    """Ask the application once."""

    async def ask() -> httpx.Response:
        transport = httpx.ASGITransport(app=metrics_app(exporter))
        async with httpx.AsyncClient(transport=transport, base_url="http://outrider") as client:
            return await client.get(
                path, headers={name.replace("_", "-"): text for name, text in headers.items()}
            )

    return asyncio.run(ask())


def samples(text: str) -> dict[tuple[str, frozenset[tuple[str, str]]], float]:
    """Parse a plain exposition."""
    return {
        (sample.name, frozenset(sample.labels.items())): sample.value
        for family in parse_plain(text)
        for sample in family.samples
    }


def test_plain_text_is_the_default() -> None:
    """Whoever asks for nothing gets text 0.0.4, with every value as it is."""
    answer = get(Exporter(some_totals, lambda: {series("open_episodes"): 7.0}))
    assert answer.headers["content-type"] == "text/plain; version=0.0.4; charset=utf-8"
    found = samples(answer.text)
    assert found["outrider_open_episodes", frozenset()] == 7.0
    labels = frozenset({"agent": 'a"b\\c\nd', "tool": "é", "outcome": "ok"}.items())
    assert found["outrider_tool_calls_total", labels] == 2.0
    assert "# HELP outrider_scores_total First final verdicts" in answer.text
    assert "# TYPE outrider_scores_total counter" in answer.text


def test_openmetrics_is_valid_and_carries_exemplars() -> None:
    """Prometheus gets OpenMetrics that its own parser takes, with the trace of a verdict."""
    key = series("scores_total", **SCORE, verdict="pass")
    exporter = Exporter(some_totals, dict, lambda: {key: "4bf92f3577b34da6a3ce929d0e0e4736"})
    answer = get(exporter, accept=PROMETHEUS)
    assert answer.headers["content-type"].startswith("application/openmetrics-text; version=1.0.0")
    families = {family.name: family for family in parse_openmetrics(answer.text)}
    sample = families["outrider_scores"].samples[0]
    assert (sample.name, sample.value) == ("outrider_scores_total", 3.0)
    assert sample.exemplar is not None
    assert sample.exemplar.labels == {"trace_id": "4bf92f3577b34da6a3ce929d0e0e4736"}
    assert "_created" not in answer.text
    assert families["outrider_tool_call_duration_seconds"].unit == "seconds"


def test_histogram_buckets_are_added_up_in_order() -> None:
    """Every bucket of the catalogue is there, they ascend to infinity, and infinity is the count."""
    families = {
        f.name: f for f in parse_openmetrics(get(Exporter(some_totals), accept=PROMETHEUS).text)
    }
    parts = [
        (sample.labels.get("le", sample.name.rpartition("_")[2]), sample.value)
        for sample in families["outrider_tool_call_duration_seconds"].samples
    ]
    bounds = [str(bound) for bound in CATALOGUE["tool_call_duration_seconds"].buckets]
    assert [name for name, _ in parts] == [*bounds, "+Inf", "sum", "count"]
    values = dict(parts)
    assert (values["0.025"], values["0.05"], values["2.5"], values["5.0"]) == (0, 1, 1, 2)
    assert (values["300.0"], values["+Inf"], values["sum"], values["count"]) == (2, 3, 1003.05, 3)


def test_buckets_of_an_earlier_release_still_count() -> None:
    """A bound that the catalogue no longer has keeps its values, and the order holds."""
    totals: Deltas = {}
    for value in (1.5, 40.0):
        observe(totals, "tool_call_duration_seconds", value, (2.0, 50.0), agent="a", tool="t")
    found = samples(get(Exporter(lambda: totals)).text)
    buckets = {
        dict(labels)["le"]: value
        for (name, labels), value in found.items()
        if name == "outrider_tool_call_duration_seconds_bucket"
    }
    assert (buckets["1.0"], buckets["2.0"], buckets["2.5"], buckets["+Inf"]) == (0, 1, 1, 2)


def test_content_coverage_is_the_ratio_of_its_totals() -> None:
    """Coverage is computed when it is asked for."""
    found = samples(get(Exporter(some_totals)).text)
    labels = frozenset({"agent": "shop", "kind": "input"}.items())
    assert found["outrider_content_coverage", labels] == 0.75


def test_counters_without_labels_start_at_zero() -> None:
    """A counter that has not risen yet is there, so that a rule sees its first rise."""
    assert samples(get(Exporter(dict)).text)["outrider_spans_duplicate_total", frozenset()] == 0.0


def test_known_label_values_start_at_zero() -> None:
    """So does a series whose label value is known beforehand; one that has risen keeps its value."""
    totals: Deltas = {}
    add(totals, "spans_dropped_total", 2, reason="unstorable")
    found = samples(get(Exporter(lambda: totals)).text)
    by_reason = {
        dict(labels)["reason"]: value
        for (name, labels), value in found.items()
        if name == "outrider_spans_dropped_total"
    }
    assert by_reason == {"own_telemetry": 0.0, "unreadable": 0.0, "unstorable": 2.0}


def test_the_release_is_shown() -> None:
    """Which release runs can be read beside every other series."""
    found = samples(get(Exporter(dict, version="1.2.3")).text)
    assert found["outrider_build_info", frozenset({("version", "1.2.3")})] == 1.0


def test_a_series_outside_the_catalogue_is_shown() -> None:
    """A series that nobody listed is exported untyped instead of being hidden."""
    exporter = Exporter(lambda: {series("surprise", x="1"): 1.0})
    assert "# TYPE outrider_surprise untyped" in get(exporter).text
    list(parse_openmetrics(get(exporter, accept=PROMETHEUS).text))


def test_gzip_when_asked() -> None:
    """A scraper that accepts gzip gets gzip, one that does not gets the text."""
    zipped = get(Exporter(some_totals), accept_encoding="gzip")
    plain = get(Exporter(some_totals), accept_encoding="identity")
    assert zipped.headers["content-encoding"] == "gzip"
    assert "content-encoding" not in plain.headers
    assert zipped.text == plain.text


@pytest.mark.parametrize(
    ("asked", "families"),
    [
        (["outrider_content_coverage"], {"outrider_content_coverage"}),
        (["outrider_open_episodes", "outrider_spans_duplicate_total"], {
            "outrider_open_episodes", "outrider_spans_duplicate",
        }),
        (["outrider_tool_call_duration_seconds_sum"], {"outrider_tool_call_duration_seconds"}),
        (["outrider_nobody_knows"], set()),
    ],
)  # fmt: skip
def test_some_families_alone(asked: list[str], families: set[str]) -> None:
    """Whoever needs a few names gets those families whole, and no others."""
    exporter = Exporter(some_totals, lambda: {series("open_episodes"): 7.0})
    path = "/metrics?" + urlencode([("name[]", name) for name in asked])
    everything = get(exporter, accept=PROMETHEUS).text.splitlines()
    some = get(exporter, path=path, accept=PROMETHEUS).text
    assert {family.name for family in parse_openmetrics(some)} == families
    assert [line for line in everything if line in set(some.splitlines())] == some.splitlines()


def test_only_metrics_are_served() -> None:
    """Any other path does not exist."""
    assert get(Exporter(dict), path="/").status_code == 404


@pytest.mark.parametrize(
    ("accept", "openmetrics"),
    [
        ("", False),
        ("*/*", False),
        ("text/plain", False),
        (PROMETHEUS, True),
        ("application/openmetrics-text", True),
        ("application/openmetrics-text;q=0", False),
        ("application/openmetrics-text;q=0.1, text/plain;q=0.9", False),
        ("application/openmetrics-text;q=x", False),
    ],
)
def test_negotiation(accept: str, openmetrics: bool) -> None:
    """The format that the scraper prefers is the one it gets."""
    assert wants_openmetrics(accept) is openmetrics


def test_a_large_scrape_does_not_stop_the_loop() -> None:
    """While many series are rendered, the event loop goes on doing other things."""
    totals: Deltas = {}
    for n in range(10_000):
        add(totals, "tool_calls_total", 1, agent=f"agent-{n % 100}", tool=f"tool-{n}", outcome="ok")
    ticks = 0

    async def scrape() -> int:
        nonlocal ticks
        transport = httpx.ASGITransport(app=metrics_app(Exporter(lambda: totals)))
        async with httpx.AsyncClient(transport=transport, base_url="http://outrider") as client:
            asked = asyncio.create_task(client.get("/metrics"))
            while not asked.done():
                await asyncio.sleep(0)
                ticks += 1
            return len((await asked).text.splitlines())

    assert asyncio.run(scrape()) > 10_000
    assert ticks > 10


def test_values_do_not_fall_while_they_rise_elsewhere() -> None:
    """Scrapes beside a writer see every counter only rise."""
    now: dict[SeriesKey, float] = {}

    def snapshot() -> Mapping[SeriesKey, float]:
        add(now, "spans_received_total", 5, receiver="otlp_http")
        return dict(now)

    exporter = Exporter(snapshot)
    seen = [
        samples(get(exporter).text)[
            "outrider_spans_received_total", frozenset({("receiver", "otlp_http")})
        ]
        for _ in range(5)
    ]
    assert seen == sorted(set(seen))
