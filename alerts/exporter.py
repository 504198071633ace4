"""Write the totals and gauges in the formats that Prometheus scrapes."""

from __future__ import annotations

import asyncio
import gzip
import math
from collections.abc import Callable, Collection, Iterator, Mapping
from typing import TypeAlias

from prometheus_client.core import Metric as Family
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4
from prometheus_client.exposition import generate_latest as plain_text
from prometheus_client.openmetrics.exposition import CONTENT_TYPE_LATEST as OPENMETRICS
from prometheus_client.openmetrics.exposition import generate_latest as openmetrics_text
from prometheus_client.registry import Collector
from prometheus_client.samples import Exemplar
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from alerts.metric import PREFIX, Metric
from alerts.metrics import CATALOGUE, family_of
from collector.totals import SeriesKey, format_bound, series

Snapshot = Callable[[], Mapping[SeriesKey, float]]
"""Return the present values; a copy that nobody changes while it is read."""

LabelPairs: TypeAlias = tuple[tuple[str, str], ...]


class Exporter(Collector):
    """Collect the metric families of one moment.

    Args:
        totals: values that never fall; whoever keeps them keeps them over restarts.
        gauges: values that may fall.
        exemplars: trace id by counter series.
        version: our release, shown as ``build_info``; empty shows none.
    """

    def __init__(
        self,
        totals: Snapshot,
        gauges: Snapshot = dict,
        exemplars: Callable[[], Mapping[SeriesKey, str]] = dict,
        *,
        version: str = "",
    ) -> None:
        self._totals = totals
        self._gauges = gauges
        self._exemplars = exemplars
        self._build = {series("build_info", version=version): 1.0} if version else {}

    def collect(self, only: Collection[str] = ()) -> Iterator[Family]:
        """Yield the families in the catalogue's order; unlisted series come last, untyped.

        Args:
            only: names of families or of single series, as they are exposed; empty means all.
        """
        totals = self._totals()
        exemplars = self._exemplars()
        wanted = {family_name(name.removeprefix(PREFIX)) for name in only}
        families: dict[str, dict[SeriesKey, float]] = {}
        for values in (totals, self._gauges(), _coverage(totals), self._build):
            for key, value in values.items():
                name = family_name(key[0])
                if not wanted or name in wanted:
                    families.setdefault(name, {})[key] = value
        for name, metric in CATALOGUE.items():
            found = families.pop(name, {})
            if not wanted or name in wanted:
                # What is known beforehand exists from the start, so that its first rise shows.
                for key in _from_the_start(metric):
                    found.setdefault(key, 0.0)
            if found:
                yield _family(metric, found, exemplars)
        for name, found in sorted(families.items()):
            family = Family(PREFIX + name, "Not in the catalogue.", "unknown")
            for (_, pairs), value in sorted(found.items()):
                family.add_sample(PREFIX + name, dict(pairs), value)
            yield family


class Selection(Collector):
    """Collect some families alone, which costs next to nothing where there are many series."""

    def __init__(self, exporter: Exporter, only: Collection[str]) -> None:
        self._exporter = exporter
        self._only = only

    def collect(self) -> Iterator[Family]:
        """Yield the families that have one of the names."""
        return self._exporter.collect(self._only)


def family_name(name: str) -> str:
    """Return the name of the family that a series belongs to; without the prefix, as the series."""
    metric = family_of(name)
    return metric.name if metric else name


def _coverage(totals: Mapping[SeriesKey, float]) -> dict[SeriesKey, float]:
    return {
        ("content_coverage", pairs): totals.get(("content_seen_total", pairs), 0.0) / expected
        for (name, pairs), expected in totals.items()
        if name == "content_expected_total" and expected > 0
    }


def _from_the_start(metric: Metric) -> Iterator[SeriesKey]:
    if metric.kind == "counter" and not metric.labels:
        yield metric.name, ()
    for value in metric.known:
        yield metric.name, ((metric.labels[0], value),)


def _family(
    metric: Metric, found: Mapping[SeriesKey, float], exemplars: Mapping[SeriesKey, str]
) -> Family:
    name = PREFIX + metric.name
    ordered = _cumulated(metric, found) if metric.kind == "histogram" else sorted(found.items())
    # The library appends "_total" to a counter's name by itself.
    family = Family(name.removesuffix("_total"), metric.help, metric.kind, metric.unit)
    for key, value in ordered:
        trace = exemplars.get(key)
        exemplar = Exemplar({"trace_id": trace}, 1.0) if trace else None
        family.add_sample(PREFIX + key[0], dict(key[1]), value, exemplar=exemplar)
    return family


def _cumulated(metric: Metric, found: Mapping[SeriesKey, float]) -> list[tuple[SeriesKey, float]]:
    """Add up a histogram's buckets, in the order that OpenMetrics wants: up to infinity, sum, count."""
    buckets: dict[LabelPairs, dict[float, float]] = {}
    for (name, pairs), value in found.items():
        if name.endswith("_bucket"):
            counts = buckets.setdefault(pairs[:-1], dict.fromkeys(metric.buckets, 0.0))
            bound = float(pairs[-1][1])
            counts[bound] = counts.get(bound, 0.0) + value
    ordered: list[tuple[SeriesKey, float]] = []
    for labels, counts in sorted(buckets.items()):
        reached = 0.0
        for bound in sorted({*counts, math.inf}):
            reached += counts.get(bound, 0.0)
            le = "+Inf" if bound == math.inf else format_bound(bound)
            ordered.append(((f"{metric.name}_bucket", (*labels, ("le", le))), reached))
        for part in ("_sum", "_count"):
            key = (metric.name + part, labels)
            ordered.append((key, found.get(key, 0.0)))
    return ordered


def wants_openmetrics(accept: str) -> bool:
    """Tell whether an Accept header prefers OpenMetrics to the plain text format."""
    openmetrics = plain = 0.0
    for item in accept.split(","):
        kind, *parameters = (part.strip() for part in item.split(";"))
        quality = 1.0
        for parameter in parameters:
            if parameter.startswith("q="):
                try:
                    quality = float(parameter[2:])
                except ValueError:
                    quality = 0.0
        if kind == "application/openmetrics-text":
            openmetrics = max(openmetrics, quality)
        elif kind == "text/plain":
            plain = max(plain, quality)
    return openmetrics > 0 and openmetrics >= plain


def metrics_app(exporter: Exporter) -> Starlette:
    """Build the application that answers ``GET /metrics``; ``?name[]=…`` asks for some families.

    Rendering happens in a thread, one scrape at a time, so that a large one stops nothing.
    """
    turn = asyncio.Lock()

    def render(accept: str, only: Collection[str], *, zipped: bool) -> tuple[bytes, str]:
        source = Selection(exporter, only) if only else exporter
        if wants_openmetrics(accept):
            body: bytes = openmetrics_text(source)  # type: ignore[no-untyped-call]  # the library's
            content_type = OPENMETRICS
        else:
            body, content_type = plain_text(source), CONTENT_TYPE_PLAIN_0_0_4
        return (gzip.compress(body, compresslevel=1) if zipped else body), content_type

    async def metrics(request: Request) -> Response:
        zipped = "gzip" in request.headers.get("accept-encoding", "")
        async with turn:
            body, content_type = await asyncio.to_thread(
                render,
                request.headers.get("accept", ""),
                request.query_params.getlist("name[]"),
                zipped=zipped,
            )
        headers = {"Content-Type": content_type, "Vary": "Accept, Accept-Encoding"}
        if zipped:
            headers["Content-Encoding"] = "gzip"
        return Response(body, headers=headers)

    return Starlette(routes=[Route("/metrics", metrics, methods=["GET"])])
