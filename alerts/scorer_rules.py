"""Call somebody when a scorer does not do its work: it fails, says nothing, or is not there any more."""

from __future__ import annotations

from alerts.rule import Rule
from alerts.rule_settings import MINUTE_S, Settings, metric, rise

EXPECTED = 30
"""Verdicts that a scorer would have reached on an agent, by the week's average, before none is strange."""
GONE = 10
"""Conversations that are decided without a scorer before it counts as gone."""


def scorers(settings: Settings) -> tuple[Rule, ...]:
    """Return the rules."""
    failures = f"sum by (job, scorer) ({rise(settings, 'score_failures_total', '1h')})"
    scores = f"sum by (job, scorer) ({rise(settings, 'scores_total', '1h')})"
    ledger = f"{settings.console}/ledger"
    return (
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
            dashboard=ledger,
        ),
        Rule(
            alert="OutriderScorerSilent",
            expr=_silent(settings),
            after_s=15 * MINUTE_S,
            severity="ticket",
            summary="The scorer {{ $labels.scorer }} says nothing about {{ $labels.agent }} any more",
            description=(
                'By the average of the week about {{ $value | printf "%.0f" }} verdicts should have'
                " come in six hours, and it skipped or failed on every conversation. Its alarms see"
                " nothing."
            ),
            dashboard=ledger,
        ),
        Rule(
            alert="OutriderScorerGone",
            expr=_gone(settings),
            after_s=15 * MINUTE_S,
            severity="ticket",
            summary="The scorer {{ $labels.scorer }} does not run any more",
            description=(
                "A day ago it looked at every conversation, now at none. If somebody turned it off,"
                " this ends by itself within a day; else its package may be missing since a restart."
            ),
            dashboard=ledger,
        ),
    )


def _silent(settings: Settings) -> str:
    """Compare with its verdicts of a usual week, by agent: at night another agent may be alone."""
    by = "job, agent, scorer"

    def episodes(window: str) -> str:
        return f"sum by (job, agent) ({rise(settings, 'episodes_total', window)})"

    def scores(window: str) -> str:
        return f"sum by ({by}) ({rise(settings, 'scores_total', window)})"

    return (
        f"({scores('7d')}\n"
        f"  * on (job, agent) group_left () {episodes('6h')}\n"
        f"  / on (job, agent) group_left () {episodes('7d')}) >= {EXPECTED}\n"
        f"  unless {scores('6h')} > 0\n"
        f"  and on (job, scorer) sum by (job, scorer) ({rise(settings, 'decisions_total', '6h')}) > 0"
    )


def _gone(settings: Settings) -> str:
    """Compare the ledger, which has a row of each scorer for each conversation, with a day ago."""
    before = f"increase({metric(settings, 'decisions_total')}[1d] offset 2h)"
    now = rise(settings, "decisions_total", "2h")
    return (
        f"sum by (job, scorer) ({before}) >= {GONE}\n"
        f"  and on (job) sum by (job) ({rise(settings, 'episodes_total', '2h')}) >= {GONE}\n"
        f"  unless sum by (job, scorer) ({now}) > 0"
    )
