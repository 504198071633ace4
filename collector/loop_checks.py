"""Refuse a configuration that would have us talk to ourselves without end."""

from __future__ import annotations

import ipaddress
import socket
from collections.abc import Callable, Mapping
from urllib.parse import urlsplit

from collector.address import is_loopback, parse_address
from collector.config import Config
from collector.errors import ConfigError

_PORTS = {"http": 80, "https": 443}
_ANY = frozenset({"0.0.0.0", "::"})  # noqa: S104 - compared with, not bound


def is_here(host: str) -> bool:
    """Say whether an address, or this machine's own name, is ours; other names are not looked up."""
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return host == socket.gethostname()
    family = socket.AF_INET6 if address.version == 6 else socket.AF_INET
    with socket.socket(family, socket.SOCK_DGRAM) as probe:
        try:
            probe.bind((host, 0))
        except OSError:
            return False
    return True


def check_loops(
    config: Config, own: Mapping[str, str], *, is_here: Callable[[str], bool] = is_here
) -> None:
    """Compare where we send with where we listen.

    A loop by way of somebody else, such as a Collector, shows only in what comes back; see
    ``own_telemetry.py``.

    Args:
        config: Its addresses and URLs are well-formed.
        own: The addresses that we bind, by key.
        is_here: Whether a host is this machine, asked where an address is bound on all of its own.

    Raises:
        ConfigError: A URL is one of our ports, or a topic that we read is one that we write.
    """
    for key, url in _sent_to(config).items():
        parts = urlsplit(url)
        port = parts.port or _PORTS[parts.scheme]
        for name, text in own.items():
            address = parse_address(text)
            if port == address.port and _same(address.host, parts.hostname or "", is_here):
                # The URL is not repeated: a webhook's is often a secret as a whole.
                raise ConfigError(
                    f"{key}: that is {name} ({text}) of this very instance, which would talk to "
                    f"itself without end; name another backend, or leave {key} out"
                )
    if config.kafka.bootstrap and config.kafka.dead_letters:
        for key in ("traces", "logs"):
            if getattr(config.kafka, key) == config.kafka.dead_letters:
                raise ConfigError(
                    f"kafka.dead_letters: {config.kafka.dead_letters!r} is read as kafka.{key}, so "
                    "that a message which cannot be read would come again without end; name "
                    "another topic, or none"
                )


def _sent_to(config: Config) -> dict[str, str]:
    """Return where we send, by key."""
    proxy = config.proxy
    urls = {
        "telemetry.otlp_endpoint": config.telemetry.otlp_endpoint,
        "alerts.webhook": config.alerts.webhook,
    }
    if proxy.address:
        urls |= {
            "proxy.export.endpoint": proxy.export.endpoint,
            "proxy.anthropic": proxy.anthropic,
            "proxy.openai": proxy.openai,
        }
        if proxy.shadow.share:
            urls["proxy.shadow.base_url"] = proxy.shadow.base_url
    return {key: url for key, url in urls.items() if url}


def _same(bound: str, host: str, is_here: Callable[[str], bool]) -> bool:
    if bound in _ANY:
        return is_loopback(host) or host in _ANY or is_here(host)
    if "localhost" in (bound, host) or host in _ANY:
        return is_loopback(bound) and (is_loopback(host) or host in _ANY)
    return bound.lower() == host.lower()
