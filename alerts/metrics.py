"""Hold every metric that Outrider exports: the contract with dashboards, rules and alerts.

To add a metric, add it here, to ``alarm_metrics.py``, ``pipeline_metrics.py`` or ``kafka_metrics.py``; the exporter, the docs and the tests read this list.
"""

from __future__ import annotations

from alerts.alarm_metrics import ALARMS
from alerts.kafka_metrics import KAFKA
from alerts.metric import PREFIX, Metric
from alerts.pipeline_metrics import PIPELINE

__all__ = ["CATALOGUE", "PREFIX", "WHO", "Metric", "docs_rows", "family_of"]

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
        name="outcomes_total",
        kind="counter",
        labels=("outcome", "value"),
        help="Verified outcomes told of conversations, each once; value is true, false, number or text.",
        group="quality",
    ),
    Metric(
        name="labels_total",
        kind="counter",
        labels=("scorer", "verdict"),
        help="People's labels on conversations, each once; verdict is pass, fail or none.",
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
        name="tool_errors_total",
        kind="counter",
        labels=("agent", "tool", "kind"),
        help="Tool calls that failed, by kind: input, not_found, permission, rate_limit, timeout,"
        " unavailable, internal, refused or other; empty for look-ups that found nothing.",
        group="health",
    ),
    Metric(
        name="tool_result_tokens_total",
        kind="counter",
        labels=("agent", "tool"),
        help="Tokens that tools' results brought into the context, reckoned as four characters each.",
        group="health",
    ),
    Metric(
        name="tool_calls_redundant_total",
        kind="counter",
        labels=("agent", "tool"),
        help="Tool calls for what the agent had in hand already.",
        group="health",
    ),
    Metric(
        name="loop_tokens_total",
        kind="counter",
        labels=("agent",),
        help="Tokens of the model calls that asked for the repeats of a loop, where spans tell.",
        group="health",
    ),
    Metric(
        name="loop_cost_usd_total",
        kind="counter",
        labels=("agent",),
        help="What those model calls cost, where spans tell.",
        unit="usd",
        group="health",
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

CATALOGUE: dict[str, Metric] = {m.name: m for m in (*QUALITY, *HEALTH, *ALARMS, *PIPELINE, *KAFKA)}
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
