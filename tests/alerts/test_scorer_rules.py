"""When it is told that a scorer does not do its work."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.alerts.promtool import DAY, JOB, rising, simulate, traffic

pytestmark = pytest.mark.slow


def test_a_few_failures_of_a_scorer_are_no_ticket(tmp_path: Path) -> None:
    """One failure among thirty verdicts is counted and wakes nobody."""
    failing = f'outrider_score_failures_total{{{JOB},scorer="looping",error="E"}}'
    simulate(tmp_path, {**traffic((120, 1.0)), failing: "0+0.1x119"}, {110: set()})


@pytest.mark.parametrize("scorer", ["looping", "other"])
def test_a_scorer_that_fails_opens_a_ticket(tmp_path: Path, scorer: str) -> None:
    """Failures on more than one in ten are told, also of a scorer that never reached a verdict."""
    failing = f'outrider_score_failures_total{{{JOB},scorer="{scorer}",error="E"}}'
    series = {**traffic((60, 1.0)), failing: "0+1x59"}
    simulate(tmp_path, series, {5: set(), 58: {"OutriderScorerFails"}})


def of_scorer(scorer: str, agent: str, *phases: tuple[int, float]) -> dict[str, str]:
    """Write the verdicts of a scorer on an agent."""
    name = f'outrider_scores_total{{{JOB},agent="{agent}",scorer="{scorer}",verdict="pass"}}'
    return {name: rising(*phases)}


def ledger(scorer: str, decision: str, *phases: tuple[int, float]) -> dict[str, str]:
    """Write a scorer's rows of the ledger."""
    name = f'outrider_decisions_total{{{JOB},scorer="{scorer}",decision="{decision}",reason=""}}'
    return {name: rising(*phases)}


SILENT = {"OutriderScorerSilent"}


@pytest.mark.parametrize("decision", ["skipped", "failed"])
def test_a_scorer_that_says_nothing_any_more_opens_a_ticket(tmp_path: Path, decision: str) -> None:
    """One that judged before and now skips or fails on every conversation of an agent is told, while others go on."""
    series = {
        **traffic((DAY + 600, 1.0)),
        **of_scorer("faithfulness", "atlas", (DAY, 1), (600, 0)),
        **ledger("faithfulness", "scored", (DAY, 1), (600, 0)),
        **ledger("faithfulness", decision, (DAY, 1), (600, 2)),
    }
    simulate(tmp_path, series, {DAY - 1: set(), DAY + 300: set(), DAY + 599: SILENT})


def test_a_scorer_of_another_agent_is_not_missed(tmp_path: Path) -> None:
    """An agent that rests at night takes its scorers' verdicts with it, and that is no fault."""
    other = f'outrider_episodes_total{{{JOB},agent="night"}}'
    series = {
        **traffic((DAY, 1.0), (700, 0.0)),
        **of_scorer("faithfulness", "atlas", (DAY, 1), (700, 0)),
        **of_scorer("looping", "night", (DAY + 700, 3)),
        **ledger("faithfulness", "scored", (DAY, 1), (700, 0)),
        **ledger("faithfulness", "skipped", (DAY, 1), (700, 3)),
        other: rising((DAY + 700, 3)),
    }
    simulate(tmp_path, series, {m: set() for m in range(DAY - 60, DAY + 700, 20)})


def test_a_scorer_that_seldom_applies_is_not_missed(tmp_path: Path) -> None:
    """Six hours without a verdict are usual where a day brings only a few."""
    series = {
        **traffic((DAY, 1.0)),
        **of_scorer("faithfulness", "atlas", *[(20, 0.1), (700, 0)] * 2),
        **ledger("faithfulness", "skipped", (DAY, 2)),
    }
    simulate(tmp_path, series, {m: set() for m in range(60, DAY, 60)})


def test_a_scorer_that_does_not_run_any_more_opens_a_ticket(tmp_path: Path) -> None:
    """One that looked at every conversation and now at none is told for a day, by that name alone; a night without conversations is not."""
    gone = {"OutriderScorerGone"}
    series = {
        **traffic((DAY, 1.0), (300, 0.0), (2 * DAY, 1.0)),
        **of_scorer("plugin", "atlas", (DAY, 1), (300, 0), (120, 1), (2 * DAY - 120, 0)),
        **ledger("plugin", "scored", (DAY, 1), (300, 0), (120, 1), (2 * DAY - 120, 0)),
        **ledger("looping", "scored", (DAY, 2), (300, 0), (2 * DAY, 2)),
    }
    left = DAY + 420
    expected = {m: set[str]() for m in range(60, left, 60)}
    simulate(tmp_path, series, {**expected, left + 200: gone, left + 900: gone, left + 1600: set()})
