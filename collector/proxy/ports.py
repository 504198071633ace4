"""Open the proxy's port, where somebody wants one."""

from __future__ import annotations

import asyncio
import os
import ssl
import threading
from collections.abc import Callable
from pathlib import Path

import httpx

from collector.config import Config, ProxyConfig
from collector.connections import allowed
from collector.errors import ConfigError
from collector.proxy.about import Names
from collector.proxy.capture import Capture, Keep, SpanWriter
from collector.proxy.recorder import Recorder
from collector.proxy.secret import load_secret
from collector.proxy.server import ProxyServer, Settings
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
    clock_ns: Callable[[], int],
    loop_factory: Callable[[], asyncio.AbstractEventLoop],
) -> dict[str, Port]:
    """Bind the port, by its configuration key; empty when no address is set.

    Args:
        config: The ``proxy`` section and the token.
        data_dir: Where the key of the credentials' hashes is kept.
        keep: Makes captured spans durable.
        beside: Runs what captures, on a thread until the process stops.
        count: Raises a counter, from any thread.
        clock_ns: Unix time in nanoseconds.
        loop_factory: Makes the event loop of the proxy's thread.

    Raises:
        ConfigError: the address, a certificate or the key's file cannot be used.
    """
    wanted = config.proxy
    if not wanted.address:
        return {}
    secret = load_secret(data_dir, random_bytes=os.urandom)
    recorder = Recorder(
        max_call=wanted.max_call,
        max_held=wanted.max_held,
        max_waiting=WAITING,
        clock_ns=clock_ns,
        count=count,
    )
    write = SpanWriter(
        limit=4 * wanted.max_call, version=__version__, secret=secret, random_bytes=os.urandom
    )
    server = ProxyServer(
        Settings(
            address=wanted.address,
            token=config.auth.token,
            secret=secret,
            names=Names(
                agent=wanted.agent,
                agent_version=wanted.agent_version,
                environment=wanted.environment,
            ),
            most=allowed(share=1 / 8, at_most=MOST),
            connect_timeout_s=wanted.connect_timeout,
            idle_timeout_s=wanted.idle_timeout,
            drain_timeout_s=wanted.drain_timeout,
        ),
        routes=Routes(anthropic=wanted.anthropic, openai=wanted.openai),
        recorder=recorder,
        context=_trusted(wanted),
        count=count,
        loop_factory=loop_factory,
    )
    beside(Capture(recorder, write=write, keep=keep).run)
    return {"proxy.address": server}


def _trusted(wanted: ProxyConfig) -> ssl.SSLContext:
    """Trust whom the providers' own clients trust, and the user's authority."""
    context = httpx.create_ssl_context()
    if wanted.ca_file:
        try:
            context.load_verify_locations(cafile=wanted.ca_file)
        except OSError as error:
            raise ConfigError(
                f"proxy.ca_file: {wanted.ca_file} cannot be used ({error}); name a PEM file"
            ) from error
    context.set_alpn_protocols(["http/1.1"])
    return context
