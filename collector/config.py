"""Hold every setting a user can write, with its default.

One struct per section of ``outrider.yaml``, in ``configuration/``. A docstring under a field
is its entry in the rendered reference (``docs/configuration.md``). How a file and the environment become a
``Config`` is in ``config_file.py``.
"""

from __future__ import annotations

from typing import Any

import msgspec

from collector.configuration.keeping import (
    AssembleConfig,
    JournalConfig,
    RedactConfig,
    SampleConfig,
    StoreConfig,
)
from collector.configuration.proxying import ProxyConfig, ProxyExportConfig, ProxyShadowConfig
from collector.configuration.receiving import (
    AuthConfig,
    KafkaConfig,
    ReceiveConfig,
    TlsConfig,
    TokenConfig,
)
from collector.configuration.telling import (
    AlertsConfig,
    ConsoleConfig,
    DetectConfig,
    TelemetryConfig,
)

__all__ = [
    "AlertsConfig",
    "AssembleConfig",
    "AuthConfig",
    "Config",
    "ConsoleConfig",
    "DetectConfig",
    "JournalConfig",
    "KafkaConfig",
    "ProxyConfig",
    "ProxyExportConfig",
    "ProxyShadowConfig",
    "ReceiveConfig",
    "RedactConfig",
    "SampleConfig",
    "StoreConfig",
    "TelemetryConfig",
    "TlsConfig",
    "TokenConfig",
]


class Config(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Everything in ``outrider.yaml``."""

    receive: ReceiveConfig = ReceiveConfig()
    proxy: ProxyConfig = ProxyConfig()
    kafka: KafkaConfig = KafkaConfig()
    journal: JournalConfig = JournalConfig()
    assemble: AssembleConfig = AssembleConfig()
    redact: RedactConfig = RedactConfig()
    sample: SampleConfig = SampleConfig()
    store: StoreConfig = StoreConfig()
    scorers: dict[str, dict[str, Any]] = {}
    """Options by scorer name; ``enabled: false`` turns one off."""
    detect: DetectConfig = DetectConfig()
    alerts: AlertsConfig = AlertsConfig()
    console: ConsoleConfig = ConsoleConfig()
    auth: AuthConfig = AuthConfig()
    telemetry: TelemetryConfig = TelemetryConfig()
