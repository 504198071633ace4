"""Test the metric catalogue itself."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from alerts.metrics import CATALOGUE, docs_rows, family_of

ROOT = Path(__file__).parent.parent.parent


def test_names_follow_the_exposition_format() -> None:
    """Counters end in _total and nothing else does; a unit is part of the name; labels are words."""
    for name, metric in CATALOGUE.items():
        assert re.fullmatch(r"[a-z][a-z0-9_]*", name)
        assert name.endswith("_total") == (metric.kind == "counter"), name
        assert name.removesuffix("_total").endswith(metric.unit), name
        assert all(re.fullmatch(r"[a-z][a-z_]*", label) for label in metric.labels)
        assert len(set(metric.labels)) == len(metric.labels)
        assert metric.help.endswith(".")
        assert (metric.kind == "histogram") == bool(metric.buckets)
        assert list(metric.buckets) == sorted(metric.buckets)


def test_no_label_names_a_person_or_a_session() -> None:
    """Nothing unbounded is ever a label."""
    forbidden = {
        "user",
        "session",
        "trace",
        "trace_id",
        "conversation",
        "conversation_id",
        "target",
    }
    assert not any(forbidden & set(metric.labels) for metric in CATALOGUE.values())


def test_series_find_their_family() -> None:
    """Histogram parts belong to their histogram, everything else to itself."""
    assert family_of("score_value_bucket") is CATALOGUE["score_value"]
    assert family_of("score_value_sum") is CATALOGUE["score_value"]
    assert family_of("scores_total") is CATALOGUE["scores_total"]
    assert family_of("score_value") is None
    assert family_of("scores_total_bucket") is None
    assert family_of("unheard_of") is None


@pytest.mark.parametrize("package", ["collector", "alerts", "scorers"])
def test_every_total_that_code_names_is_listed(package: str) -> None:
    """Whoever counts something new has to say here what it means."""
    text = "".join(path.read_text("utf-8") for path in (ROOT / package).rglob("*.py"))
    named = set(re.findall(r'"([a-z][a-z0-9_]*_total)"', text))
    assert sorted(named - set(CATALOGUE)) == []


def test_docs_list_every_metric() -> None:
    """The table of the docs has one row per metric with the full name."""
    rows = docs_rows()
    assert len(rows) == len(CATALOGUE)
    assert rows[0][0] == "`outrider_scores_total`"
    assert "`verdict`" in rows[0][2]
