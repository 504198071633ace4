"""Write what was stored as JSON lines, from a running or a stopped instance."""

from __future__ import annotations

import argparse
import ssl
import typing
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from collector.commands.command import (
    AUTH_HINT,
    Command,
    add_ca_file,
    add_config,
    add_data_dir,
    config_of,
    token_for,
    trust,
    url,
)
from collector.commands.output import opened
from collector.config import Config
from collector.errors import ConfigError, OutriderError

if TYPE_CHECKING:
    from collector.stores.clickhouse import ClickHouseStore

Kind = Literal["conversations", "scores", "decisions", "observations", "outcomes", "labels"]
KINDS: tuple[Kind, ...] = typing.get_args(Kind)

HINTS = {
    401: AUTH_HINT,
    403: AUTH_HINT,
    404: "is this an Outrider console? its address is console.address, http://127.0.0.1:8090",
}
"""What to do about an answer."""

_READ_TIMEOUT_S = 300.0
"""The store may think for a while before the first row."""


def run(arguments: argparse.Namespace) -> int:
    """Write every row of one kind."""
    config = config_of(arguments)
    console = arguments.url or running_console(arguments.data_dir)
    if console:
        chunks = from_process(
            console,
            arguments.what,
            token=arguments.token or token_for(config, "read"),
            verify=trust(arguments.ca_file),
        )
    else:
        chunks = from_store(config, arguments.data_dir, arguments.what)
    with opened(arguments.output) as out:
        for chunk in chunks:
            out.write(chunk)
    return 0


def running_console(data_dir: Path) -> str:
    """Return the URL of the process that serves from a data directory, empty when none does."""
    from collector.serve_file import read

    info = read(data_dir)
    return info.console_url if info is not None else ""


def from_process(
    console: str, what: Kind, *, token: str, verify: ssl.SSLContext | bool = True
) -> Iterator[bytes]:
    """Yield the export of a running process as it comes.

    Raises:
        OutriderError: it cannot be reached, refuses, or breaks off.
    """
    import httpx

    target = f"{console.rstrip('/')}/v1/export/{what}"
    headers = {"authorization": f"Bearer {token}"} if token else {}
    timeout = httpx.Timeout(10.0, read=_READ_TIMEOUT_S)
    try:
        with (
            httpx.Client(timeout=timeout, trust_env=False, verify=verify) as client,
            client.stream("GET", target, headers=headers) as response,
        ):
            if not response.is_success:
                text = response.read().decode("utf-8", "replace").strip()
                hint = f"; {HINTS[response.status_code]}" if response.status_code in HINTS else ""
                raise OutriderError(f"{target}: HTTP {response.status_code}: {text[:200]}{hint}")
            yield from response.iter_bytes()
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        raise OutriderError(f"{target}: {str(error) or type(error).__name__}") from error


def from_store(config: Config, data_dir: Path, what: Kind) -> Iterator[bytes]:
    """Open the store ourselves, since no process has it, and yield its rows as lines.

    Raises:
        ConfigError: there is no store, or another process holds it.
    """
    from collector.stores.export import documents

    store = opened_store(config, data_dir)
    try:
        for document in documents(store, what):
            yield document + b"\n"
    finally:
        store.close()


def opened_store(config: Config, data_dir: Path) -> ClickHouseStore:
    """Open the store of a stopped instance, or the server that it writes to.

    Raises:
        ConfigError: there is no store, or another process holds it.
    """
    from collector.stores.clickhouse import open_store

    if not config.store.url and not (data_dir / "store").is_dir():
        raise ConfigError(
            f"{data_dir}: holds no store; choose another --data-dir, or --url of a running instance"
        )
    return open_store(config.store, data_dir)


def declare(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("what", choices=KINDS, metavar="WHAT", help=", ".join(KINDS))
    parser.add_argument("-o", "--output", type=Path, metavar="OUT", help="default: standard output")
    add_data_dir(parser)
    parser.add_argument(
        "--url",
        type=url,
        metavar="URL",
        help="console address of a running instance, such as http://127.0.0.1:8090 "
        "(default: the one that serves from the data directory, else the store itself)",
    )
    parser.add_argument(
        "--token",
        default="",
        help="bearer token for it (default: one of the configuration that may read)",
    )
    add_ca_file(parser)
    add_config(parser)


EXPORT = Command(
    name="export",
    summary="write conversations, scores, decisions, observations, outcomes or labels as JSON lines",
    description=(
        "Write what was stored, one JSON object a line, in a stable order: from the process that "
        "serves from the data directory, from one at --url, or from the store when nothing runs."
    ),
    examples="""\
outrider export scores
outrider export conversations -o conversations.jsonl --data-dir /var/lib/outrider
outrider export decisions --url http://127.0.0.1:8090
outrider export scores | jq 'select(.verdict == "fail")'""",
    arguments=declare,
    run=run,
)
