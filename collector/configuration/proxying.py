"""Hold what a user can set about the LLM proxy."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec

from collector.configuration.receiving import TlsConfig
from collector.configuration.units import Duration, Limit, Rate, Timeout


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
    tls: TlsConfig = TlsConfig()
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
