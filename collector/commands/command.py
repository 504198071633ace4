"""Describe one subcommand, and what all of them share."""

from __future__ import annotations

import argparse
import math
import os
import ssl
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path

import msgspec

from collector.address import is_http_url
from collector.config import Config
from collector.config_file import load
from collector.errors import ConfigError
from collector.stray_variables import stray_variables
from collector.tokens import Right, first_token

DEFAULT_CONFIG = Path("outrider.yaml")
DEFAULT_DATA_DIR = Path("outrider-data")
AUTH_HINT = "pass --token, or set auth.token (OUTRIDER__AUTH__TOKEN)"


class Command(msgspec.Struct, frozen=True, kw_only=True):
    """One subcommand of ``outrider``."""

    name: str
    summary: str
    """One line for ``outrider --help``."""
    description: str
    examples: str
    """Two to four command lines, each with a comment on what it does."""
    arguments: Callable[[argparse.ArgumentParser], None]
    """Declare the command's own arguments."""
    run: Callable[[argparse.Namespace], int]
    """Do the work and return the exit code."""


def add_command(
    to: argparse._SubParsersAction[argparse.ArgumentParser], command: Command
) -> argparse.ArgumentParser:
    """Declare a command among others and return its parser."""
    parser = to.add_parser(
        command.name,
        help=command.summary,
        description=textwrap.fill(command.description, 88),
        epilog=examples_of(command.examples),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    command.arguments(parser)
    return parser


def examples_of(lines: str) -> str:
    """Write the end of a help text."""
    return "examples:\n" + textwrap.indent(lines.strip(), "  ")


def add_config(parser: argparse.ArgumentParser) -> None:
    """Declare ``--config``."""
    parser.add_argument(
        "--config",
        type=Path,
        metavar="FILE",
        help="configuration file (default: ./outrider.yaml if it is there)",
    )


def add_data_dir(parser: argparse.ArgumentParser) -> None:
    """Declare ``--data-dir``."""
    parser.add_argument(
        "--data-dir",
        type=Path,
        metavar="DIR",
        default=DEFAULT_DATA_DIR,
        help="where the journal and the embedded store live (default: ./outrider-data)",
    )


def add_scorers(parser: argparse.ArgumentParser) -> None:
    """Declare ``--scorer``."""
    parser.add_argument(
        "--scorer",
        action="append",
        dest="scorers",
        metavar="NAME",
        help="run only this scorer; may be given several times (default: all that are enabled)",
    )


def add_progress(parser: argparse.ArgumentParser) -> None:
    """Declare ``--progress`` and ``--no-progress``."""
    parser.add_argument(
        "--progress",
        action=argparse.BooleanOptionalAction,
        default=None,
        help="report progress on standard error (default: only on a terminal)",
    )


def config_of(arguments: argparse.Namespace) -> Config:
    """Load the configuration that the arguments name.

    Raises:
        ConfigError: it cannot be read or is wrong.
    """
    path: Path | None = arguments.config
    if path is None and DEFAULT_CONFIG.is_file():
        path = DEFAULT_CONFIG
    return load(path, os.environ)


def token_for(config: Config, right: Right) -> str:
    """Return a token of the configuration that has a right, one of all tenants first; empty for none.

    Raises:
        ConfigError: its file cannot be read.
    """
    if config.auth.token:
        return config.auth.token
    fitting = [one for one in config.auth.tokens.values() if right in one.rights]
    fitting.sort(key=lambda one: bool(one.tenant))
    if not fitting:
        return ""
    return fitting[0].token or first_token(Path(fitting[0].file))


def trust(ca_file: Path | None) -> ssl.SSLContext | bool:
    """Return whom a client of ours trusts; the usual authorities where no file is given.

    Raises:
        ConfigError: the file holds no certificates.
    """
    if ca_file is None:
        return True
    try:
        return ssl.create_default_context(cafile=str(ca_file))
    except OSError as error:
        raise ConfigError(f"{ca_file}: has no PEM certificates ({error})") from error


def add_ca_file(parser: argparse.ArgumentParser) -> None:
    """Declare ``--ca-file``."""
    parser.add_argument(
        "--ca-file",
        type=Path,
        metavar="PEM",
        help="authorities of its certificate, for https:// (default: the usual ones)",
    )


def warn_of_stray_variables() -> None:
    """Say on standard error which variables miss an underscore and so set no key."""
    for name, meant in stray_variables(os.environ).items():
        print(f"outrider: warning: {name} sets no key; did you mean {meant}?", file=sys.stderr)


def count(text: str) -> int:
    """Read an argument that is a whole number from 1 on."""
    try:
        number = int(text)
    except ValueError:
        number = 0
    if number < 1:
        raise argparse.ArgumentTypeError(f"expected a whole number >= 1, got {text!r}")
    return number


def rate(text: str) -> float:
    """Read an argument that is a number above 0."""
    try:
        number = float(text)
    except ValueError:
        number = 0.0
    if not (math.isfinite(number) and number > 0):
        raise argparse.ArgumentTypeError(f"expected a number > 0, got {text!r}")
    return number


def url(text: str) -> str:
    """Read an argument that is a URL."""
    if is_http_url(text):
        return text
    guess = f"http://{text}"
    hint = f"; did you mean {guess}?" if "://" not in text and is_http_url(guess) else ""
    raise argparse.ArgumentTypeError(f"expected http(s)://host:port, got {text!r}{hint}")
