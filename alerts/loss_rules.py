"""Open a ticket when something that came, or should have gone out, was given up."""

from __future__ import annotations

from alerts.rule import Rule
from alerts.rule_settings import MINUTE_S, Settings, rise

REFUSED = 10
"""Requests or spans in an hour that their sender must change; single ones are anybody's."""
UNCAPTURED = 5
"""Calls in an hour that the LLM proxy did not capture ..."""
UNCAPTURED_SHARE = 0.01
"""... and their share of all."""
_FOR_GOOD = (
    'reason!~"journal_full|unavailable|internal|too_many_connections|disconnected'
    '|unreachable|malformed_answer"'
)
"""Why requests are refused that nobody sends again; the rest is told by others."""
_NOT_OURS = 'reason!="own_telemetry"'
_GIVEN_UP = 'result=~"refused|expired"'
_UNSENT = 'result=~"failed|dropped"'


def loss(settings: Settings) -> tuple[Rule, ...]:
    """Return the rules."""
    return (*_coming_in(settings), *_going_out(settings))


def _coming_in(settings: Settings) -> tuple[Rule, ...]:
    def lost(name: str, by: str, *matchers: str) -> str:
        return f"sum by (job, {by}) ({rise(settings, name, '1h', *matchers)})"

    dropped = lost("spans_dropped_total", "reason", _NOT_OURS)
    unheard = lost("log_records_dropped_total", "reason", _NOT_OURS)
    requests = lost("requests_rejected_total", "receiver, reason", _FOR_GOOD)
    spans = lost("spans_rejected_total", "receiver, reason")
    records = lost("log_records_rejected_total", "receiver, reason")
    unread = lost("kafka_dead_letters_total", "topic, reason")
    missed = lost("proxy_capture_dropped_total", "reason", 'reason!="own"')
    passed = f"sum by (job) ({rise(settings, 'proxy_responses_total', '1h')})"
    return (
        Rule(
            alert="OutriderDropsSpans",
            expr=f"{dropped} > 0 or {unheard} > 0",
            severity="ticket",
            summary="Outrider took spans or log records and could not use them ({{ $labels.reason }})",
            description="{{ $value | humanize }} in an hour. Their conversations lack them.",
        ),
        Rule(
            alert="OutriderRefuses",
            expr=f"{requests} > {REFUSED} or {spans} > {REFUSED} or {records} > {REFUSED}",
            after_s=15 * MINUTE_S,
            severity="ticket",
            summary=(
                "Outrider refuses what a sender sends ({{ $labels.receiver }}: {{ $labels.reason }})"
            ),
            description=(
                "{{ $value | humanize }} requests or spans in an hour. They are not sent again, so"
                " these agents are not watched."
            ),
        ),
        Rule(
            alert="OutriderKafkaUnreadable",
            expr=f"{unread} > {REFUSED}",
            after_s=15 * MINUTE_S,
            severity="ticket",
            summary="Messages of {{ $labels.topic }} cannot be read ({{ $labels.reason }})",
            description=(
                "{{ $value | humanize }} in an hour. Their conversations lack them; they are in the"
                " topic kafka.dead_letters, where there is one."
            ),
        ),
        Rule(
            alert="OutriderCannotProcess",
            expr=(
                f"{lost('requests_failed_total', 'error')} > 0"
                f" or {lost('episodes_failed_total', 'error')} > 0"
                f" or {lost('normalise_errors_total', 'error')} > {REFUSED}"
            ),
            severity="ticket",
            summary="Outrider trips over what it received ({{ $labels.error }})",
            description=(
                "{{ $value | humanize }} times in an hour: a bug of Outrider. These conversations are"
                " not scored, or without some of their content."
            ),
        ),
        Rule(
            alert="OutriderProxyMisses",
            expr=(
                f"{missed} > {UNCAPTURED}\n"
                f"  unless on (job, reason)"
                f" {missed} < on (job) group_left () {UNCAPTURED_SHARE} * {passed}"
            ),
            after_s=15 * MINUTE_S,
            severity="ticket",
            summary="The LLM proxy passes calls on that it cannot capture ({{ $labels.reason }})",
            description=(
                "{{ $value | humanize }} calls in an hour, at least one in a hundred. The agents got"
                " their answers; nobody scores them."
            ),
        ),
    )


def _going_out(settings: Settings) -> tuple[Rule, ...]:
    def unsent(name: str, by: str, matcher: str) -> str:
        return f"sum by (job, {by}) ({rise(settings, name, '1h', matcher)})"

    events = unsent("evaluation_events_total", "result", _UNSENT)
    calls = unsent("proxy_export_total", "result", _UNSENT)
    return (
        Rule(
            alert="OutriderNotTold",
            expr=f"{unsent('notifications_total', 'channel', _GIVEN_UP)} > 0",
            severity="ticket",
            summary="Alarms could not be posted to the {{ $labels.channel }}",
            description=(
                "They were refused or are too old by now. They stand in the console under alerts."
            ),
            dashboard=f"{settings.console}/alerts",
        ),
        Rule(
            alert="OutriderNotExported",
            expr=f"{events} > 0 or {calls} > 0",
            after_s=15 * MINUTE_S,
            severity="ticket",
            summary="Scores or calls do not reach the backend they are exported to",
            description=(
                "{{ $value | humanize }} in an hour were given up ({{ $labels.result }}). Outrider's"
                " own store has them."
            ),
        ),
    )
