"""Send recorded conversations to a running instance as OTLP traffic."""

from __future__ import annotations

import argparse
import secrets
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

from collector.commands.command import Command, add_progress
from collector.commands.output import Progress
from collector.commands.transcript_files import add_format, conversations

if TYPE_CHECKING:
    from collector.replay import Report

DEFAULT_URL = "http://127.0.0.1:4318"


def run(arguments: argparse.Namespace) -> int:
    """Send every conversation; 1 when a line could not be read or a span was not accepted."""
    import httpx

    from collector.replay import exit_status, plan, send

    progress = Progress(arguments.progress)
    bad: list[str] = []

    def show(report: Report) -> None:
        progress.update(_status(report))

    requests = plan(
        conversations(arguments.files, arguments.format, bad),
        clock=time.time_ns,
        seed=arguments.seed or secrets.token_hex(8),
        strip_ids=arguments.strip_ids,
        interleave=arguments.interleave,
        batch=arguments.batch,
        variant=arguments.variant,
        environment=arguments.environment,
    )
    with httpx.Client(timeout=30.0, trust_env=False) as client:
        report = send(
            requests,
            url=arguments.url,
            client=client,
            token=arguments.token,
            rate=arguments.rate,
            on_progress=show,
        )
    progress.finish(_status(report))
    if report.problem:
        print(f"outrider: {report.problem}", file=sys.stderr)
    return exit_status(report) or int(bool(bad))


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
        "--url", default=DEFAULT_URL, help=f"OTLP/HTTP address (default: {DEFAULT_URL})"
    )
    parser.add_argument(
        "--rate",
        type=float,
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
        type=int,
        default=1,
        metavar="N",
        help="keep N conversations in flight at a time (default: 1)",
    )
    parser.add_argument(
        "--batch", type=int, default=50, metavar="N", help="spans in a request (default: 50)"
    )
    parser.add_argument("--token", default="", help="bearer token, if the receiver wants one")
    parser.add_argument(
        "--seed", default="", help="the same seed sends the same span ids (default: random)"
    )
    parser.add_argument("--variant", default="", help="send as this variant")
    parser.add_argument("--environment", default="", help="send as this environment")
    add_format(parser)
    add_progress(parser)


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
