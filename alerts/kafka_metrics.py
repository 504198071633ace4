"""List the metrics about what is read from Kafka; there are none without ``kafka.bootstrap``."""

from __future__ import annotations

from alerts.metric import Metric

KAFKA = (
    Metric(
        name="kafka_connected",
        kind="gauge",
        help="Whether the brokers answer (1) or not (0).",
        group="pipeline",
    ),
    Metric(
        name="kafka_lag",
        kind="gauge",
        labels=("topic", "partition"),
        help="Messages of a partition that are not read yet; of the partitions that are this instance's.",
        group="pipeline",
    ),
    Metric(
        name="kafka_messages_total",
        kind="counter",
        labels=("topic", "result"),
        help="Messages read; result is taken, empty or unreadable.",
        group="pipeline",
    ),
    Metric(
        name="kafka_dead_letters_total",
        kind="counter",
        labels=("topic", "reason", "result"),
        help="Messages that cannot be read, by why and by what became of the dead letter: sent, failed,"
        " over_rate, too_large or off.",
        group="pipeline",
    ),
    Metric(
        name="kafka_commits_total",
        kind="counter",
        labels=("result",),
        help="Commits of offsets; result is ok or failed.",
        group="pipeline",
    ),
    Metric(
        name="kafka_rebalances_total",
        kind="counter",
        labels=("event",),
        help="Times that partitions were assigned, revoked or lost.",
        group="pipeline",
    ),
    Metric(
        name="kafka_errors_total",
        kind="counter",
        labels=("error",),
        help="What went wrong between the brokers and this instance; it is tried again.",
        group="pipeline",
    ),
    Metric(
        name="kafka_spans_decided_elsewhere_total",
        kind="counter",
        help="Spans and log records read of conversations that another instance had decided.",
        group="pipeline",
    ),
    Metric(
        name="kafka_conversations_moved_total",
        kind="counter",
        labels=("how",),
        help="Conversations left to the next owner of their partition: handed_over undecided, withdrawn"
        " because they were decided and not stored, split where only a part of them moved.",
        group="pipeline",
    ),
)
