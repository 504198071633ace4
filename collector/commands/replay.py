"""Send recorded conversations to a running instance as OTLP traffic."""

from __future__ import annotations

import argparse
import secrets
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

from collector.address import parse_address
from collector.banner import base_url
from collector.commands.command import (
    AUTH_HINT,
    Command,
    add_ca_file,
    add_config,
    add_progress,
    config_of,
    count,
    rate,
    token_for,
    trust,
    url,
)
from collector.commands.output import Progress
from collector.commands.transcript_files import add_format, conversations
from collector.config import Config

if TYPE_CHECKING:
    from collector.replay import Report

DEFAULT_URL = base_url(Config().receive.http)
HINTS = {
    401: AUTH_HINT,
    403: AUTH_HINT,
    404: f"is this an OTLP/HTTP receiver? Outrider's is receive.http, {DEFAULT_URL}",
    405: f"is this an OTLP/HTTP receiver? Outrider's is receive.http, {DEFAULT_URL}",
}
"""What to do about an answer."""
WAIT_HINT = "; --url names another receiver"


def run(arguments: argparse.Namespace) -> int:
    """Send every conversation; 1 when a line could not be read or a span was not accepted."""
    import httpx

    from collector.replay import exit_status, plan, send

    config = config_of(arguments)
    progress = Progress(arguments.progress)
    bad: list[str] = []
    waits: list[str] = []

    def show(report: Report) -> None:
        progress.update(_status(report))

    def tell(problem: str) -> None:
        if not waits:
            print(f"outrider: {problem}; trying again for a minute{WAIT_HINT}", file=sys.stderr)
        waits.append(problem)

    requests = plan(
        conversations(arguments.files, arguments.format, bad, progress),
        clock=time.time_ns,
        seed=arguments.seed or secrets.token_hex(8),
        strip_ids=arguments.strip_ids,
        interleave=arguments.interleave,
        batch=arguments.batch,
        variant=arguments.variant,
        environment=arguments.environment,
    )
    with httpx.Client(timeout=30.0, trust_env=False, verify=trust(arguments.ca_file)) as client:
        report = send(
            requests,
            url=arguments.url or configured_url(config),
            client=client,
            token=arguments.token or token_for(config, "write"),
            rate=arguments.rate,
            on_progress=show,
            on_wait=tell,
        )
    progress.finish(_status(report))
    if report.problem:
        hint = f"; {HINTS[report.status]}" if report.status in HINTS else ""
        print(f"outrider: {report.problem}{hint}", file=sys.stderr)
    return exit_status(report) or int(bool(bad))


def configured_url(config: Config) -> str:
    """Return where an instance with this configuration receives; the default if it chose a port."""
    chosen = parse_address(config.receive.http).port == 0
    tls = bool(config.receive.tls.cert_file)
    return DEFAULT_URL if chosen else base_url(config.receive.http, tls=tls)


def _status(report: Report) -> str:
    return (
        f"{report.conversations:.0f} conversations, {report.spans} spans accepted in "
        f"{report.requests} requests, {report.rejected_spans} spans rejected, "
        f"{report.refused_requests} requests refused, {report.retries} retries"
    )


def declare(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument(
        "files", nargs="+", type=Path, metavar="FILE", help="transcripts; - is stdin"
    )
    parser.add_argument(
        "--url",
        type=url,
        help=f"OTLP/HTTP address (default: receive.http of the configuration, {DEFAULT_URL})",
    )
    parser.add_argument(
        "--rate",
        type=rate,
        default=0.0,
        metavar="N",
        help="conversations a second (default: as fast as they are taken)",
    )
    parser.add_argument(
        "--strip-ids",
        action="store_true",
        help="send no conversation ids and every model call as its own trace, as hand-written loops do",
    )
    parser.add_argument(
        "--interleave",
        type=count,
        default=1,
        metavar="N",
        help="keep N conversations in flight at a time (default: 1)",
    )
    parser.add_argument(
        "--batch", type=count, default=50, metavar="N", help="spans in a request (default: 50)"
    )
    parser.add_argument(
        "--token",
        default="",
        help="bearer token, if the receiver wants one (default: one of the configuration that may write)",
    )
    parser.add_argument(
        "--seed", default="", help="the same seed sends the same span ids (default: random)"
    )
    parser.add_argument("--variant", default="", help="send as this variant")
    parser.add_argument("--environment", default="", help="send as this environment")
    add_ca_file(parser)
    add_format(parser)
    add_progress(parser)
    add_config(parser)


REPLAY = Command(
    name="replay",
    summary="send recorded conversations to a running instance as OTLP traffic",
    description=(
        "Turn transcripts into the spans a live agent would have sent, each conversation ended "
        "explicitly, and send them. Takes the same files as `score`."
    ),
    examples="""\
outrider replay examples/support.jsonl
outrider replay monday.jsonl.gz --rate 20       # 20 conversations a second
outrider replay monday.jsonl.gz --strip-ids --interleave 50
outrider replay monday.jsonl.gz --seed a --variant canary --url http://127.0.0.1:4318""",
    arguments=declare,
    run=run,
)
