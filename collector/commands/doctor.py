"""Look an instance over and say what to do."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from collector.commands.command import (
    Command,
    add_config,
    add_data_dir,
    config_of,
    warn_of_stray_variables,
)
from collector.config import Config
from collector.config_file import without_user
from collector.errors import ConfigError

if TYPE_CHECKING:
    from collector.doctor.finding import Finding
    from collector.serve_file import Running

JOURNAL = "journal.db"
"""In the data directory."""
_TIMEOUT_S = 10


def findings(config: Config, data_dir: Path) -> Iterator[Finding]:
    """Go through all checks, what a wrong one would explain before what it explains."""
    from collector.commands.check import LOCK_FILE
    from collector.doctor.certificates import certificates
    from collector.doctor.data_directory import data_directory
    from collector.doctor.finding import fail, ok, warn
    from collector.doctor.instance import instance
    from collector.doctor.journal_file import journal_file
    from collector.doctor.peers import peers
    from collector.serve_file import read
    from collector.version import __version__

    running = read(data_dir)
    if running is not None:
        yield from instance(running, version=__version__)
    elif problem := _problem(data_dir):
        if (data_dir / LOCK_FILE).exists():
            yield warn("instance", problem, "it starts, stops or migrates: look again in a moment")
        else:
            yield fail("data dir", problem, "do as it says")
        return
    else:
        yield ok("instance", f"no process serves from {data_dir}")
    if data_dir.is_dir():
        yield from data_directory(data_dir, journal_limit=config.journal.max_size)
        yield from journal_file(
            data_dir / JOURNAL,
            limit=config.journal.max_size,
            running=running is not None,
            now_ns=time.time_ns(),
        )
    else:
        yield ok("data dir", f"{data_dir} is not there yet; `outrider serve` makes it")
    yield from _store(config, data_dir, running)
    yield from certificates(_certificates(config), now=datetime.now(UTC))
    yield from peers(_peers(config))


def _problem(data_dir: Path) -> str:
    """Say who has the directory though nobody answers, or why nobody can; empty when it is free."""
    from collector.commands.check import check_data_dir

    try:
        check_data_dir(data_dir)
    except ConfigError as error:
        return str(error)
    return ""


def _store(config: Config, data_dir: Path, running: Running | None) -> Iterator[Finding]:
    from collector.doctor.finding import fail, ok
    from collector.doctor.store_care import store_care
    from collector.doctor.store_schema import store_schema
    from collector.stores.clickhouse import ClickHouseStore, open_store
    from collector.stores.migrations import MIGRATIONS

    if not config.store.url and running is not None:
        yield ok(
            "store", "the embedded engine belongs to the running process; see `instance` above"
        )
        return
    if not config.store.url and not (data_dir / "store").is_dir():
        yield ok("store", "the embedded engine has no directory yet; `outrider serve` makes it")
        return
    try:
        if config.store.url:
            where = without_user(config.store.url)
            store = ClickHouseStore.server(
                config.store.url,
                user=config.store.user,
                password=config.store.password,
                database=config.store.database,
                timeout_s=_TIMEOUT_S,
            )
        else:
            where = str(data_dir / "store")
            store = open_store(config.store, data_dir)
    except ConfigError as error:
        yield fail("store", str(error), "do as it says")
        return

    def retention() -> list[str]:
        planned = store.migrate(dry_run=True, ttl_days=config.store.ttl_days)
        return [step for step in planned if step not in MIGRATIONS]

    try:
        found = list(store_schema(store, where=where, clock_ns=time.time_ns))
        yield from found
        if any(one.check == "clock" for one in found):  # it answers, and has our tables
            current = found[0].status == "ok"
            yield from store_care(store, retention=retention if current else None)
    finally:
        store.close()


def _certificates(config: Config) -> list[tuple[str, str]]:
    """Return the files with the certificates that our ports show, by key."""
    files = [
        ("receive.tls.cert_file", config.receive.tls.cert_file),
        ("console.tls.cert_file", config.console.tls.cert_file),
        ("telemetry.tls.cert_file", config.telemetry.tls.cert_file),
        ("proxy.tls.cert_file", config.proxy.tls.cert_file if config.proxy.address else ""),
    ]
    return [(key, file) for key, file in files if file]


def _peers(config: Config) -> list[tuple[str, str]]:
    """Return where we send and what we read from, by key."""
    proxy = config.proxy
    urls = [
        ("telemetry.otlp_endpoint", config.telemetry.otlp_endpoint),
        ("alerts.webhook", config.alerts.webhook),
    ]
    if proxy.address:
        urls += [
            ("proxy.anthropic", proxy.anthropic),
            ("proxy.openai", proxy.openai),
            ("proxy.export.endpoint", proxy.export.endpoint),
            ("proxy.shadow.base_url", proxy.shadow.base_url if proxy.shadow.share else ""),
        ]
    brokers = [broker.strip() for broker in config.kafka.bootstrap.split(",")]
    urls += [("kafka.bootstrap", f"kafka://{broker}") for broker in brokers if broker]
    return [(key, url) for key, url in urls if url]


def run(arguments: argparse.Namespace) -> int:
    """Print a line a finding as it is made; 1 when one of them is `fail`."""
    config = config_of(arguments)
    warn_of_stray_variables()
    failed = warned = 0
    for found in findings(config, arguments.data_dir):
        failed += found.status == "fail"
        warned += found.status == "warn"
        if arguments.json:
            print(msgspec.json.encode(found).decode(), flush=True)
            continue
        print(f"{found.status:<5} {found.check:<12} {found.says}", flush=True)
        if found.fix:
            print(f"{'':18} -> {found.fix}", flush=True)
    if not arguments.json:
        said = f"{failed} failed, {warned} to look at" if failed or warned else "all is well"
        print(said, file=sys.stderr)
    return 1 if failed else 0


def declare(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    add_config(parser)
    add_data_dir(parser)
    parser.add_argument("--json", action="store_true", help="print one JSON object a finding")


DOCTOR = Command(
    name="doctor",
    summary="look an instance over and say what to do",
    description=(
        "Check the running instance, the data directory and its disk, the journal (damage, room, how far "
        "the pipeline is behind), the store (schema, parts, damage, merges, retention), the clocks, the "
        "certificates, and whether everything that is sent to or read from can be reached. Reads beside a "
        "running instance and changes nothing. Exit code 1 when something fails; what only should be looked at does not "
        "count."
    ),
    examples="""\
outrider doctor
outrider doctor --config prod.yaml --data-dir /var/lib/outrider
outrider doctor --json | jq 'select(.status != "ok")'""",
    arguments=declare,
    run=run,
)
