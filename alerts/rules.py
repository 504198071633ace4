"""Say when Prometheus shall call somebody: about an agent, or because Outrider sees nothing.

Two kinds of alerts. Those about quality only repeat what a detector decided, which has
weighed the evidence already. Those about Outrider itself make sure that no news is good news:
a monitor that is down, stuck or blind must not look like a quiet night, and a quiet night must
not look like a blind monitor.
"""

from __future__ import annotations

import msgspec

from alerts.metric import PREFIX
from alerts.rule import Group, Rule, duration, quoted

MINUTE_S = 60.0
HOUR_S = 3_600.0
DAY_S = 86_400.0

EXPECTED = 10
"""Conversations that would have been decided, by the week's average, before silence is strange."""
SPARSE = 12
"""For agents with little traffic the same is asked of a window this many times longer."""
STUCK_S = 900.0
"""Age of the oldest request that is acknowledged and not processed."""
BEHIND = 1_000
"""Observations that the detectors may lag."""
FULL = 0.8
"""Share of ``journal.max_size`` at which there is still time to act."""


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    """What the rules depend on."""

    job: str = "outrider"
    """Prometheus's name for the scrape of our metrics."""
    console: str = "http://127.0.0.1:8090"
    """Base URL of the console, without a slash at the end."""
    blind_after_s: float = 1_800.0
    """How long calls may come without a verdict."""
    idle_timeout_s: float = 900.0
    """``assemble.idle_timeout``: a conversation may wait this long for its verdicts."""
    journal_max_bytes: int = 4 * 1024 * 1024 * 1024
    """``journal.max_size``."""
    always_busy: bool = False
    """Whether there is traffic at every hour, so that silence is a fault."""


def groups(settings: Settings) -> tuple[Group, ...]:
    """Return all rules."""
    return (
        Group(name="outrider-quality", rules=_quality(settings)),
        Group(name="outrider-blind", rules=_blind(settings)),
        Group(name="outrider-health", rules=_health(settings)),
    )


def _quality(settings: Settings) -> tuple[Rule, ...]:
    subject = (
        "{{ $labels.scorer }} of {{ $labels.agent }}"
        "{{ with $labels.agent_version }} {{ . }}{{ end }}"
        "{{ with $labels.environment }} ({{ . }}){{ end }}"
    )
    link = (
        f"{settings.console}/?agent={{{{ $labels.agent | urlquery }}}}"
        "&environment={{ $labels.environment | urlquery }}"
    )

    def firing(severity: str) -> str:
        found = _metric(settings, "detector_firing", f"severity={quoted(severity)}")
        return f"max without (instance, pod) ({found}) == 1"

    return (
        Rule(
            alert="OutriderQualityDropped",
            expr=firing("page"),
            keep_s=10 * MINUTE_S,
            severity="page",
            summary=f"{subject} fails more often than usual",
            description=_numbers(),
            dashboard=link,
        ),
        Rule(
            alert="OutriderQualityDoubtful",
            expr=firing("ticket"),
            keep_s=10 * MINUTE_S,
            severity="ticket",
            summary=f"{subject} seems to fail more often than usual",
            description=_numbers(),
            dashboard=link,
        ),
    )


def _blind(settings: Settings) -> tuple[Rule, ...]:
    up = f"up{{{_job(settings)}}}"
    lag = _metric(settings, "pipeline_lag_seconds")
    rules = [
        Rule(
            alert="OutriderDown",
            expr=f"{up} == 0 or absent({up})",
            after_s=5 * MINUTE_S,
            severity="page",
            summary="Outrider{{ with $labels.instance }} at {{ . }}{{ end }} is not there",
            description=(
                "Prometheus gets no metrics from it, so nobody watches the agents. What it had"
                " acknowledged is in its journal and is scored after a restart."
            ),
        ),
        Rule(
            alert="OutriderStuck",
            expr=f"{lag} > {STUCK_S:.0f}",
            after_s=10 * MINUTE_S,
            severity="page",
            summary="Outrider at {{ $labels.instance }} receives and does not process",
            description=(
                "The oldest request that waits is {{ $value | humanizeDuration }} old. Its"
                " conversations are not scored until it goes on."
            ),
        ),
        Rule(
            alert="OutriderBlind",
            expr=_unscored(settings),
            after_s=max(10 * MINUTE_S, settings.idle_timeout_s),
            severity="page",
            summary="Agents are at work and Outrider reaches no verdict",
            description=(
                'About {{ $value | printf "%.0f" }} conversations should have been decided, by the'
                " average of the week, and not one verdict was reached. Either nothing is decided,"
                " or every scorer skips or fails."
            ),
            dashboard=f"{settings.console}/ledger",
        ),
    ]
    if settings.always_busy:
        scores = _metric(settings, "scores_total")
        window = duration(settings.blind_after_s)
        rules.append(
            Rule(
                alert="OutriderSilent",
                expr=f"sum by (job) (increase({scores}[{window}])) == 0 or absent({scores})",
                after_s=10 * MINUTE_S,
                severity="page",
                summary=f"No verdict for {window}, though there is traffic at every hour",
                description=(
                    "Either the agents stopped, or their telemetry does not arrive, or Outrider"
                    " does not score it."
                ),
            )
        )
    return tuple(rules)


def _health(settings: Settings) -> tuple[Rule, ...]:
    def rise(name: str, window: str, *matchers: str) -> str:
        return f"increase({_metric(settings, name, *matchers)}[{window}])"

    failures = f"sum by (job, scorer) ({rise('score_failures_total', '1h')})"
    scores = f"sum by (job, scorer) ({rise('scores_total', '1h')})"
    received = f"sum by (job) ({rise('spans_received_total', '1d')})"
    # Prometheus itself may be younger than a day.
    known = f"sum by (job) ({_metric(settings, 'spans_received_total')} offset 1d) >= 0"
    calls = f"sum by (job) ({rise('stitch_total', '1d', _CALLS)})"
    behind = _metric(settings, "detector_behind_observations")
    given_up = f"sum by (job, channel) ({rise('notifications_total', '1h', _GIVEN_UP)})"
    return (
        Rule(
            alert="OutriderJournalFilling",
            expr=f"{_metric(settings, 'journal_bytes')} > {int(FULL * settings.journal_max_bytes)}",
            after_s=5 * MINUTE_S,
            severity="page",
            summary="The journal of Outrider at {{ $labels.instance }} is nearly full",
            description=(
                f"It holds {{{{ $value | humanize1024 }}}}B, over {FULL:.0%} of journal.max_size. When"
                " it is full senders are turned away, and what they cannot keep is lost."
            ),
        ),
        Rule(
            alert="OutriderStoreFails",
            expr=f"sum by (job, kind) ({rise('store_errors_total', '15m')}) > 0",
            after_s=15 * MINUTE_S,
            severity="ticket",
            summary="The store refuses what Outrider writes ({{ $labels.kind }})",
            description=(
                "Nothing is lost: it stays in the journal and is tried again. Rows that the store"
                " will never take (poison) are kept in dead_letters."
            ),
        ),
        Rule(
            alert="OutriderScorerFails",
            expr=f"{failures} > 5 and {failures} > 0.1 * ({failures} + {scores} or {failures})",
            after_s=15 * MINUTE_S,
            severity="ticket",
            summary="The scorer {{ $labels.scorer }} fails on many conversations",
            description=(
                "It failed {{ $value | humanize }} times in an hour, which is more than one in ten."
                " These conversations have no verdict of it, so its alarms see less."
            ),
            dashboard=f"{settings.console}/ledger",
        ),
        Rule(
            alert="OutriderDetectorsBehind",
            expr=f"{behind} > {BEHIND}",
            after_s=30 * MINUTE_S,
            severity="ticket",
            summary="The detectors of Outrider at {{ $labels.instance }} are behind",
            description=(
                "{{ $value | humanize }} scored conversations are not weighed yet; alarms come late"
                " by as much."
            ),
        ),
        Rule(
            alert="OutriderDetectorsFail",
            expr=f"sum by (job, error) ({rise('detector_errors_total', '15m')}) > 0",
            after_s=15 * MINUTE_S,
            severity="ticket",
            summary="The detectors of Outrider cannot use the store ({{ $labels.error }})",
            description="Conversations are scored and not weighed: no alarm comes until this ends.",
        ),
        Rule(
            alert="OutriderNotTold",
            expr=f"{given_up} > 0",
            severity="ticket",
            summary="Alarms could not be posted to the {{ $labels.channel }}",
            description=(
                "They were refused or are too old by now. They stand in the console under alerts."
            ),
            dashboard=f"{settings.console}/alerts",
        ),
        Rule(
            alert="OutriderNoTraffic",
            expr=f"{received} == 0 and {known}",
            after_s=HOUR_S,
            severity="ticket",
            summary="Outrider received nothing for a day",
            description="The agents are idle, or their exporters do not reach it.",
        ),
        Rule(
            alert="OutriderSeesNoAgents",
            expr=f"{received} > 0 and {known} unless {calls} > 0",
            after_s=HOUR_S,
            severity="ticket",
            summary="Outrider receives spans and finds no agent in them",
            description=(
                "For a day no span carried a conversation or a model call that it understands. Often"
                " an instrumentation was changed or records no content any more."
            ),
        ),
    )


_CALLS = 'method!="trace"'
"""Only spans of agents: plain traces are put together by their trace id alone."""
_GIVEN_UP = 'result=~"refused|expired"'


def _unscored(settings: Settings) -> str:
    """Compare the calls that came with the conversations they would have made in a usual week.

    Counters are used and no timestamps, because totals survive our restart; and the calls of
    ``idle_timeout`` ago, because a conversation may have to wait that long. With no calls
    nothing is expected, so that a quiet night is none of its business.
    """
    calls = _metric(settings, "stitch_total", _CALLS)
    episodes, scores = _metric(settings, "episodes_total"), _metric(settings, "scores_total")
    wait = duration(settings.idle_timeout_s)

    def over(window_s: float) -> str:
        window, whole = duration(window_s), duration(window_s + settings.idle_timeout_s)
        return (
            f"(sum by (job) (increase({calls}[{window}] offset {wait}))\n"
            f"  * sum by (job) (increase({episodes}[7d]))\n"
            f"  / sum by (job) (increase({calls}[7d]))) >= {EXPECTED}\n"
            f"  unless sum by (job) (increase({scores}[{whole}])) > 0"
        )

    return f"{over(settings.blind_after_s)}\nor\n{over(SPARSE * settings.blind_after_s)}"


def _numbers() -> str:
    """Show the detector's numbers, and the failing share of each version in the last hour."""
    change = _looked_up("detector_change_timestamp_seconds", *_DETECTOR)
    usual = _looked_up("detector_reference_rate", *_DETECTOR)
    rates = _looked_up("failure_rate", "agent", "environment", "scorer", window="1h")
    evidence = _looked_up("detector_evidence", *_DETECTOR)
    threshold = _looked_up("detector_threshold", *_DETECTOR, "severity")
    return (
        f"Since: {{{{ with {change} }}}}{{{{ . | first | value | humanizeTimestamp }}}}{{{{ end }}}}\n"
        f"Usual failure rate: {{{{ with {usual} }}}}"
        "{{ . | first | value | humanizePercentage }}{{ end }}\n"
        f"Failing in the last hour, by version: {{{{ range {rates} | sortByLabel `agent_version` }}}}"
        "{{ with .Labels.agent_version }}{{ . }}{{ else }}unnamed{{ end }}"
        " {{ .Value | humanizePercentage }}; {{ end }}\n"
        f"Evidence: {{{{ with {evidence} }}}}{{{{ . | first | value | humanize }}}}{{{{ end }}}}"
        f" of {{{{ with {threshold} }}}}{{{{ . | first | value | humanize }}}}{{{{ end }}}}"
    )


_DETECTOR = ("stream", "slice")
"""The labels that tell one detector from all others."""


def _looked_up(name: str, *labels: str, **fixed: str) -> str:
    """Write the part of a template that asks for the series with the alert's own labels."""
    matchers = [f"{label}=%q" for label in labels]
    matchers += [f"{label}={quoted(value)}" for label, value in fixed.items()]
    arguments = " ".join(f"$labels.{label}" for label in labels)
    return f"printf `{PREFIX}{name}{{{','.join(matchers)}}}` {arguments} | query"


def _job(settings: Settings) -> str:
    return f"job={quoted(settings.job)}"


def _metric(settings: Settings, name: str, *matchers: str) -> str:
    return f"{PREFIX}{name}{{{','.join((_job(settings), *matchers))}}}"
