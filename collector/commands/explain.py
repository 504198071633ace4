"""Say how soon the detectors find a drop in somebody's traffic."""

from __future__ import annotations

import argparse
import random
import re
from typing import TYPE_CHECKING

import msgspec

from collector.commands.command import Command, add_config, config_of, rate
from collector.commands.detector_settings import add_settings, settings_from, share

if TYPE_CHECKING:
    from alerts.detectors.foresight import Foreseen, Found

_PER = {"": 1.0, "/h": 1.0, "/d": 24.0}
_DAY_H = 24.0


def run(arguments: argparse.Namespace) -> int:
    """Print the table of delays."""
    from alerts.detectors.foresight import foresee

    foreseen = foresee(
        arguments.rate,
        arguments.traffic,
        settings_from(arguments, config_of(arguments)),
        worse=arguments.to or (),
        rng=random.Random(arguments.seed) if arguments.simulate else None,  # noqa: S311 - repeatable
    )
    if arguments.json:
        print(msgspec.json.format(msgspec.json.encode(foreseen), indent=2).decode())
    else:
        print(text_of(foreseen))
    return 0


def text_of(seen: Foreseen) -> str:
    """Write what is foreseen for a person."""
    lines = [
        f"""\
One scorer of an agent: {_percent(seen.rate)} of {_number(seen.per_hour)} conversations an hour fail.
One false page in {_time(seen.budget_hours)} is accepted for the agent, which has {_scorers(seen.scorers)}.

  learns for       {_time(seen.learning_hours)}, {_number(seen.learning_conversations)} conversations; no alarm before
  no alarm up to   {_percent(seen.null_rate)}: upper 90 % bound of what was learned, plus detect.tolerance
  page, ticket     at {_number(seen.page_threshold)} and {_number(seen.ticket_threshold)} of evidence
""",
        *_table(seen),
        "",
        _verdict(seen),
    ]
    if seen.null_rate < 1.0 and not any(delay.simulated for delay in seen.delays):
        lines.append(
            "Times are averages by a formula that is up to a third too long; --simulate measures."
        )
    return "\n".join(lines)


def _table(seen: Foreseen) -> list[str]:
    simulated = any(delay.simulated for delay in seen.delays)
    header = ["fails after", "conversations", "page after", "ticket after"]
    if simulated:
        header += ["simulated page", "9 in 10 by", "runs"]
    rows = [header]
    for delay in seen.delays:
        row = [
            _percent(delay.rate),
            "-" if delay.page is None else _number(delay.page),
            _wait(delay.page, seen),
            _wait(delay.ticket, seen),
        ]
        if simulated:
            row += _measured(delay, seen)
        rows.append(row)
    widths = [max(len(row[k]) for row in rows) for k in range(len(header))]
    return [
        "  " + "   ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True))
        for row in rows
    ]


def _measured(delay: Found, seen: Foreseen) -> list[str]:
    if delay.simulated is None:
        return ["-", "-", "0"]
    found = delay.simulated
    spread = _time(found.standard_error / seen.per_hour)
    return [f"{_wait(found.mean, seen)} ± {spread}", _wait(found.p90, seen), str(found.runs)]


def _verdict(seen: Foreseen) -> str:
    if seen.null_rate >= 1.0:
        return "A scorer that fails nearly everything cannot get worse: nothing is watched."
    if seen.same_day is None:
        return (
            "Nothing pages within a day: even if every conversation failed there would be too few."
            " Accept more false pages (--budget), or wait longer than a day."
        )
    rise = f"a rise to {_percent(seen.same_day)} or more"
    if seen.only_big:
        return (
            f"Only big drops page within a day: {rise}. With this traffic and budget a smaller one"
            " takes longer."
        )
    return f"Within a day {rise} pages, on average."


def _wait(conversations: float | None, seen: Foreseen) -> str:
    return "hardly ever" if conversations is None else _time(conversations / seen.per_hour)


def _time(hours: float) -> str:
    if hours >= 2 * _DAY_H:
        return f"{hours / _DAY_H:,.{0 if hours >= 20 * _DAY_H else 1}f} days".replace(".0 ", " ")
    if hours >= 1:
        return f"{hours:.1f} h".replace(".0 ", " ")
    minutes = hours * 60
    return f"{minutes:.0f} min" if minutes >= 10 else f"{max(0.1, minutes):.1f} min"


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %".replace(".0 ", " ")


def _number(value: float) -> str:
    return f"{value:,.0f}" if value >= 10 else f"{value:,.3g}"


def _scorers(many: int) -> str:
    return "one scorer" if many == 1 else f"{many} scorers"


def traffic(text: str) -> float:
    """Read an argument that is conversations an hour: ``200``, ``200/h`` or ``4800/d``."""
    match = re.fullmatch(r"(.*?)(/[hd])?", text.strip())
    if match is None:
        raise argparse.ArgumentTypeError(f"expected such as 200, 200/h or 4800/d, got {text!r}")
    return rate(match[1]) / _PER[match[2] or ""]


def declare(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument(
        "--rate",
        type=share,
        required=True,
        metavar="SHARE",
        help="share of conversations that fail while all is well: 0.1 or 10%%; "
        "outrider_failure_rate has it",
    )
    parser.add_argument(
        "--traffic",
        type=traffic,
        required=True,
        metavar="N",
        help="conversations of the agent that are scored: 200 or 200/h an hour, 4800/d a day",
    )
    parser.add_argument(
        "--to",
        type=share,
        action="append",
        metavar="SHARE",
        help="failure rate after the change; may be given several times (default: some rises)",
    )
    add_settings(parser)
    parser.add_argument(
        "--simulate",
        action="store_true",
        help="let the detector meet each rise, 200 times: some seconds",
    )
    parser.add_argument(
        "--seed", type=int, default=1, metavar="N", help="of the simulation (default: 1)"
    )
    parser.add_argument("--json", action="store_true", help="print JSON instead of text")
    add_config(parser)


EXPLAIN = Command(
    name="explain",
    summary="say how soon a drop would be found in your traffic",
    description=(
        "Print how long the detectors take to find a rise of the failure rate, for your traffic and "
        "the false alarms you accept. Three numbers decide it: how often conversations fail when all "
        "is well, how many are scored an hour, and the budget. Twice the traffic finds the same drop "
        "in about half the time; twice the budget takes only a little longer; a rise twice as large is "
        "found three to four times as soon. It says so when only big drops can be found the same day."
    ),
    examples="""\
outrider explain --rate 10% --traffic 200 --budget 90d
outrider explain --rate 2% --traffic 480/d --simulate     # measured, not only computed
outrider explain --rate 0.1 --traffic 20 --to 0.2 --json""",
    arguments=declare,
    run=run,
)
