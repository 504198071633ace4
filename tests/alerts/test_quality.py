"""Test what a decided episode adds to the totals."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec
import pytest

from alerts.labels import OTHER, Labels
from alerts.metrics import family_of
from alerts.quality import QualityMeter, error_name
from collector.model import (
    Conversation,
    Decided,
    DecisionRecord,
    LlmCall,
    Sampling,
    ScoreRecord,
    ToolCall,
    Usage,
    VerdictName,
)
from collector.totals import Deltas, SeriesKey, series
from tests.build import agent, conversation, identity, user

WHO = (
    ("agent", "shop"),
    ("agent_version", "v1"),
    ("environment", "prod"),
    ("variant", "production"),
)
BASE = conversation(
    user("Hi"), agent("Hello"), who=identity("shop", agent_version="v1", environment="prod")
)


def score(verdict: VerdictName, value: float | None = None, **more: Any) -> ScoreRecord:
    """Build a score."""
    return ScoreRecord(
        **{
            "score_id": "s",
            "conversation_id": "conv-1",
            "episode": 1,
            "level": "conversation",
            "target": "",
            "scorer": "looping",
            "scorer_version": "2",
            "verdict": verdict,
            "value": value,
            **more,
        }
    )


def rises(
    first: Sequence[ScoreRecord] = (),
    revised: Sequence[tuple[ScoreRecord, ScoreRecord]] = (),
    *,
    calls: Sequence[ToolCall] = (),
    llm_calls: Sequence[LlmCall] = (),
    decisions: Sequence[DecisionRecord] = (),
    revision: int = 0,
    base: Conversation = BASE,
    labels: Labels | None = None,
) -> Deltas:
    """Return the deltas of one decided episode."""
    decided = Decided(
        episode_id="e",
        conversation=msgspec.structs.replace(
            base, tool_calls=tuple(calls), llm_calls=tuple(llm_calls)
        ),
        revision=revision,
        decided_ns=1,
        sampling=Sampling(kept=True, probability=1.0, rule="hash"),
        scores=tuple(first),
        decisions=tuple(decisions),
    )
    deltas = QualityMeter(labels or Labels(100)).deltas(decided, first, revised)
    assert_in_catalogue(deltas)
    return deltas


def assert_in_catalogue(deltas: Deltas) -> None:
    """Hold that every series is one of the catalogue's with exactly its labels in its order."""
    for name, pairs in deltas:
        metric = family_of(name)
        assert metric is not None, name
        labels = tuple(label for label, _ in pairs)
        expected = (*metric.labels, "le") if name.endswith("_bucket") else metric.labels
        assert labels == expected, name


def value_of(deltas: Deltas, name: str, **labels: str) -> float:
    """Sum the series of a metric that carry these labels."""
    wanted = {(k.rstrip("_"), v) for k, v in labels.items()}
    return sum(v for (n, pairs), v in deltas.items() if n == name and wanted <= set(pairs))


def names(deltas: Deltas) -> set[str]:
    """Return the metric names that occur."""
    return {name for name, _ in deltas}


def test_verdicts_are_counted_once_each() -> None:
    """Pass and fail are scores with a value; a skip is neither."""
    deltas = rises([score("pass", 1.0), score("fail", 0.25, target="a"), score("skip", target="b")])
    key: SeriesKey = (
        "scores_total",
        (*WHO, ("scorer", "looping"), ("scorer_version", "2"), ("verdict", "fail")),
    )
    assert deltas[key] == 1.0
    assert value_of(deltas, "scores_total") == 2.0
    assert value_of(deltas, "score_value_count") == 2.0
    assert value_of(deltas, "score_value_sum") == 1.25
    assert value_of(deltas, "score_value_bucket", le="0.3") == 1.0
    assert value_of(deltas, "score_value_bucket", le="1.0") == 1.0


def test_a_failure_is_never_a_verdict() -> None:
    """A scorer that could not work is counted with its error's class and nowhere else."""
    deltas = rises([score("failure", reason="TypeError: 'x' is not a number")])
    assert value_of(deltas, "score_failures_total", scorer="looping", error="TypeError") == 1.0
    assert not {"scores_total", "score_value_count"} & names(deltas)
    assert error_name("something went wrong with mia: x") == "unknown"


def test_a_revision_corrects_and_does_not_count_again() -> None:
    """A later verdict goes to the revisions; episode, calls and ledger are not counted twice."""
    deltas = rises(
        [score("pass", 1.0, target="new")],
        [(score("pass", 1.0), score("fail", 0.0)), (score("fail", 0.1), score("fail", 0.2))],
        calls=[ToolCall(name="refund")],
        llm_calls=[LlmCall(model="m", usage=Usage(input=5))],
        decisions=[_ledger_row()],
        revision=1,
    )
    key: SeriesKey = (
        "score_revisions_total",
        (("scorer", "looping"), ("from", "pass"), ("to", "fail")),
    )
    assert deltas[key] == 1.0
    assert value_of(deltas, "score_revisions_total") == 1.0
    assert value_of(deltas, "scores_total") == 1.0
    assert not {
        "episodes_total",
        "tool_calls_total",
        "llm_tokens_total",
        "decisions_total",
    } & names(deltas)


def test_episode_and_ledger() -> None:
    """An episode counts once for who spoke, and each ledger row once."""
    deltas = rises(decisions=[_ledger_row()])
    assert deltas[("episodes_total", WHO)] == 1.0
    assert value_of(deltas, "decisions_total", decision="skipped", reason="no_tools") == 1.0


def test_tool_calls_by_outcome() -> None:
    """The producer's flag decides, else what the result says; the user's tools are left out."""
    deltas = rises(
        calls=[
            ToolCall(name="refund", arguments={}, result="done", started_ns=1, ended_ns=2 * 10**9),
            ToolCall(name="refund", arguments={}, result="Error: no such order"),
            ToolCall(name="refund", arguments={}, result="done", is_error=True),
            ToolCall(name="refund", is_error=False),
            ToolCall(name="refund"),
            ToolCall(name="toggle", requestor="user"),
            ToolCall(name="refund", simulated=True),
        ]
    )
    by_outcome = {
        outcome: value_of(deltas, "tool_calls_total", tool="refund", outcome=outcome)
        for outcome in ("ok", "error", "unknown")
    }
    assert by_outcome == {"ok": 2.0, "error": 2.0, "unknown": 1.0}
    assert value_of(deltas, "tool_calls_total") == 5.0
    assert value_of(deltas, "tool_call_duration_seconds_count") == 1.0
    assert value_of(deltas, "tool_call_duration_seconds_bucket", le="2.5") == 1.0
    assert value_of(deltas, "content_expected_total", kind="arguments") == 5.0
    assert value_of(deltas, "content_seen_total", kind="arguments") == 3.0
    assert value_of(deltas, "content_seen_total", kind="result") == 3.0


def test_tool_health() -> None:
    """Failures count by kind, results by their size, and calls for what was in hand."""
    calls = [
        ToolCall(name="find", arguments={"n": 1}, result="x" * 41),
        ToolCall(name="find", arguments={"n": 1}, result="x" * 41),
        ToolCall(name="find", result='{"status": 503, "error": "down"}', is_error=True),
        ToolCall(name="refund", result="Error: request timed out"),
        ToolCall(name="refund", result="Error: invalid order id", requestor="user"),
    ]
    deltas = rises(calls=calls)
    assert value_of(deltas, "tool_errors_total", tool="find", kind="unavailable") == 1.0
    assert value_of(deltas, "tool_errors_total", tool="refund", kind="timeout") == 1.0
    assert value_of(deltas, "tool_errors_total") == 2.0
    assert value_of(deltas, "tool_result_tokens_total", tool="find") == 11 + 11 + 8
    assert value_of(deltas, "tool_calls_redundant_total", agent="shop", tool="find") == 1.0


def test_tokens_cost_and_coverage() -> None:
    """Tokens count by model and kind, cost as stated, and calls without content are seen."""
    usage = Usage(input=100, output=20, cache_read=60)
    deltas = rises(
        llm_calls=[
            LlmCall(model="m", usage=usage, cost_usd=0.5, has_input=True),
            LlmCall(model="m", usage=usage, has_input=True, has_output=True),
            LlmCall(model="other-model"),
        ]
    )
    assert value_of(deltas, "llm_tokens_total", model="m", kind="input") == 200.0
    assert value_of(deltas, "llm_tokens_total", kind="cache_read") == 120.0
    assert value_of(deltas, "llm_tokens_total", kind="cache_write") == 0.0
    assert value_of(deltas, "llm_cost_usd_total", agent="shop", model="m") == 0.5
    assert value_of(deltas, "content_expected_total", kind="output") == 3.0
    assert value_of(deltas, "content_seen_total", kind="output") == 1.0


def test_the_last_stored_trace_is_the_exemplar() -> None:
    """A series points to the trace of its last verdict, if that trace can be looked at."""
    meter = QualityMeter(Labels(9))
    for trace, kept in (("a" * 32, True), ("b" * 32, True), ("c" * 32, False)):
        decided = Decided(
            episode_id="e",
            conversation=BASE,
            decided_ns=1,
            sampling=Sampling(kept=kept, probability=0.5, rule="hash"),
        )
        meter.deltas(decided, [score("pass", 1.0, trace_id=trace)], ())
    assert list(meter.exemplars.values()) == ["b" * 32]


def test_labels_are_capped() -> None:
    """The tool that comes after the limit is counted as other."""
    calls = [ToolCall(name=f"tool-{n}") for n in range(4)]
    deltas = rises(calls=calls, labels=Labels(2))
    assert value_of(deltas, "tool_calls_total", tool=OTHER) == 2.0


def _ledger_row() -> DecisionRecord:
    return DecisionRecord(
        conversation_id="conv-1",
        episode=1,
        scorer="tool_calls",
        scorer_version="1",
        decision="skipped",
        reason="no_tools",
    )


@pytest.mark.parametrize(
    ("usage", "cost_usd", "told"),
    [
        (Usage(input=90, output=10), 0.5, (400.0, 2.0)),
        (Usage(input=90, output=-10), -0.5, (360.0, None)),
    ],
    ids=["usual", "below nought"],
)
def test_what_loops_cost(usage: Usage, cost_usd: float, told: tuple[float, float | None]) -> None:
    """A loop's model calls count their tokens and cost where the verdict is a loop, and none below nought."""
    second = 1_000_000_000
    calls = tuple(
        ToolCall(
            name="find", arguments={}, result="1", asked_at=-1, started_ns=(2 * n + 2) * second
        )
        for n in range(5)
    )
    models = tuple(
        LlmCall(ended_ns=(2 * n + 1) * second, usage=usage, cost_usd=cost_usd) for n in range(5)
    )
    talk = msgspec.structs.replace(BASE, tool_calls=calls, llm_calls=models)

    def counted(verdict: VerdictName) -> Deltas:
        decided = Decided(
            episode_id="e",
            conversation=talk,
            decided_ns=1,
            sampling=Sampling(kept=True, probability=1.0, rule="hash"),
            scores=(score(verdict, 0.0),),
        )
        return QualityMeter(Labels(limit=10)).deltas(decided, [], [])

    found = counted("fail")
    assert (
        tuple(
            found.get(series(name, agent="shop"))
            for name in ("loop_tokens_total", "loop_cost_usd_total")
        )
        == told
    )
    assert "loop_tokens_total" not in names(counted("pass"))
