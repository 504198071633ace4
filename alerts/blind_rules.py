"""Call somebody when Outrider is not there or sees nothing, and not because the night is quiet."""

from __future__ import annotations

from alerts.rule import Rule, duration
from alerts.rule_settings import HOUR_S, MINUTE_S, Settings, job, metric, rise

EXPECTED = 10
"""Conversations that would have been decided, by the week's average, before silence is strange."""
SPARSE = 12
"""For agents with little traffic the same is asked of a window this many times longer."""
_CALLS = 'method!="trace"'
"""Only spans of agents: plain traces are put together by their trace id alone."""


def blind(settings: Settings) -> tuple[Rule, ...]:
    """Return the rules."""
    up = f"up{{{job(settings)}}}"
    received = f"sum by (job) ({rise(settings, 'spans_received_total', '1d')})"
    # Prometheus itself may be younger than a day.
    known = f"sum by (job) ({metric(settings, 'spans_received_total')} offset 1d) >= 0"
    calls = f"sum by (job) ({rise(settings, 'stitch_total', '1d', _CALLS)})"
    return (
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
        *_silent(settings),
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


def _silent(settings: Settings) -> tuple[Rule, ...]:
    """Page on silence itself, where somebody said that it is never quiet."""
    if not settings.always_busy:
        return ()
    scores = metric(settings, "scores_total")
    window = duration(settings.blind_after_s)
    return (
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
        ),
    )


def _unscored(settings: Settings) -> str:
    """Compare the calls that came with the conversations they would have made in a usual week.

    Counters are used and no timestamps, because totals survive our restart; and the calls of
    ``idle_timeout`` ago, because a conversation may have to wait that long. With no calls
    nothing is expected, so that a quiet night is none of its business.
    """
    calls = metric(settings, "stitch_total", _CALLS)
    episodes, scores = metric(settings, "episodes_total"), metric(settings, "scores_total")
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
