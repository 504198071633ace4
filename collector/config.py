"""Hold every setting a user can write, with its default.

One struct per section of ``outrider.yaml``. A docstring under a field is its entry in the
rendered reference (``docs/configuration.md``). How a file and the environment become a
``Config`` is in ``config_file.py``.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec

Duration = Annotated[float, msgspec.Meta(ge=0, extra={"unit": "duration"})]
"""Seconds; written as ``250ms``, ``3s``, ``15m``, ``24h`` or ``30d``."""

Timeout = Annotated[float, msgspec.Meta(gt=0, extra={"unit": "duration"})]
"""A duration that makes no sense at zero."""

Size = Annotated[int, msgspec.Meta(ge=0, extra={"unit": "size"})]
"""Bytes; written as ``512KiB``, ``64MiB``, ``4GiB`` (or ``MB``, ``GB`` for powers of ten)."""

Limit = Annotated[int, msgspec.Meta(ge=1, extra={"unit": "size"})]
"""A size that makes no sense at zero."""

Rate = Annotated[float, msgspec.Meta(ge=0, le=1)]
"""A share between 0 and 1."""


class TlsConfig(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """TLS of the ports that take OTLP."""

    cert_file: str = ""
    """PEM file with the certificate and its chain, shown on the OTLP ports; empty for no TLS. Read at start."""
    key_file: str = ""
    """PEM file with its private key, without a passphrase."""
    client_ca_file: str = ""
    """PEM file with the authorities of senders' certificates; with it every sender must show one."""


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


class ProxyExportConfig(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A backend of yours that gets the proxy's calls as OTel GenAI spans."""

    endpoint: str = ""
    """OTLP base URL, such as ``http://collector:4318``; empty for none."""
    protocol: Literal["http/protobuf", "grpc"] = "http/protobuf"
    """How it is spoken to."""
    headers: dict[str, str] = {}
    """Sent with each request; write a secret as ``${env:NAME}``."""
    timeout: Timeout = 10.0
    """Longest one request is tried."""
    content: bool = True
    """Whether prompts, messages and tool definitions go along."""
    redact: bool = True
    """Whether what goes out is redacted as the ``redact`` section says."""


class ProxyShadowConfig(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A candidate that is asked again what production was asked."""

    share: Rate = 0.0
    """Share of calls that are asked again; of a named conversation all or none."""
    provider: Literal["", "anthropic", "openai"] = ""
    """Whose calls: ``anthropic`` or ``openai``."""
    model: str = ""
    """Model that the candidate is asked for; empty for that of the call."""
    base_url: str = ""
    """Base URL of the candidate, without the ``/v1`` that clients send; empty for where the call went."""
    key: str = ""
    """Key shown to the candidate; write it as ``${env:NAME}``."""
    caller_key: bool = False
    """Whether the candidate is shown the caller's own key, and its user pays."""
    variant: str = "shadow"
    """Variant under which the candidate's answers are kept."""
    timeout: Timeout = 120.0
    """Longest one answer may take."""
    max_concurrent: Annotated[int, msgspec.Meta(ge=1, le=64)] = 4
    """Calls to the candidate at a time; more are left out and counted."""
    max_per_day: Annotated[int, msgspec.Meta(ge=1)] = 1000
    """Calls to the candidate in a day of UTC; more are left out and counted."""


class ProxyConfig(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Where clients of model providers call through us."""

    address: str = ""
    """Address of the LLM proxy, such as ``127.0.0.1:4320``; empty for none."""
    anthropic: str = "https://api.anthropic.com"
    """Base URL that Anthropic's requests go on to; a path in it comes before theirs."""
    openai: str = "https://api.openai.com"
    """Base URL that OpenAI's requests go on to, without the ``/v1`` that its clients send."""
    ca_file: str = ""
    """PEM file with authorities to trust besides the usual ones, for a gateway of your own."""
    agent: str = ""
    """Name of the agent whose calls these are; the header ``x-outrider-agent`` goes before it."""
    agent_version: str = ""
    """Its version; the header ``x-outrider-agent-version`` goes before it."""
    environment: str = ""
    """Where it runs; the header ``x-outrider-environment`` goes before it."""
    connect_timeout: Timeout = 10.0
    """Time in which an upstream must be reached; after that a call may take as long as its two sides let it."""
    idle_timeout: Timeout = 300.0
    """Quiet time after which a connection between two calls is closed."""
    drain_timeout: Duration = 8.0
    """How long a stop waits for calls under way."""
    max_call: Limit = 16 * 1024 * 1024
    """Bytes of one call's bodies, as sent, that are captured; a larger call passes and is counted as dropped."""
    max_held: Limit = 64 * 1024 * 1024
    """Bytes of calls under way or waiting to be captured; over it calls pass and are counted as dropped."""
    export: ProxyExportConfig = ProxyExportConfig()
    """A backend of yours that gets the calls as OTel GenAI spans."""
    shadow: ProxyShadowConfig = ProxyShadowConfig()
    """A candidate that is asked again what production was asked."""


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


class JournalConfig(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The durable log of what was acknowledged."""

    max_size: Limit = 4 * 1024 * 1024 * 1024
    """Bytes of raw requests kept; when full, senders get 503 and Retry-After."""
    queue_size: Size = 64 * 1024 * 1024
    """Acknowledged bodies kept in memory for the pipeline; over it the pipeline re-reads the journal."""
    seen_limit: int = 2_000_000
    """Span ids remembered to recognise resends after their conversation was decided."""


class AssembleConfig(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How spans become conversations and when these are finished."""

    idle_timeout: Timeout = 900.0
    """Quiet time after which an episode is decided; must be longer than the pauses of a conversation."""
    lone_trace_timeout: Timeout = 5.0
    """Quiet time after the root of a trace that carries no conversation id."""
    end_grace: Duration = 1.0
    """Time left for stragglers after an explicit end."""
    turn_quiet: Duration = 2.0
    """Quiet time after which a turn whose root span ended counts as finished."""
    late_window: Duration = 600.0
    """How long after the decision a late span still makes a revision."""
    max_episode: Timeout = 21600.0
    """Longest an episode may stay open; then it is decided and marked truncated."""
    max_open_episodes: int = 50_000
    """Open episodes; over it the oldest is decided early and marked truncated."""
    content_budget: Size = 128 * 1024 * 1024
    """Decoded content kept in memory; over it the longest-idle conversations are re-read when needed."""


class RedactConfig(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What never leaves the process."""

    kinds: tuple[str, ...] = ("key", "token", "card", "email", "phone")
    """What is replaced by ``[kind]`` before store, log, metric and export."""
    patterns: dict[str, str] = {}
    """Your own kinds: name to regular expression."""


class SampleConfig(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which conversations are stored in full; verdicts and counts are always complete."""

    rate: Rate = 1.0
    """Share of conversations kept, chosen by a hash of the conversation id."""
    keep_failing: bool = True
    """Always keep an episode with a failing verdict."""
    keep_errors: bool = True
    """Always keep an episode with a failed span or scorer."""
    keep_new_version: int = 20
    """Always keep this many first episodes of an agent version."""
    plain_trace_rate: Rate = 1.0
    """Share of traces without any model or tool call that are stored."""


class StoreConfig(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Where decided episodes are written."""

    url: str = ""
    """``http(s)://host:8123`` of a ClickHouse server; empty for the embedded engine in the data dir."""
    user: str = "default"
    """ClickHouse user."""
    password: str = ""
    """ClickHouse password; write it as ``${env:NAME}``."""
    database: str = "outrider"
    """Database that holds Outrider's tables."""
    ttl_days: int = 30
    """Days that content (spans, messages, tool calls) is kept; 0 keeps it for ever."""
    flush_interval: Duration = 1.0
    """Longest a decided episode waits for its batch."""
    batch_episodes: int = 500
    """Most episodes in one insert."""


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


class AuthConfig(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Who may talk to us."""

    token: str = ""
    """Bearer token that senders and readers must show; write it as ``${env:NAME}``."""
    allow_unauthenticated: bool = False
    """Permit binding to a non-loopback address without a token."""


class TelemetryConfig(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What Outrider says about itself and about the agents."""

    metrics: str = "127.0.0.1:9464"
    """Address of the Prometheus endpoint."""
    label_limit: int = 200
    """Distinct values a metric label may take; later ones are reported as ``other``."""
    otlp_endpoint: str = ""
    """OTLP/HTTP base URL to which each score is emitted as a ``gen_ai.evaluation.result`` event."""
    log_level: str = "info"
    """debug, info, warning or error."""


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
