"""Read the detectors' settings from the configuration, or those to try from the command line."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

import msgspec

from collector.commands.command import count
from collector.config import Config
from collector.units import parse_duration

if TYPE_CHECKING:
    from alerts.detectors.settings import Settings


def add_settings(parser: argparse.ArgumentParser) -> None:
    """Declare ``--budget``, ``--tolerance`` and ``--scorers``."""
    parser.add_argument(
        "--budget",
        type=seconds_of,
        metavar="TIME",
        help="time between false pages that you accept for an agent (default: "
        "detect.false_alarm_budget)",
    )
    parser.add_argument(
        "--tolerance",
        type=share,
        metavar="SHARE",
        help="worsening that is never an alarm (default: detect.tolerance)",
    )
    parser.add_argument(
        "--scorers",
        type=count,
        metavar="N",
        help="scorers among which the budget is split (default: those that are enabled)",
    )


def settings_from(arguments: argparse.Namespace, config: Config) -> Settings:
    """Return the settings that the arguments say, the configuration's where they say none."""
    from alerts.detectors.settings import settings_of
    from scorers.registry import configured

    scorers = arguments.scorers or len(configured(config.scorers))
    settings = settings_of(config.detect, scorers=scorers)
    if arguments.budget is not None:
        settings = msgspec.structs.replace(settings, page_hours=arguments.budget / 3600)
    if arguments.tolerance is not None:
        settings = msgspec.structs.replace(settings, tolerance=arguments.tolerance)
    return settings


def share(text: str) -> float:
    """Read an argument that is a share: ``0.1`` or ``10%``."""
    number, percent = (text[:-1], True) if text.endswith("%") else (text, False)
    try:
        value = float(number) / (100 if percent else 1)
    except ValueError:
        value = -1.0
    if not 0.0 <= value <= 1.0:
        raise argparse.ArgumentTypeError(f"expected 0 to 1, or 0% to 100%, got {text!r}")
    return value


def seconds_of(text: str) -> float:
    """Read an argument that is a duration of at least an hour; return seconds."""
    try:
        seconds = parse_duration(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None
    if seconds < 3600:
        raise argparse.ArgumentTypeError(f"expected at least 1h, got {text!r}")
    return seconds
