"""Print the Prometheus alerting rules that go with a configuration."""

from __future__ import annotations

import argparse
import re

from collector.commands.command import Command, add_config, config_of, url

RUNBOOKS = "docs/alerts.md"
_NAME = re.compile(r"[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?")

HEADER = """\
# Rendered by `outrider rules`; change its options and render again instead of editing.
# keep_firing_for needs Prometheus 2.42 or newer.
"""


def run(arguments: argparse.Namespace) -> int:
    """Print the rules."""
    from alerts.rule import rule_file, rule_resource
    from alerts.rules import Settings, groups
    from collector.banner import base_url

    config = config_of(arguments)
    console = arguments.console_url or config.alerts.console_url
    settings = Settings(
        job=arguments.job,
        console=(console or base_url(config.console.address)).rstrip("/"),
        blind_after_s=arguments.blind_after,
        idle_timeout_s=config.assemble.idle_timeout,
        journal_max_bytes=config.journal.max_size,
        always_busy=arguments.always_busy,
    )
    found = groups(settings)
    runbooks = arguments.runbook_url
    print(HEADER, end="")
    if arguments.format == "operator":
        print(rule_resource(found, runbooks=runbooks, name=arguments.name), end="")
    else:
        print(rule_file(found, runbooks=runbooks), end="")
    return 0


def duration(text: str) -> float:
    """Read an argument that is a duration of at least a minute."""
    from collector.units import parse_duration

    try:
        seconds = parse_duration(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None
    if seconds < 60:
        raise argparse.ArgumentTypeError(f"expected at least 1m, got {text!r}")
    return seconds


def name(text: str) -> str:
    """Read an argument that names a Kubernetes resource."""
    if not _NAME.fullmatch(text):
        raise argparse.ArgumentTypeError(f"expected lower-case letters, digits and -, got {text!r}")
    return text


def declare(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument(
        "--job",
        default="outrider",
        help="job_name of the scrape of our metrics; a wrong one pages (default: outrider)",
    )
    parser.add_argument(
        "--console-url",
        type=url,
        metavar="URL",
        help="how a reader of an alert reaches the console (default: alerts.console_url, else "
        "console.address)",
    )
    parser.add_argument(
        "--runbook-url",
        metavar="URL",
        default=RUNBOOKS,
        help=f"where the runbooks are published (default: {RUNBOOKS})",
    )
    parser.add_argument(
        "--blind-after",
        type=duration,
        metavar="TIME",
        default="30m",
        help="page when calls come for this long without a verdict; raise it where all runs start "
        "together and last for hours (default: 30m)",
    )
    parser.add_argument(
        "--always-busy",
        action="store_true",
        help="page on silence too: there is traffic at every hour of the day",
    )
    parser.add_argument(
        "--format",
        choices=("prometheus", "operator"),
        default="prometheus",
        help="a rule file, or a PrometheusRule of the Prometheus operator (default: prometheus)",
    )
    parser.add_argument(
        "--name",
        type=name,
        default="outrider",
        help="name of the PrometheusRule (default: outrider)",
    )
    add_config(parser)


RULES = Command(
    name="rules",
    summary="print the Prometheus alerting rules",
    description=(
        "Print the rules that page when an agent got worse, and when Outrider is down, stuck or "
        "blind. Put the file under rule_files in prometheus.yml, check it with `promtool check rules "
        "FILE`, and reload Prometheus. A quiet night pages nobody unless --always-busy is given. What "
        "to do about each alert is in docs/alerts.md."
    ),
    examples="""\
outrider rules > outrider.rules.yml             # then: promtool check rules outrider.rules.yml
outrider rules --job agents --console-url https://outrider.example.com
outrider rules --format operator > rule.yaml    # then: kubectl apply -f rule.yaml""",
    arguments=declare,
    run=run,
)
