"""Write what was measured as docs/alarms.md."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import msgspec

from bench.detectors.measured import HOURS, WATCHED, Delay, Quiet
from bench.detectors.traffic import KINDS, PER_HOUR, USUAL, Kind
from bench.detectors.watchers import Watcher
from collector.commands.markdown import table

WORSE = (0.13, 0.15, 0.20, 0.30)
"""Failure rates after the change."""


class Row(msgspec.Struct, frozen=True, kw_only=True):
    """What one watcher did."""

    watcher: Watcher
    quiet: Mapping[Kind, Quiet]
    delays: Sequence[Delay]
    """By ``WORSE``."""


def page(
    rows: Sequence[Row],
    *,
    command: str,
    date: str,
    seed: int,
    quiet_runs: int,
    delay_runs: int,
    problems: Sequence[str] = (),
) -> str:
    """Return the whole document."""
    even = [
        (row.watcher.name, _between(row.quiet["even"]), *map(_wait, row.delays)) for row in rows
    ]
    shares = [(row.watcher.name, *(_share(row.quiet[kind]) for kind in KINDS)) for row in rows]
    notes = "".join(f"- {row.watcher.name}: {row.watcher.note}.\n" for row in rows)
    kinds = "".join(f"- *{kind}*: {text}.\n" for kind, text in KINDS.items())
    missing = "".join(f"- {problem}\n" for problem in problems)
    return (
        "# How the alarms compare\n\n"
        f"Simulated by `{command}` on {date}, seed {seed}; do not edit. How an alarm comes about is in"
        " [alerts.md](alerts.md); what to expect of your own traffic says `outrider explain`.\n\n"
        f"An agent has {PER_HOUR} conversations an hour, of which {100 * USUAL:.0f} % fail while all is"
        " well. All methods see the same verdicts: a first day that counts for none of them (Outrider"
        f" learns, windows fill), then {quiet_runs} healthy runs of {WATCHED} days, and for each change"
        f" {delay_runs} runs with a second healthy day, whose failure rate then rises at once. ± is one"
        " standard error.\n\n"
        "## False alarms and delays\n\n"
        "Independent verdicts. Time between false alarms, and hours from the change until the alarm; a run"
        f" without one within {HOURS} hours counts as {HOURS}, and how many there were is in brackets. Runs in"
        " which an alarm was on already when the change came are left out.\n\n"
        + table(
            (
                "method",
                "between false alarms",
                *(f"{100 * USUAL:.0f} → {100 * worse:.0f} % fail, hours" for worse in WORSE),
            ),
            even,
        )
        + f"\n{notes}\n"
        "A window or a test is quick because it is often wrong: the time between its false alarms follows from"
        " traffic, rate and limit together, and nobody chooses it. What *as shipped* loses against *rate known*"
        " is the price of a reference of one day, of a tolerance of half a point, and of the half of the budget"
        " that versions have. ADWIN needs no reference and finds small rises sooner than a detector that learned"
        " for a day; it has no budget to set, takes what it found for the new normal, and does not tell a daily"
        " cycle from a change.\n\n"
        "## Traffic that is not independent\n\n"
        f"Probability of a false alarm within {WATCHED} healthy days.\n\n"
        + table(("method", *KINDS), shares)
        + f"\n{kinds}\n"
        f"A budget of 90 days allows {100 * (1 - math.exp(-WATCHED / 90)):.0f} % in {WATCHED} days. Where"
        " users have more conversations in a row than here, or are more alike, expect more false alarms than the"
        " budget says.\n" + (f"\n## What could not be measured\n\n{missing}" if missing else "")
    )


def _between(quiet: Quiet) -> str:
    if not quiet.alarms:
        return f"none in {quiet.runs * WATCHED:,} days"
    days, error = quiet.days_between, quiet.days_error
    if days < 3:
        return f"{24 * days:.1f} ± {24 * error:.1f} h"
    return f"{days:,.0f} ± {error:,.0f} days"


def _wait(delay: Delay) -> str:
    missed = f" ({delay.missed} missed)" if delay.missed else ""
    return f"{delay.mean:.2f} ± {delay.error:.2f}{missed}"


def _share(quiet: Quiet) -> str:
    return f"{100 * quiet.share:.0f} ± {100 * quiet.share_error:.0f} %"
