"""Say when Prometheus shall call somebody: about an agent, or because Outrider sees nothing.

Two kinds of alerts. Those about quality only repeat what a detector decided, which has
weighed the evidence already. Those about Outrider itself make sure that no news is good news:
a monitor that is down, stuck or blind must not look like a quiet night, and a quiet night must
not look like a blind monitor.
"""

from __future__ import annotations

from alerts.blind_rules import blind
from alerts.loss_rules import loss
from alerts.quality_rules import quality
from alerts.rule import Group
from alerts.rule_settings import Settings
from alerts.scorer_rules import scorers
from alerts.waiting_rules import waiting

__all__ = ["Settings", "groups"]


def groups(settings: Settings) -> tuple[Group, ...]:
    """Return all rules."""
    return (
        Group(name="outrider-quality", rules=quality(settings)),
        Group(name="outrider-blind", rules=blind(settings)),
        Group(name="outrider-waiting", rules=waiting(settings)),
        Group(name="outrider-scorers", rules=scorers(settings)),
        Group(name="outrider-loss", rules=loss(settings)),
    )
