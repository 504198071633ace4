"""Call somebody when traffic or verdicts do not get on: before the journal, at it, or behind it.

Alarms about quality are weighed from what is stored. So whatever keeps verdicts from the store
for long pages, though nothing is lost: meanwhile nobody watches the agents.
"""

from __future__ import annotations

from alerts.rule import Rule
from alerts.rule_settings import HOUR_S, MINUTE_S, Settings, metric, rise

STUCK_S = 900.0
"""Age of the oldest request that is acknowledged and not processed."""
BEHIND = 1_000
"""Observations that the detectors may lag."""
FULL = 0.8
"""Share of ``journal.max_size`` at which there is still time to act."""
GROWING = 0.3
"""Share of it from which its growth is worth a look."""
TURNED_AWAY = 5
"""Requests in ten minutes; single ones are sent again and cost nothing."""
UNSTORED = 100
"""Batches that wait for the store all the time; at most five a second are made."""
UNREAD_S = 1_800.0
"""Time that reading what waits in Kafka takes at the present speed."""
_FOR_NOW = 'reason=~"journal_full|unavailable|internal|too_many_connections"'
"""Why requests are refused that are sent again later, and lost when that is too late."""
_NO_ANSWER = ('receiver="proxy"', 'reason=~"unreachable|malformed_answer"')


def waiting(settings: Settings) -> tuple[Rule, ...]:
    """Return the rules."""
    return (*_intake(settings), *_journal(settings), *_kafka(settings), *_store(settings))


def _intake(settings: Settings) -> tuple[Rule, ...]:
    refused = rise(settings, "requests_rejected_total", "10m", _FOR_NOW)
    unanswered = rise(settings, "requests_rejected_total", "10m", *_NO_ANSWER)
    return (
        Rule(
            alert="OutriderStuck",
            expr=f"{metric(settings, 'pipeline_lag_seconds')} > {STUCK_S:.0f}",
            after_s=10 * MINUTE_S,
            severity="page",
            summary="Outrider at {{ $labels.instance }} receives and does not process",
            description=(
                "The oldest request that waits is {{ $value | humanizeDuration }} old. Its"
                " conversations are not scored until it goes on."
            ),
        ),
        Rule(
            alert="OutriderTurnsAway",
            expr=f"sum by (job, instance, reason) ({refused}) > {TURNED_AWAY}",
            after_s=10 * MINUTE_S,
            severity="page",
            summary="Outrider at {{ $labels.instance }} turns senders away ({{ $labels.reason }})",
            description=(
                "{{ $value | humanize }} requests in ten minutes were told to come again later. What"
                " their senders cannot keep for so long is lost."
            ),
        ),
        Rule(
            alert="OutriderProxyCutOff",
            expr=f"sum by (job, instance, reason) ({unanswered}) > {TURNED_AWAY}",
            after_s=5 * MINUTE_S,
            severity="page",
            summary=(
                "Calls through the LLM proxy at {{ $labels.instance }} get no answer"
                " ({{ $labels.reason }})"
            ),
            description=(
                "{{ $value | humanize }} calls in ten minutes failed between the proxy and the"
                " provider. The agents that call through it do not work."
            ),
        ),
    )


def _journal(settings: Settings) -> tuple[Rule, ...]:
    held, limit = metric(settings, "journal_bytes"), settings.journal_max_bytes
    return (
        Rule(
            alert="OutriderJournalFails",
            expr=f"{metric(settings, 'journal_writable')} == 0",
            after_s=5 * MINUTE_S,
            severity="page",
            summary="The journal of Outrider at {{ $labels.instance }} cannot be written",
            description=(
                "What comes is turned away and nothing is decided; other metrics stand still"
                " meanwhile. A full or failing disk under the data directory is the usual cause."
            ),
        ),
        Rule(
            alert="OutriderJournalFilling",
            expr=f"{held} > {int(FULL * limit)}",
            after_s=5 * MINUTE_S,
            severity="page",
            summary="The journal of Outrider at {{ $labels.instance }} is nearly full",
            description=(
                f"It holds {{{{ $value | humanize1024 }}}}B, over {FULL:.0%} of journal.max_size. When"
                " it is full senders are turned away, and what they cannot keep is lost."
            ),
        ),
        Rule(
            alert="OutriderJournalGrows",
            expr=(
                f"{held} > {int(GROWING * limit)}"
                f" and predict_linear({held}[2h], {4 * HOUR_S:.0f}) > {limit}"
            ),
            after_s=30 * MINUTE_S,
            severity="ticket",
            summary="The journal of Outrider at {{ $labels.instance }} will be full within hours",
            description=(
                "It holds {{ $value | humanize1024 }}B and grows. Either the store does not take"
                " rows, or conversations stay open for longer than there is room for."
            ),
        ),
    )


def _kafka(settings: Settings) -> tuple[Rule, ...]:
    # The least of some minutes: at any moment a few messages have just arrived.
    lag = f"sum by (job, topic) (min_over_time({metric(settings, 'kafka_lag')}[10m]))"
    speed = f"sum by (job, topic) (rate({metric(settings, 'kafka_messages_total')}[10m]))"
    return (
        Rule(
            alert="OutriderKafkaGone",
            expr=f"{metric(settings, 'kafka_connected')} == 0",
            after_s=15 * MINUTE_S,
            severity="page",
            summary="Outrider at {{ $labels.instance }} does not reach Kafka",
            description=(
                "Nothing is read, so nobody watches the agents whose spans come that way. They"
                " wait in Kafka for as long as its retention lets them."
            ),
        ),
        Rule(
            alert="OutriderKafkaBehind",
            expr=f"{lag} > {UNREAD_S:.0f} * {speed} or ({lag} > 0 unless {speed} >= 0)",
            after_s=15 * MINUTE_S,
            severity="page",
            summary="Outrider is behind in reading {{ $labels.topic }} from Kafka",
            description=(
                "{{ $value | humanize }} messages wait, more than half an hour's at the speed at"
                " which they are read. Their conversations are scored late by as much."
            ),
        ),
    )


def _store(settings: Settings) -> tuple[Rule, ...]:
    errors = rise(settings, "store_errors_total", "15m")
    unstored = f"min_over_time({metric(settings, 'outbox_rows')}[15m])"
    written = f"sum by (job, instance) ({rise(settings, 'store_rows_total', '15m')})"
    detectors = rise(settings, "detector_errors_total", "15m")
    return (
        Rule(
            alert="OutriderStoreFails",
            expr=f"sum by (job, kind) ({errors}) > 0",
            after_s=15 * MINUTE_S,
            severity="ticket",
            summary="The store refuses what Outrider writes ({{ $labels.kind }})",
            description=(
                "Nothing is lost: it stays in the journal and is tried again. Rows that the store"
                " will never take (poison) are kept in dead_letters."
            ),
        ),
        Rule(
            alert="OutriderStoreBehind",
            expr=(
                f"{unstored} > {UNSTORED}"
                f" or ({unstored} > 0 unless on (job, instance) {written} > 0)"
            ),
            after_s=15 * MINUTE_S,
            severity="page",
            summary="Verdicts of Outrider at {{ $labels.instance }} do not reach the store",
            description=(
                "{{ $value | humanize }} batches wait. They are safe in the journal until it is"
                " full; until they are stored no alarm about quality can come."
            ),
        ),
        Rule(
            alert="OutriderDetectorsBehind",
            expr=f"{metric(settings, 'detector_behind_observations')} > {BEHIND}",
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
            expr=f"sum by (job, error) ({detectors}) > 0",
            after_s=15 * MINUTE_S,
            severity="ticket",
            summary="The detectors of Outrider cannot use the store ({{ $labels.error }})",
            description="Conversations are scored and not weighed: no alarm comes until this ends.",
        ),
    )
