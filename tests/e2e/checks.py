"""Hold that what was sent came out once: scored, counted, written down."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from collector.config import RedactConfig
from collector.model import Conversation
from collector.redactor import Redactor
from collector.stores.export import What
from collector.totals import SeriesKey
from scorers.registry import configured
from scorers.runner import Runner

ScoreKey = tuple[str, str, str, str]
"""Conversation, scorer, level, target."""
Rows = list[dict[str, Any]]

AS_OFTEN_AS_IT_TAKES = frozenset(
    {
        "spans_received_total",  # resends included
        "spans_duplicate_total",
        "stage_items_total",  # what became of resends
        "requests_rejected_total",  # bodies that broke off
        "store_rows_total",  # at least once
        "store_errors_total",
        "redactions_total",  # of text that was read again
        "failure_rate_errors_total",
        "detector_errors_total",
        "notification_errors_total",
    }
)
"""Totals that a crash, or a sender that tries again, may rightly raise."""


def expected(conversations: Sequence[Conversation]) -> dict[ScoreKey, tuple[Any, ...]]:
    """Score transcripts as ``outrider score`` does."""
    runner = Runner(configured({}), clock_ns=lambda: 0, seconds=time.perf_counter)
    redactor = Redactor(RedactConfig().kinds)
    scores: dict[ScoreKey, tuple[Any, ...]] = {}
    for conversation in conversations:
        for score in runner.run(conversation)[0]:
            key = (score.conversation_id, score.scorer, score.level, score.target)
            assert key not in scores
            scores[key] = (score.verdict, score.value, redactor.text(score.reason))
    return scores


def keyed(rows: Iterable[Mapping[str, Any]]) -> dict[ScoreKey, tuple[Any, ...]]:
    """Key exported or stored scores; no key may stand twice."""
    scores: dict[ScoreKey, tuple[Any, ...]] = {}
    for row in rows:
        key = (row["conversation_id"], row["scorer"], row["level"], row["target"])
        assert key not in scores
        scores[key] = (row["verdict"], row["value"], row["reason"])
    return scores


def check_exports(export: Callable[[What], Rows], conversations: Sequence[Conversation]) -> None:
    """Hold that every conversation is stored once, scored as offline, and in the ledger."""
    assert keyed(export("scores")) == expected(conversations)
    heads = Counter((row["conversation_id"], row["episode"]) for row in export("conversations"))
    assert heads == {(c.id, 1): 1 for c in conversations}
    ledger = Counter(
        (row["conversation_id"], row["episode"], row["scorer"]) for row in export("decisions")
    )
    assert ledger == {(c.id, 1, s.name): 1 for c in conversations for s in configured({})}
    observations = export("observations")
    observed = [(row["conversation_id"], row["scorer"]) for row in observations]
    assert len(observed) == len(set(observed))
    numbers = sorted(row["sequence"] for row in observations)
    assert numbers == list(range(1, len(numbers) + 1))


def check_counts(total: Callable[[str], float], conversations: Sequence[Conversation]) -> None:
    """Hold that every episode and every verdict was counted once."""
    assert total("episodes_total") == len(conversations)
    verdicts = [v for v in expected(conversations).values() if v[0] in ("pass", "fail")]
    assert total("scores_total") == len(verdicts)


def counted_once(totals: Mapping[SeriesKey, float]) -> dict[SeriesKey, float]:
    """Leave out what may rightly be counted again; what is left is the same after any crash."""
    return {
        (name, tuple(sorted(pairs))): value
        for (name, pairs), value in totals.items()
        if name not in AS_OFTEN_AS_IT_TAKES
    }
