"""Open the proxy's port, where somebody wants one."""

from __future__ import annotations

import os
import ssl
import threading
from collections.abc import Callable
from pathlib import Path

from collector.config import Config, ProxyConfig
from collector.connections import allowed
from collector.errors import ConfigError
from collector.proxy.about import Names
from collector.proxy.capture import Capture, Keep, SpanWriter
from collector.proxy.line import Arrivals, Orders
from collector.proxy.relay_port import RelayPort
from collector.proxy.secret import load_secret
from collector.proxy.server import Settings
from collector.proxy.upstream import Routes
from collector.servers import Port
from collector.version import __version__

MOST = 512
"""Connections at a time; each has one behind it."""
WAITING = 4_096
"""Calls that wait to be captured."""


def proxy_ports(
    config: Config,
    data_dir: Path,
    *,
    keep: Keep,
    beside: Callable[[Callable[[threading.Event], None]], None],
    count: Callable[[str, float, dict[str, str]], None],
) -> dict[str, Port]:
    """Bind the port, by its configuration key; empty when no address is set.

    Args:
        config: The ``proxy`` section and the token.
        data_dir: Where the key of the credentials' hashes is kept.
        keep: Makes captured spans durable.
        beside: Runs what captures, on a thread until the process stops.
        count: Raises a counter, from any thread.

    Raises:
        ConfigError: the address, a certificate or the key's file cannot be used.
    """
    wanted = config.proxy
    if not wanted.address:
        return {}
    secret = load_secret(data_dir, random_bytes=os.urandom)
    _check_authorities(wanted)
    Routes(anthropic=wanted.anthropic, openai=wanted.openai)
    arrivals = Arrivals(count)
    orders = Orders(
        settings=Settings(
            address=wanted.address,
            token=config.auth.token,
            secret=secret,
            names=Names(
                agent=wanted.agent,
                agent_version=wanted.agent_version,
                environment=wanted.environment,
            ),
            most=allowed(share=1 / 4, at_most=MOST),
            connect_timeout_s=wanted.connect_timeout,
            idle_timeout_s=wanted.idle_timeout,
            drain_timeout_s=wanted.drain_timeout,
        ),
        anthropic=wanted.anthropic,
        openai=wanted.openai,
        ca_file=wanted.ca_file,
        max_call=wanted.max_call,
        max_held=wanted.max_held,
        max_waiting=WAITING,
    )
    write = SpanWriter(
        limit=4 * wanted.max_call, version=__version__, secret=secret, random_bytes=os.urandom
    )
    port = RelayPort(orders, arrivals)
    capture = Capture(arrivals, write=write, keep=keep)

    def work(stop: threading.Event) -> None:
        capture.run(stop)
        arrivals.close()

    beside(work)
    return {"proxy.address": port}


def _check_authorities(wanted: ProxyConfig) -> None:
    """Read the file that the process will read, where its errors are a start's errors."""
    if wanted.ca_file:
        try:
            ssl.create_default_context(cafile=wanted.ca_file)
        except OSError as error:
            raise ConfigError(
                f"proxy.ca_file: {wanted.ca_file} cannot be used ({error}); name a PEM file"
            ) from error
