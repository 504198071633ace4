"""Hold what a user can set about alarms, pages for people and metrics."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec

from collector.configuration.receiving import TlsConfig
from collector.configuration.units import Rate, Timeout


class DetectConfig(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """When a change for the worse is an alarm."""

    false_alarm_budget: Timeout = 90 * 86_400.0
    """Time between false pages, on average, that you accept for each agent; all thresholds follow from it."""
    ticket_budget: Timeout = 7 * 86_400.0
    """The same for tickets, which come sooner and are wrong more often."""
    reference_window: Annotated[float, msgspec.Meta(ge=3_600, extra={"unit": "duration"})] = (
        86_400.0
    )
    """Whole hours of traffic from which a new agent or scorer version's usual failure rate is learned; no alarm before."""
    reference_min: Annotated[int, msgspec.Meta(ge=30)] = 1000
    """Fewest scored conversations to learn from."""
    tolerance: Rate = 0.005
    """Worsening of the failure rate that is never an alarm, however long it lasts."""
    floor: dict[str, Annotated[float, msgspec.Meta(gt=0, lt=1)]] = {}
    """Lowest share of passing conversations that is acceptable, by scorer; below it is an alarm even where it always was so."""
    max_slices: Annotated[int, msgspec.Meta(ge=1)] = 50
    """Agent versions watched at once for each agent and scorer; the longest-silent one is let go."""


class AlertsConfig(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Who is told of an alarm without Alertmanager."""

    webhook: str = ""
    """URL that each alarm and its end is posted to as JSON; one that holds a secret is written as ``${env:NAME}``."""
    webhook_token: str = ""
    """Bearer token shown to the webhook; write it as ``${env:NAME}``."""
    severity: Literal["page", "ticket"] = "page"
    """The least that is posted: ``ticket`` posts both."""
    max_age: Timeout = 86_400.0
    """Alarms older than this are not posted any more, whatever kept them."""
    console_url: str = ""
    """How a reader of an alarm reaches the console; empty for ``http://`` and ``console.address``."""


class ConsoleConfig(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The page and API a person opens."""

    address: str = "127.0.0.1:8090"
    """Address of the console, the API, /healthz and /readyz."""
    tls: TlsConfig = TlsConfig()


class TelemetryConfig(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What Outrider says about itself and about the agents."""

    metrics: str = "127.0.0.1:9464"
    """Address of the Prometheus endpoint."""
    tls: TlsConfig = TlsConfig()
    label_limit: int = 200
    """Distinct values a metric label may take; later ones are reported as ``other``."""
    otlp_endpoint: str = ""
    """OTLP/HTTP base URL to which each score is emitted as a ``gen_ai.evaluation.result`` event."""
    log_level: str = "info"
    """debug, info, warning or error."""
