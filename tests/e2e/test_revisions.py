"""Content that comes late, elsewhere or twice ends in the right conversation and the right verdict."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from opentelemetry.proto.trace.v1.trace_pb2 import Span

from collector.config import Config, SampleConfig
from tests.e2e.instance import Clock, Instance
from tests.e2e.otlp import answered, asked, logs, record, said, span, traces

ASK = said("user", "Please cancel my order K-7.")
CANCEL = asked("cancel_order", "c1", order="K-7")
DONE = said("assistant", "I have cancelled your order K-7.")


@pytest.fixture
def clock() -> Clock:
    """Give a clock the test sets."""
    return Clock()


@pytest.fixture
def instance(tmp_path: Path, clock: Clock) -> Iterator[Instance]:
    """Give a fresh instance."""
    with Instance(tmp_path / "data", clock=clock) as instance:
        yield instance


def call(name: str, given: list[Any], reply: Any, *, trace: str = "t", **more: Any) -> Span:
    """Write one model call inside the conversation ``c``."""
    return span(
        name,
        trace=trace,
        parent=more.pop("parent", "root"),
        gen_ai__operation__name="chat",
        gen_ai__request__model="m",
        gen_ai__input__messages=given,
        gen_ai__output__messages=[reply],
        **more,
    )


def root(*, trace: str = "t", **more: Any) -> Span:
    """Write the agent's span of the conversation ``c``."""
    return span(
        "root",
        trace=trace,
        gen_ai__operation__name="invoke_agent",
        gen_ai__agent__name="shop",
        gen_ai__conversation__id="c",
        **more,
    )


def tool(*, at: float = 1.0, failed: bool = False, result: str = "ok", **more: Any) -> Span:
    """Write the span of the cancellation."""
    return span(
        "execute_tool cancel_order",
        parent="root",
        at=at,
        failed=failed,
        gen_ai__operation__name="execute_tool",
        gen_ai__tool__name="cancel_order",
        gen_ai__tool__call__id="c1",
        gen_ai__tool__call__arguments={"order": "K-7"},
        gen_ai__tool__call__result=result,
        **more,
    )


def verdicts(instance: Instance, scorer: str) -> list[tuple[str, int]]:
    """Return the current verdicts of one scorer with their revisions."""
    rows = instance.export("scores")
    return [(row["verdict"], row["revision"]) for row in rows if row["scorer"] == scorer]


def test_a_late_tool_result_changes_the_verdict_and_nothing_is_counted_twice(
    instance: Instance,
) -> None:
    """The failed tool span came after the decision: false success is found by the revision."""
    conversation = [
        root(seconds=5, outrider__conversation__end=True),
        call("one", [ASK], CANCEL, at=0.5),
        call("two", [ASK, CANCEL], DONE, at=3),
    ]
    instance.send([traces(*conversation)])
    instance.later(5)
    before = verdicts(instance, "false_success")
    counted = instance.total("scores_total")
    instance.send([traces(tool(failed=True, result="error: order is already shipped"))])
    instance.later(5)
    assert verdicts(instance, "false_success") == [("fail", 1)]
    assert before != [("fail", 0)]
    assert instance.total("score_revisions_total", scorer="false_success", to="fail") == 1
    assert instance.total("scores_total", scorer="false_success", verdict="fail") == 0
    assert instance.total("scores_total") >= counted
    assert instance.total("episodes_total") == 1
    assert instance.total("late_spans_total", result="late") == 1
    (head,) = instance.export("conversations")
    assert head["revision"] == 1
    assert head["tool_calls"][0]["result"].startswith("error")
    observed = [row["scorer"] for row in instance.export("observations")]
    assert len(observed) == len(set(observed))


def test_a_late_span_after_a_restart_still_revises(tmp_path: Path, clock: Clock) -> None:
    """What the revision needs is read again from the journal."""
    instance = Instance(tmp_path / "data", clock=clock)
    instance.send(
        [
            traces(
                root(seconds=5, outrider__conversation__end=True),
                call("one", [ASK], CANCEL, at=0.5),
                call("two", [ASK, CANCEL], DONE, at=3),
            )
        ]
    )
    instance.later(5)
    instance.export("scores")
    instance.abandon()
    with Instance(tmp_path / "data", clock=clock) as instance:
        instance.send([traces(tool(failed=True, result="error: order is already shipped"))])
        instance.later(5)
        assert verdicts(instance, "false_success") == [("fail", 1)]


def test_a_span_after_the_late_window_is_stored_and_counted(instance: Instance) -> None:
    """Ten minutes later the episode stays as it is."""
    instance.send([traces(root(outrider__conversation__end=True), call("one", [ASK], DONE))])
    instance.later(5)
    instance.export("scores")
    instance.later(700)
    instance.later(1)
    instance.send([traces(tool(at=0.5))])
    instance.later(5)
    (head,) = instance.export("conversations")
    assert head["revision"] == 0
    assert instance.total("late_spans_total", result="too_late") == 1
    (stored,) = instance.path.store.query("SELECT count() AS n FROM otel_traces FINAL")
    assert stored["n"] == 3


@pytest.mark.parametrize("order", ["logs first", "spans first"])
def test_content_in_log_records_of_another_request_is_found(instance: Instance, order: str) -> None:
    """Many SDKs put messages into events; they may come before or after their span."""
    spans = traces(
        root(seconds=5, outrider__conversation__end=True),
        span(
            "one",
            parent="root",
            at=1,
            gen_ai__operation__name="chat",
            gen_ai__request__model="m",
            gen_ai__usage__input_tokens=11,
            gen_ai__usage__output_tokens=7,
        ),
    )
    details = logs(
        record(
            "gen_ai.client.inference.operation.details",
            under="one",
            at=1,
            gen_ai__operation__name="chat",
            gen_ai__input__messages=[ASK],
            gen_ai__output__messages=[said("assistant", "Which order?")],
        )
    )
    if order == "logs first":
        instance.send([details], signal="logs")
        instance.send([spans])
    else:
        instance.send([spans])
        instance.send([details], signal="logs")
    instance.later(5)
    (head,) = instance.export("conversations")
    assert [m["text"] for m in head["messages"]] == [
        "Please cancel my order K-7.",
        "Which order?",
    ]
    assert len(head["llm_calls"]) == 1
    assert instance.total("llm_tokens_total") == 18


def test_a_span_sent_when_it_started_and_when_it_ended_is_one(instance: Instance) -> None:
    """The ended one wins, whichever order they come in."""
    started = call("one", [ASK], DONE, at=1, seconds=0.0)
    ended = call("one", [ASK], DONE, at=1, gen_ai__usage__input_tokens=5)
    last = root(seconds=5, outrider__conversation__end=True)
    instance.send([traces(started), traces(ended), traces(started), traces(last)])
    instance.later(5)
    (head,) = instance.export("conversations")
    assert len(head["llm_calls"]) == 1
    assert head["llm_calls"][0]["latency_s"] == pytest.approx(1.0)
    assert instance.total("spans_duplicate_total") == 2


def test_a_second_episode_is_judged_on_its_own_words(instance: Instance) -> None:
    """The customer comes back after an hour; the first hour is context, not judged again."""
    instance.send(
        [
            traces(
                root(seconds=5, outrider__conversation__end=True),
                call("one", [ASK], CANCEL, at=0.5),
                tool(),
                call("two", [ASK, CANCEL, answered("c1", "ok")], DONE, at=3),
            )
        ]
    )
    instance.later(3_600)
    history = [ASK, CANCEL, answered("c1", "ok"), DONE, said("user", "Thanks! Anything else?")]
    instance.send(
        [
            traces(
                root(trace="t2", at=3_600, outrider__conversation__end=True),
                call("three", history, said("assistant", "No."), trace="t2", at=3_600),
            )
        ]
    )
    instance.later(5)
    heads = {row["episode"]: row for row in instance.export("conversations")}
    assert sorted(heads) == [1, 2]
    assert heads[2]["first_message"] == 4
    assert len(heads[2]["messages"]) == 6
    assert heads[2]["tool_calls"] == []
    assert instance.total("episodes_total") == 2


def test_what_is_sampled_out_keeps_its_head_and_verdicts(tmp_path: Path, clock: Clock) -> None:
    """Sampling decides about content only."""
    config = Config(sample=SampleConfig(rate=0.0, keep_new_version=0, keep_errors=False))
    with Instance(tmp_path / "data", clock=clock, config=config) as instance:
        instance.send(
            [
                traces(
                    root(outrider__conversation__end=True),
                    call("one", [ASK], said("assistant", "Hm?")),
                )
            ]
        )
        instance.later(5)
        (head,) = instance.export("conversations")
        assert head["messages"] == []
        assert head["message_count"] == 2
        assert verdicts(instance, "looping")
        (stored,) = instance.path.store.query("SELECT count() AS n FROM otel_traces FINAL")
        assert stored["n"] == 0


def test_a_trace_without_an_agent_is_stored_as_a_plain_trace(instance: Instance) -> None:
    """A span no dialect knows is kept and counted, and makes no conversation."""
    instance.send([traces(span("GET /health", http__request__method="GET"))])
    instance.later(10)
    assert instance.export("conversations") == []
    assert instance.total("spans_plain_total") == 1
    (stored,) = instance.path.store.query("SELECT SpanName FROM otel_traces FINAL")
    assert stored["SpanName"] == "GET /health"


def test_own_telemetry_is_never_scored(instance: Instance) -> None:
    """A monitor that scores itself never stops."""
    instance.send([traces(root(), call("one", [ASK], DONE), service="outrider")])
    instance.later(1_000)
    assert instance.export("conversations") == []
    assert instance.total("spans_dropped_total", reason="own_telemetry") == 2


def test_secrets_are_nowhere_in_the_store(instance: Instance) -> None:
    """The gate stands before the store: messages, spans, reasons and heads."""
    address = "mira.lund@example.com"
    ask = said("user", f"Cancel K-7 and write to {address}")
    instance.send(
        [
            traces(
                root(seconds=5, outrider__conversation__end=True, user__email=address),
                call("one", [ask], asked("send_mail", "c2", to=address), at=1),
                call("two", [ask], said("assistant", f"I have written to {address}."), at=2),
            )
        ]
    )
    instance.later(5)
    instance.export("scores")
    for table in ("otel_traces", "conversations", "scores", "tool_calls", "turns"):
        rows = instance.path.store.query(f"SELECT * FROM {table}")  # noqa: S608 - our own names
        assert address not in str(rows)
        assert "lund" not in str(rows)
