"""Bring the store's tables up to date without serving."""

from __future__ import annotations

import argparse

from collector.commands.command import Command, add_config, add_data_dir, config_of
from collector.errors import ConfigError


def run(arguments: argparse.Namespace) -> int:
    """Apply what is missing, or print what would be applied."""
    from collector.serve_file import read
    from collector.stores.clickhouse import open_store

    config = config_of(arguments)
    running = None if config.store.url else read(arguments.data_dir)
    if running is not None:
        raise ConfigError(
            f"{arguments.data_dir}: process {running.pid} serves from it and holds the embedded "
            "engine; `serve` brought its tables up to date when it started. Stop that process "
            "first, or choose another --data-dir"
        )
    store = open_store(config.store, arguments.data_dir)
    try:
        statements = store.migrate(dry_run=arguments.dry_run, ttl_days=config.store.ttl_days)
    finally:
        store.close()
    if arguments.dry_run:
        for statement in statements:
            print(f"{statement.strip()};\n")
    elif statements:
        print(f"{len(statements)} statements applied")
    else:
        print("up to date")
    return 0


def declare(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument(
        "--dry-run", action="store_true", help="print the statements and change nothing"
    )
    add_data_dir(parser)
    add_config(parser)


MIGRATE = Command(
    name="migrate",
    summary="bring the store's tables up to date",
    description=(
        "Create or alter the tables in ClickHouse. `serve` does the same at its start; this command is "
        "for sites where a person runs schema changes."
    ),
    examples="""\
outrider migrate --dry-run                      # print the SQL
outrider migrate --config prod.yaml             # apply it""",
    arguments=declare,
    run=run,
)
