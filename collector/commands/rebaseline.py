"""Tell a running instance to learn anew what is usual."""

from __future__ import annotations

import argparse

from collector.commands.command import Command
from collector.commands.console_client import add_console, asked


def run(arguments: argparse.Namespace) -> int:
    """Give the order and print whom it is about."""
    from alerts.incident import printable
    from collector.rebaseline_port import PATH, Rebaselined

    body = {"agent": arguments.agent, "scorer": arguments.scorer}
    if arguments.environment is not None:
        body["environment"] = arguments.environment
    answer = asked(arguments, "POST", PATH, Rebaselined, right="write", body=body)
    for stream in answer.streams:
        print(printable(stream))
    return 0


def declare(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("--agent", required=True, metavar="NAME", help="as the console shows it")
    parser.add_argument("--scorer", required=True, metavar="NAME", help="such as false_success")
    parser.add_argument(
        "--environment", metavar="NAME", help="only this one (default: all of the agent's)"
    )
    add_console(parser, right="write")


REBASELINE = Command(
    name="rebaseline",
    summary="learn anew what is usual for a scorer of an agent",
    description=(
        "Let the detectors of one scorer of one agent forget what they learned, after a change of its "
        "failure rate that is meant to stay. Its alarms end at once, and none can come until "
        "detect.reference_window and detect.reference_min are complete again. Nothing else makes a "
        "detector take a worse rate for the usual one but a new version of the scorer. Prints each "
        "stream that learns anew, once that is stored."
    ),
    examples="""\
outrider rebaseline --agent atlas-support --scorer false_success
outrider rebaseline --agent atlas-support --scorer looping --environment production --url http://127.0.0.1:8090""",
    arguments=declare,
    run=run,
)
