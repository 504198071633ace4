"""Gather the commands about alarms: ``outrider alerts ACTION``."""

from __future__ import annotations

import argparse
import textwrap

from collector.commands.alerts_replay import REPLAY
from collector.commands.command import Command

ACTIONS: tuple[Command, ...] = (REPLAY,)


def run(arguments: argparse.Namespace) -> int:
    """Run the action that was named."""
    code: int = arguments.act(arguments)
    return code


def declare(parser: argparse.ArgumentParser) -> None:
    """Declare the actions."""
    actions = parser.add_subparsers(metavar="ACTION", required=True)
    for action in ACTIONS:
        sub = actions.add_parser(
            action.name,
            help=action.summary,
            description=textwrap.fill(action.description, 88),
            epilog="examples:\n" + textwrap.indent(action.examples.strip(), "  "),
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        action.arguments(sub)
        sub.set_defaults(act=action.run)


ALERTS = Command(
    name="alerts",
    summary="; ".join(action.summary for action in ACTIONS),
    description=" ".join(f"`alerts {a.name}`: {a.description}" for a in ACTIONS),
    examples="\n".join(action.examples for action in ACTIONS),
    arguments=declare,
    run=run,
)
