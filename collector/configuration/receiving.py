"""Hold what a user can set about where traffic comes in and who may talk to us."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec

from collector.configuration.units import Limit, Timeout


class TlsConfig(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """TLS of a port."""

    cert_file: str = ""
    """PEM file with the certificate and its chain that callers are shown; empty for no TLS. Read at start."""
    key_file: str = ""
    """PEM file with its private key, without a passphrase."""
    client_ca_file: str = ""
    """PEM file with the authorities of callers' certificates; with it every caller must show one."""
    instead_of_token: bool = False
    """Whether such a certificate is enough where there are tokens too; its owner has every right and no tenant."""


class ReceiveConfig(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Where traffic comes in."""

    http: str = "127.0.0.1:4318"
    """Address of the OTLP/HTTP receiver."""
    grpc: str = "127.0.0.1:4317"
    """Address of the OTLP/gRPC receiver; empty for none."""
    tls: TlsConfig = TlsConfig()
    max_body: Limit = 20 * 1024 * 1024
    """Largest request body as sent, before decompression; larger ones get 413 or RESOURCE_EXHAUSTED."""
    max_decompressed: Limit = 64 * 1024 * 1024
    """Largest request body after decompression; larger ones get the same."""
    max_in_flight: Limit = 256 * 1024 * 1024
    """Bodies held in memory before their acknowledgement; over it senders get 503 or UNAVAILABLE, and when to try again."""


class KafkaConfig(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """OTLP that is read from Kafka, as the OTel Collector's exporter writes it; see docs/kafka.md."""

    bootstrap: str = ""
    """Brokers to ask first, as ``host:9092``, several with commas between; empty for no Kafka."""
    group: str = "outrider"
    """Consumer group; instances of one group share the partitions."""
    traces: str = "otlp_spans"
    """Topic of spans; empty for none."""
    logs: str = "otlp_logs"
    """Topic of log records; empty for none."""
    encoding: Literal["auto", "otlp_proto", "otlp_json"] = "auto"
    """How messages are written; ``auto`` looks at each."""
    start: Literal["earliest", "latest"] = "earliest"
    """Where a group begins that has never read a partition, or whose place was deleted by the retention."""
    security: Literal["plaintext", "ssl", "sasl_plaintext", "sasl_ssl"] = "plaintext"
    """How brokers are talked to; ``ssl`` is TLS."""
    sasl: Literal["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512", "OAUTHBEARER"] = "PLAIN"
    """SASL mechanism, where ``security`` has SASL."""
    user: str = ""
    """SASL user of PLAIN and SCRAM."""
    password: str = ""
    """SASL password of PLAIN and SCRAM; write it as ``${env:NAME}``."""
    token_file: str = ""
    """File with the bearer token of OAUTHBEARER; read again for each connection."""
    ca_file: str = ""
    """PEM file with the authorities of the brokers' certificates; empty for the usual ones."""
    cert_file: str = ""
    """PEM file with a certificate to show to the brokers; empty for none."""
    key_file: str = ""
    """PEM file with its private key, without a passphrase."""
    session_timeout: Timeout = 45.0
    """Silence after which the brokers give an instance's partitions to others; brokers want 6s or more."""
    dead_letters: str = "outrider.dead_letters"
    """Topic that messages go to which cannot be read; empty to only count them."""
    dead_letter_max: Limit = 900_000
    """Largest message that goes there; larger ones are only counted."""
    dead_letter_rate: Annotated[float, msgspec.Meta(gt=0)] = 10.0
    """Most messages a second that go there, after as many at once; the rest is only counted."""


class TokenConfig(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One of several tokens."""

    token: str = ""
    """What is shown; written as ``${env:NAME}``."""
    file: str = ""
    """File with it instead, one a line where old and new are good at once; read again when it changes."""
    tenant: str = ""
    """Whose traffic it sends and whose conversations it reads; empty for all."""
    rights: tuple[Literal["read", "write"], ...] = ("read", "write")
    """``write`` sends traffic, outcomes, labels and ends; ``read`` has the console, exports and metrics."""


class AuthConfig(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Who may talk to us."""

    token: str = ""
    """Bearer token that senders and readers must show; write it as ``${env:NAME}``."""
    tokens: dict[str, TokenConfig] = {}
    """More tokens by name, each with ``token`` or ``file``, and ``tenant`` and ``rights``; see docs/security.md."""
    session: Timeout = 12 * 3_600.0
    """Time after which a browser must log in to the console again."""
    allow_insecure: bool = False
    """Permit binding to a non-loopback address without a token or callers' certificates."""
