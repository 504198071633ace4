"""Check the configuration, the ports and the data directory before a start."""

from __future__ import annotations

import argparse
import errno
import os
import socket
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import yaml

from collector.address import Address, parse_address
from collector.auth_checks import section_of, tls_of
from collector.commands.command import (
    Command,
    add_config,
    add_data_dir,
    config_of,
    warn_of_stray_variables,
)
from collector.config import KafkaConfig, StoreConfig
from collector.config_file import addresses, without_user
from collector.errors import ConfigError, OutriderError
from collector.proxy_checks import check_authorities
from collector.settings import as_yaml, changed

if TYPE_CHECKING:
    from collector.serve_file import Running

LOCK_FILE = "lock"
"""In the data directory; held by the process that serves from it."""


STORE_TIMEOUT_S = 10
"""How long a ClickHouse server may take to answer."""


def check_port(key: str, address: Address) -> None:
    """Bind and release an address.

    Raises:
        ConfigError: it is taken or not ours to bind; the text names the key and the fix.
    """
    family = socket.AF_INET6 if ":" in address.host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((address.host, address.port))
        except OSError as error:
            if error.errno == errno.EADDRINUSE:
                fix = f"stop what listens there, or set {key} to another port"
                raise ConfigError(f"{key}: {address} is in use; {fix}") from error
            raise ConfigError(
                f"{key}: cannot listen on {address}: {error.strerror or error}"
            ) from error


def check_data_dir(path: Path) -> None:
    """Make sure the directory can be written, or made, and that no other process has it.

    Raises:
        ConfigError: it cannot; the text names the directory and the fix.
    """
    existing = path
    while not existing.exists() and existing != existing.parent:
        existing = existing.parent
    if not existing.is_dir():
        raise ConfigError(f"{existing}: is not a directory; choose another --data-dir")
    if not os.access(existing, os.W_OK | os.X_OK):
        raise ConfigError(
            f"{existing}: is not writable; make it writable, or choose another --data-dir"
        )
    if existing != path and not _holds_directories(existing):
        raise ConfigError(f"{path}: cannot be made in {existing}; choose another --data-dir")
    lock = path / LOCK_FILE
    if lock.exists():
        from collector.directory_lock import DirectoryLock

        DirectoryLock(lock).release()


def _holds_directories(path: Path) -> bool:
    """Say whether one can be made in it; permissions do not tell of ``/proc`` or a full disk."""
    try:
        with TemporaryDirectory(prefix=".outrider-check-", dir=path):
            return True
    except OSError:
        return False


def check_store(config: StoreConfig) -> None:
    """Reach the server that ``store.url`` names and log in.

    Raises:
        ConfigError: it does not answer or does not let us in; the text names the keys.
    """
    from collector.stores.clickhouse import ClickHouseStore

    store = ClickHouseStore.server(
        config.url,
        user=config.user,
        password=config.password,
        database=config.database,
        timeout_s=STORE_TIMEOUT_S,
    )
    try:
        store.ping()
    except OutriderError as error:
        raise ConfigError(
            f"store.url: {without_user(config.url)} cannot be used: {error}; start the server, or "
            "correct store.url, store.user or store.password"
        ) from error
    finally:
        store.close()


def check_kafka(config: KafkaConfig) -> None:
    """Read the files that brokers are reached with; brokers may be away, and nothing is asked of them.

    Raises:
        ConfigError: a file, user or password is missing or wrong; the text names the key.
    """
    if config.bootstrap:
        from collector.kafka.client import connection
        from collector.kafka.intake import signals

        connection(config)
        signals(traces=config.traces, logs=config.logs)


def own_addresses(running: Running) -> dict[str, str]:
    """Return the addresses that a running process has bound, by their keys."""
    return {
        "receive.http": running.otlp_http,
        "receive.grpc": running.otlp_grpc,
        "proxy.address": running.proxy,
        "console.address": running.console,
        "telemetry.metrics": running.metrics,
    }


def run(arguments: argparse.Namespace) -> int:
    """Check everything that `serve` would trip over, and say what differs from the defaults."""
    from alerts.detectors.settings import check_floors
    from collector.redaction import redactor_of
    from collector.serve_file import read
    from collector.tls import server_context
    from collector.tokens import Tokens
    from scorers.registry import configured

    config = config_of(arguments)
    check_floors(config.detect, {scorer.name for scorer in configured(config.scorers)})
    Tokens(config.auth)
    for key, tls in tls_of(config).items():
        server_context(tls, section=section_of(key))
    redactor_of(config.redact)
    warn_of_stray_variables()
    if arguments.print:
        print(as_yaml(config), end="")
        return 0
    running = read(arguments.data_dir)
    if running is None:
        check_data_dir(arguments.data_dir)
    own = own_addresses(running) if running else {}
    for key, text in addresses(config).items():
        address = parse_address(text)
        if str(address) != own.get(key):
            check_port(key, address)
    if config.proxy.address:
        check_authorities(config.proxy)
    check_kafka(config.kafka)
    if config.store.url:
        check_store(config.store)
    print("ok")
    if running is not None:
        print(
            f"  process {running.pid} serves from {arguments.data_dir} already: "
            f"its ports and directory count as free; console {running.console_url}"
        )
    for key, value in changed(config).items():
        print(f"  {key}: {yaml.safe_dump(value, default_flow_style=True).splitlines()[0]}")
    return 0


def declare(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    add_config(parser)
    add_data_dir(parser)
    parser.add_argument(
        "--print",
        action="store_true",
        help="print the whole effective configuration as YAML, secrets as references to "
        "their variables, and check nothing else",
    )


CHECK = Command(
    name="check",
    summary="check the configuration, the ports and the data directory",
    description=(
        "Read the configuration as `serve` would and say in one line what is wrong, or `ok` and the "
        "values that differ from the defaults. Exit code 2 when something is wrong. Ports and data "
        "directory must be free or in the hands of the instance that serves from the directory; the "
        "files for Kafka and the proxy's upstreams must be there; a ClickHouse server (store.url) "
        "must answer."
    ),
    examples="""\
outrider check
outrider check --config prod.yaml --data-dir /var/lib/outrider
outrider check --print > outrider.yaml          # every key, to start from""",
    arguments=declare,
    run=run,
)
