"""Know what is our own: a monitor that scores itself never stops.

What we emit may come back, most often because a Collector sends everything it gets to us. It is
known by its service, by its scope where somebody renamed the service, and by its content where the
scope is lost as well. What others run beside an agent, such as a judge of their own, can be marked.
"""

from __future__ import annotations

from collector.telemetry import AttributeValue, LogRecord, Span

SERVICE = "outrider"
"""``service.name`` of what we emit."""
EXPORT_SCOPE = "outrider.proxy.export"
"""Scope of the calls that the LLM proxy exports, each of which is captured already."""
SCORES_SCOPE = "outrider.scorers"
"""Scope of the events that tell verdicts."""
SCORE_ID = "outrider.score.id"
"""Attribute that every such event has, whatever became of its scope."""
MARK = "outrider.own"
"""Attribute of a span, a log record or a resource that is not to be scored."""
HEADER = "x-outrider-own"
"""Header of a call through the LLM proxy that is not to be captured; its value says what it is."""

_SCOPES = frozenset({EXPORT_SCOPE, SCORES_SCOPE})


def is_own(item: Span | LogRecord) -> bool:
    """Say whether this is our own telemetry, or marked as if it were."""
    return (
        item.resource.get("service.name") == SERVICE
        or item.scope_name in _SCOPES
        or SCORE_ID in item.attributes
        or _is_set(item.attributes.get(MARK))
        or _is_set(item.resource.get(MARK))
    )


def _is_set(value: AttributeValue) -> bool:
    """Read a flag as producers write it."""
    return value is True or (isinstance(value, str) and value.lower() in ("true", "1"))
