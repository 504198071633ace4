"""Call somebody about an agent: what a detector decided, which has weighed the evidence already."""

from __future__ import annotations

from alerts.metric import PREFIX
from alerts.rule import Rule, quoted
from alerts.rule_settings import MINUTE_S, Settings, metric


def quality(settings: Settings) -> tuple[Rule, ...]:
    """Return the rules."""
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
        found = metric(settings, "detector_firing", f"severity={quoted(severity)}")
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
