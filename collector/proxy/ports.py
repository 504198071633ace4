"""Open the proxy's port, where somebody wants one."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path

from collector.config import Config, ProxyShadowConfig
from collector.connections import allowed
from collector.key_file import key_in
from collector.proxy.about import Names
from collector.proxy.capture import Capture, Export, Keep, SpanWriter
from collector.proxy.line import Arrivals, Orders
from collector.proxy.relay_port import RelayPort
from collector.proxy.server import Settings
from collector.proxy.shadow import ShadowOrders
from collector.proxy.upstream import Routes
from collector.proxy_checks import check_authorities
from collector.redaction import pseudonym_key, strict_redactor
from collector.servers import Port
from collector.tls import server_context
from collector.version import __version__

MOST = 512
"""Connections at a time; each has one behind it."""
WAITING = 4_096
"""Calls that wait to be captured."""
KEY_FILE = "proxy.secret"
"""File in the data directory with the key of the hashes that stand for credentials."""
LEDGER = "proxy.shadow"
"""File in the data directory in which the day's calls to the candidate are counted."""


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
        config: The ``proxy`` section and the tokens.
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
    secret = key_in(data_dir / KEY_FILE)
    check_authorities(wanted)
    server_context(wanted.tls, section="proxy.tls")
    Routes(anthropic=wanted.anthropic, openai=wanted.openai)
    arrivals = Arrivals(count)
    orders = Orders(
        settings=Settings(
            address=wanted.address,
            auth=config.auth,
            tls=wanted.tls,
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
        shadow=_shadow(wanted.shadow, data_dir),
    )
    write = SpanWriter(
        limit=4 * wanted.max_call, version=__version__, secret=secret, random_bytes=os.urandom
    )
    export = _export(config, data_dir, count=count)
    port = RelayPort(orders, arrivals)

    def work(stop: threading.Event) -> None:
        with export() as offer:
            Capture(arrivals, write=write, keep=keep, export=offer).run(stop)
            arrivals.close()

    beside(work)
    return {"proxy.address": port}


def _shadow(wanted: ProxyShadowConfig, data_dir: Path) -> ShadowOrders | None:
    if not wanted.share:
        return None
    return ShadowOrders(
        share=wanted.share,
        provider=wanted.provider,
        model=wanted.model,
        base_url=wanted.base_url,
        key=wanted.key,
        caller_key=wanted.caller_key,
        variant=wanted.variant,
        timeout_s=wanted.timeout,
        most_at_once=wanted.max_concurrent,
        most_a_day=wanted.max_per_day,
        ledger=str(data_dir.absolute() / LEDGER),
    )


def _export(
    config: Config, data_dir: Path, *, count: Callable[[str, float, dict[str, str]], None]
) -> Callable[[], AbstractContextManager[Export | None]]:
    """Prepare the export; its threads run from the return value's call on."""
    wanted = config.proxy.export
    if not wanted.endpoint:
        return nullcontext
    from collector.proxy.span_export import (  # noqa: PLC0415 - the SDK takes half a second to load
        SpanExport,
        otlp_exporter,
        what_may_leave,
    )

    exporter = otlp_exporter(wanted)
    redactor = strict_redactor(config.redact, pseudonym_key(config.redact, data_dir))
    allow = what_may_leave(wanted, redactor)

    @contextmanager
    def exporting() -> Iterator[Export]:
        export = SpanExport(exporter, allow=allow, version=__version__, count=count)
        try:
            yield export.offer
        finally:
            export.close()

    return exporting
