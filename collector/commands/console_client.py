"""Ask a running instance over its console port."""

from __future__ import annotations

import argparse
import ssl
from typing import Any, TypeVar

import msgspec

from collector.commands.command import (
    AUTH_HINT,
    add_ca_file,
    add_config,
    add_data_dir,
    config_of,
    token_for,
    trust,
    url,
)
from collector.errors import OutriderError
from collector.tokens import Right
from collector.version import __version__

_TIMEOUT_S = 60.0

Answer = TypeVar("Answer")


def ask(
    console: str,
    method: str,
    path: str,
    expected: type[Answer],
    *,
    token: str,
    verify: ssl.SSLContext | bool = True,
    body: Any = None,
) -> Answer:
    """Send one request and return what its answer's JSON says.

    Raises:
        OutriderError: it cannot be reached, refuses, or answers something else than expected.
    """
    import httpx

    target = console.rstrip("/") + path
    headers = {"authorization": f"Bearer {token}"} if token else {}
    try:
        with httpx.Client(timeout=_TIMEOUT_S, trust_env=False, verify=verify) as client:
            answer = client.request(method, target, headers=headers, json=body)
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        raise OutriderError(f"{target}: {str(error) or type(error).__name__}") from error
    if answer.is_success:
        try:
            return msgspec.json.decode(answer.content, type=expected)
        except (msgspec.MsgspecError, UnicodeDecodeError) as error:
            raise OutriderError(
                f"{target}: this is no console of Outrider {__version__} ({error})"
            ) from error
    try:
        said = answer.json()
    except ValueError:
        said = {}
    reason = said.get("error", "") if isinstance(said, dict) else ""
    hint = f"; {AUTH_HINT}" if answer.status_code in {401, 403} else ""
    raise OutriderError(f"{target}: HTTP {answer.status_code}: {reason or answer.text[:200]}{hint}")


def add_console(parser: argparse.ArgumentParser, *, right: Right) -> None:
    """Declare how a running instance is found and entered."""
    add_data_dir(parser)
    parser.add_argument(
        "--url",
        type=url,
        metavar="URL",
        help="console address of a running instance, such as http://127.0.0.1:8090 "
        "(default: the one that serves from the data directory)",
    )
    parser.add_argument(
        "--token",
        default="",
        help=f"bearer token for it (default: one of the configuration that may {right})",
    )
    add_ca_file(parser)
    add_config(parser)


def asked(
    arguments: argparse.Namespace,
    method: str,
    path: str,
    expected: type[Answer],
    *,
    right: Right,
    body: Any = None,
) -> Answer:
    """Ask the instance that the arguments name.

    Raises:
        OutriderError: there is none, it refuses, or answers something else than expected.
    """
    from collector.commands.export import running_console

    console = arguments.url or running_console(arguments.data_dir)
    if not console:
        raise OutriderError(
            f"nothing serves from {arguments.data_dir}; choose another --data-dir, or --url"
        )
    token = arguments.token or token_for(config_of(arguments), right)
    verify = trust(arguments.ca_file)
    return ask(console, method, path, expected, token=token, verify=verify, body=body)
