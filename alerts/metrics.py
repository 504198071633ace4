"""Hold every metric that Outrider exports: the contract with dashboards, rules and alerts.

To add a metric, add it here; the exporter, the docs and the tests read this list.
"""

from __future__ import annotations

from typing import Literal

import msgspec

PREFIX = "outrider_"

MetricKind = Literal["counter", "gauge", "histogram"]
MetricGroup = Literal["quality", "health", "pipeline"]
Stability = Literal["stable", "experimental"]


class Metric(msgspec.Struct, frozen=True, kw_only=True):
    """One metric family."""

    name: str
    """Without the prefix; counters end in ``_total``."""
    kind: MetricKind
    labels: tuple[str, ...] = ()
    """In the order in which every series key has them."""
    help: str
    unit: str = ""
    """Base unit where the name carries it: ``seconds``, ``bytes``, ``usd``."""
    group: MetricGroup
    stability: Stability = "stable"
    buckets: tuple[float, ...] = ()
    """Upper bounds of a histogram, without infinity."""


WHO = ("agent", "agent_version", "environment", "variant")
"""The labels that say who spoke."""

SCORE_BUCKETS = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
DURATION_BUCKETS = (0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 300.0)

QUALITY = (
    Metric(
        name="scores_total",
        kind="counter",
        labels=(*WHO, "scorer", "scorer_version", "verdict"),
        help="First final verdicts (pass or fail), one per episode, scorer and target.",
        group="quality",
    ),
    Metric(
        name="score_revisions_total",
        kind="counter",
        labels=("scorer", "from", "to"),
        help="Verdicts that late spans changed; scores_total keeps the first one.",
        group="quality",
    ),
    Metric(
        name="score_value",
        kind="histogram",
        labels=(*WHO, "scorer", "scorer_version"),
        help="Values of the first final scores, 0 to 1, 1 is good.",
        group="quality",
        buckets=SCORE_BUCKETS,
    ),
    Metric(
        name="score_failures_total",
        kind="counter",
        labels=("scorer", "error"),
        help="Times a scorer could not do its work; never counted as a verdict.",
        group="quality",
    ),
    Metric(
        name="decisions_total",
        kind="counter",
        labels=("scorer", "decision", "reason"),
        help="Ledger rows: why an episode was or was not scored by one scorer.",
        group="quality",
    ),
    Metric(
        name="episodes_total",
        kind="counter",
        labels=WHO,
        help="Decided episodes, each counted once.",
        group="quality",
    ),
    Metric(
        name="failure_rate",
        kind="gauge",
        labels=(*WHO, "scorer", "window"),
        help="Share of episodes with a failing verdict in the window, corrections included.",
        group="quality",
    ),
    Metric(
        name="failure_rate_low",
        kind="gauge",
        labels=(*WHO, "scorer", "window"),
        help="Lower end of the failure rate's 95 % Wilson interval.",
        group="quality",
    ),
    Metric(
        name="failure_rate_high",
        kind="gauge",
        labels=(*WHO, "scorer", "window"),
        help="Upper end of the failure rate's 95 % Wilson interval.",
        group="quality",
    ),
)

HEALTH = (
    Metric(
        name="tool_calls_total",
        kind="counter",
        labels=("agent", "tool", "outcome"),
        help="Tool calls of decided episodes; outcome is ok, error or unknown.",
        group="health",
    ),
    Metric(
        name="tool_call_duration_seconds",
        kind="histogram",
        labels=("agent", "tool"),
        help="Time from a tool call's start to its end, where spans tell it.",
        unit="seconds",
        group="health",
        buckets=DURATION_BUCKETS,
    ),
    Metric(
        name="llm_tokens_total",
        kind="counter",
        labels=("agent", "model", "kind"),
        help="Tokens of model calls; kinds input, output, cache_read, cache_write and reasoning,"
        " of which input includes both cache kinds and output the reasoning.",
        group="health",
    ),
    Metric(
        name="llm_cost_usd_total",
        kind="counter",
        labels=("agent", "model"),
        help="Cost of model calls as their producers stated it, in US dollars.",
        unit="usd",
        group="health",
    ),
    Metric(
        name="content_expected_total",
        kind="counter",
        labels=("agent", "kind"),
        help="Calls that could have carried content of the kind: input, output, arguments, result.",
        group="health",
    ),
    Metric(
        name="content_seen_total",
        kind="counter",
        labels=("agent", "kind"),
        help="Calls that did carry content of the kind.",
        group="health",
    ),
    Metric(
        name="content_coverage",
        kind="gauge",
        labels=("agent", "kind"),
        help="Share of calls that carried content of the kind; without content most scorers skip.",
        group="health",
    ),
)

PIPELINE = (
    Metric(
        name="spans_received_total",
        kind="counter",
        labels=("receiver",),
        help="Spans acknowledged, resends included.",
        group="pipeline",
    ),
    Metric(
        name="log_records_received_total",
        kind="counter",
        labels=("receiver",),
        help="Log records acknowledged, resends included.",
        group="pipeline",
    ),
    Metric(
        name="requests_rejected_total",
        kind="counter",
        labels=("receiver", "reason"),
        help="Requests that were refused as a whole.",
        group="pipeline",
    ),
    Metric(
        name="spans_rejected_total",
        kind="counter",
        labels=("receiver", "reason"),
        help="Spans refused inside an accepted request (partial success).",
        group="pipeline",
    ),
    Metric(
        name="spans_duplicate_total",
        kind="counter",
        help="Spans that had been received before.",
        group="pipeline",
    ),
    Metric(
        name="spans_dropped_total",
        kind="counter",
        labels=("reason",),
        help="Spans that were acknowledged and not used.",
        group="pipeline",
    ),
    Metric(
        name="spans_plain_total",
        kind="counter",
        help="Spans stored as plain traces, because no convention found an agent in them.",
        group="pipeline",
    ),
    Metric(
        name="late_spans_total",
        kind="counter",
        labels=("result",),
        help="Spans that came after their episode was decided.",
        group="pipeline",
    ),
    Metric(
        name="stitch_total",
        kind="counter",
        labels=("method", "result"),
        help="How calls were put into conversations.",
        group="pipeline",
    ),
    Metric(
        name="stage_items_total",
        kind="counter",
        labels=("stage", "result"),
        help="What each stage received, emitted and dropped.",
        group="pipeline",
        stability="experimental",
    ),
    Metric(
        name="redactions_total",
        kind="counter",
        labels=("kind",),
        help="Replacements of sensitive text; a remembered text's are not made again.",
        group="pipeline",
    ),
    Metric(
        name="open_episodes",
        kind="gauge",
        help="Episodes that are not decided yet.",
        group="pipeline",
    ),
    Metric(
        name="spans_in_flight",
        kind="gauge",
        help="Spans acknowledged and not processed yet.",
        group="pipeline",
    ),
    Metric(
        name="outbox_rows",
        kind="gauge",
        help="Batches that are concluded and wait for the store.",
        group="pipeline",
    ),
    Metric(
        name="pipeline_lag_seconds",
        kind="gauge",
        help="Age of the oldest acknowledged request that is not processed.",
        unit="seconds",
        group="pipeline",
    ),
    Metric(
        name="journal_bytes",
        kind="gauge",
        help="Raw requests held by the journal.",
        unit="bytes",
        group="pipeline",
    ),
    Metric(
        name="journal_requests",
        kind="gauge",
        help="Requests held by the journal.",
        group="pipeline",
    ),
    Metric(
        name="store_rows_total",
        kind="counter",
        labels=("table",),
        help="Rows written to the store.",
        group="pipeline",
    ),
    Metric(
        name="store_errors_total",
        kind="counter",
        labels=("kind",),
        help="Store calls that failed; the data stays in the journal and is tried again.",
        group="pipeline",
    ),
    Metric(
        name="evaluation_events_total",
        kind="counter",
        labels=("result",),
        help="Scores emitted as gen_ai.evaluation.result events: sent, dropped or failed.",
        group="pipeline",
    ),
    Metric(
        name="failure_rate_errors_total",
        kind="counter",
        help="Times the failure rates could not be read from the store.",
        group="pipeline",
    ),
    Metric(
        name="last_score_timestamp_seconds",
        kind="gauge",
        help="When the last verdict was reached, in Unix time.",
        unit="seconds",
        group="pipeline",
    ),
    Metric(
        name="build_info",
        kind="gauge",
        labels=("version",),
        help="Always 1; the label says which release runs.",
        group="pipeline",
    ),
)

CATALOGUE: dict[str, Metric] = {m.name: m for m in (*QUALITY, *HEALTH, *PIPELINE)}
"""Every metric by its name without prefix."""


def family_of(name: str) -> Metric | None:
    """Return the metric that a series belongs to; histogram parts belong to their histogram."""
    metric = CATALOGUE.get(name)
    if metric is not None:
        return None if metric.kind == "histogram" else metric
    for suffix in ("_bucket", "_sum", "_count"):
        metric = CATALOGUE.get(name.removesuffix(suffix))
        if metric is not None and metric.kind == "histogram":
            return metric
    return None


def docs_rows() -> list[tuple[str, str, str, str, str]]:
    """Return the rows of the metrics table: name, kind, labels, meaning, stability."""
    return [
        (
            f"`{PREFIX}{metric.name}`",
            metric.kind,
            ", ".join(f"`{label}`" for label in metric.labels) or "none",
            metric.help,
            metric.stability,
        )
        for metric in CATALOGUE.values()
    ]
