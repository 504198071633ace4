"""Say where a started process listens and how to point an exporter at it."""

from __future__ import annotations

from collector.address import parse_address
from collector.config import Config

ANY_HOST = frozenset({"0.0.0.0", "::"})  # noqa: S104 - compared with, not bound
"""Hosts that mean every interface; a client on this machine uses loopback instead."""


def banner(config: Config) -> str:
    """Return the addresses and the snippet for any OTLP exporter.

    The addresses are those of ``config``: when the system chose a port, pass a
    configuration that names the chosen one. The token itself is never printed.
    """
    secure = bool(config.receive.tls.cert_file)
    http = base_url(config.receive.http, tls=secure)
    grpc = config.receive.grpc and base_url(config.receive.grpc, tls=secure)
    proxy = config.proxy.address and base_url(
        config.proxy.address, tls=bool(config.proxy.tls.cert_file)
    )
    kafka = config.kafka
    metrics = base_url(config.telemetry.metrics, tls=bool(config.telemetry.tls.cert_file))
    console = base_url(config.console.address, tls=bool(config.console.tls.cert_file))
    lines = [
        f"OTLP/HTTP  {http}",
        *([f"OTLP/gRPC  {grpc}"] if grpc else []),
        *([f"LLM proxy  {proxy}"] if proxy else []),
        *([f"Kafka      {kafka.bootstrap}, group {kafka.group}"] if kafka.bootstrap else []),
        f"metrics    {metrics}/metrics",
        f"console    {console}",
        "",
        "Point any OTLP exporter at it:",
        "",
        f"  export OTEL_EXPORTER_OTLP_ENDPOINT={http}",
        "  export OTEL_EXPORTER_OTLP_PROTOCOL=http/protobuf",
        "  export OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT=SPAN_ONLY",
    ]
    if config.auth.token or config.auth.tokens:
        lines.append('  export OTEL_EXPORTER_OTLP_HEADERS="Authorization=Bearer%20<auth.token>"')
    if proxy:
        lines += [
            "",
            "Or let the clients of your models call through it:",
            "",
            f"  export ANTHROPIC_BASE_URL={proxy}",
            f"  export OPENAI_BASE_URL={proxy}/v1",
        ]
    return "\n".join(lines) + "\n"


def base_url(address: str, *, tls: bool = False) -> str:
    """Return the URL at which a client on this machine reaches an address that was bound."""
    parsed = parse_address(address)
    host = "127.0.0.1" if parsed.host in ANY_HOST else parsed.host
    scheme = "https" if tls else "http"
    shown = f"[{host}]" if ":" in host else host
    return f"{scheme}://{shown}:{parsed.port}"
