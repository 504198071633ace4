"""Gather the commands about alarms: ``outrider alerts ACTION``."""

from __future__ import annotations

import argparse

from collector.commands.alerts_replay import REPLAY
from collector.commands.command import Command, add_command

ACTIONS: tuple[Command, ...] = (REPLAY,)


def run(arguments: argparse.Namespace) -> int:
    """Run the action that was named."""
    code: int = arguments.act(arguments)
    return code


def declare(parser: argparse.ArgumentParser) -> None:
    """Declare the actions."""
    actions = parser.add_subparsers(metavar="ACTION", required=True)
    for action in ACTIONS:
        add_command(actions, action).set_defaults(act=action.run)


ALERTS = Command(
    name="alerts",
    summary="; ".join(action.summary for action in ACTIONS),
    description=" ".join(f"`alerts {a.name}`: {a.description}" for a in ACTIONS),
    examples="\n".join(action.examples for action in ACTIONS),
    arguments=declare,
    run=run,
)
