"""List the metrics of the detectors: what the rules that page are made of."""

from __future__ import annotations

from alerts.metric import Metric

STREAM = ("stream", "agent", "agent_version", "environment", "scorer", "slice")
"""The labels that say which detector; ``agent_version`` is empty where all versions are meant."""

ALARMS = (
    Metric(
        name="detector_firing",
        kind="gauge",
        labels=(*STREAM, "severity", "attribution"),
        help="1 while a detector holds that its agent got worse, with hysteresis; 0 otherwise.",
        group="alarms",
    ),
    Metric(
        name="detector_evidence",
        kind="gauge",
        labels=STREAM,
        help="Evidence that the failure rate rose; it fires at the threshold and is capped at ten times it.",
        group="alarms",
    ),
    Metric(
        name="detector_threshold",
        kind="gauge",
        labels=(*STREAM, "severity"),
        help="Evidence at which a detector fires: the false-alarm budget in scored conversations.",
        group="alarms",
    ),
    Metric(
        name="detector_reference_rate",
        kind="gauge",
        labels=STREAM,
        help="Failure rate of the traffic that the detector learned from.",
        group="alarms",
    ),
    Metric(
        name="detector_null_rate",
        kind="gauge",
        labels=STREAM,
        help="Failure rate that is no alarm yet: upper bound of the reference plus the tolerance.",
        group="alarms",
    ),
    Metric(
        name="detector_change_timestamp_seconds",
        kind="gauge",
        labels=STREAM,
        help="When the failure rate rose, in Unix time, while the detector fires.",
        unit="seconds",
        group="alarms",
    ),
    Metric(
        name="detector_learned_ratio",
        kind="gauge",
        labels=STREAM,
        help="How much of its reference a detector has; only at 1 can it fire.",
        group="alarms",
    ),
    Metric(
        name="detector_observations",
        kind="gauge",
        labels=STREAM,
        help="Conversations that an armed detector has weighed.",
        group="alarms",
    ),
    Metric(
        name="detector_behind_observations",
        kind="gauge",
        help="Scored conversations that the detectors have not weighed yet.",
        group="alarms",
    ),
    Metric(
        name="detector_skipped_observations_total",
        kind="counter",
        help="Observations that never reached the store and were left out.",
        group="alarms",
    ),
    Metric(
        name="detector_errors_total",
        kind="counter",
        labels=("error",),
        help="Times the detectors could not read or write the store.",
        group="alarms",
    ),
)
