"""Test how outcomes and labels are read from log events."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from collector.dialects.hindsight_events import LABEL, OUTCOME, is_hindsight, told
from collector.hindsight import LONGEST_COMMENT, LONGEST_TEXT, About, Label, Outcome
from collector.telemetry import LogRecord

TRACE, SPAN = "1" * 32, "a" * 16


def event(name: str, *, trace: str = TRACE, body: Any = None, **attributes: Any) -> LogRecord:
    """Write an event; two underscores stand for a dot."""
    return LogRecord(
        time_ns=7,
        trace_id=trace,
        span_id=SPAN if trace else "",
        event_name=name,
        body=body,
        attributes={key.replace("__", "."): value for key, value in attributes.items()},
        resource={"service.name": "billing", "deployment.environment.name": "live"},
    )


def test_an_outcome() -> None:
    """Name and value are attributes; the conversation is named by its id, the source by its service."""
    found = told(
        event(
            OUTCOME,
            gen_ai__conversation__id="c",
            outrider__outcome__name="refund_issued",
            outrider__outcome__value=False,
            outrider__outcome__id="r-1",
            gen_ai__tool__call__id="call_1",
            gen_ai__tool__name="refund",
            outrider__tenant="acme",
        )
    )
    assert found == Outcome(
        about=About(conversation_id="c", trace_id=TRACE, span_id=SPAN, tenant="acme"),
        name="refund_issued",
        value=False,
        source="billing",
        call_id="call_1",
        tool="refund",
        id="r-1",
        at_ns=7,
    )


@pytest.mark.parametrize(
    ("value", "read"),
    [(True, True), ("False", False), (3, 3.0), (2.5, 2.5), ("late", "late"), ("7", "7")],
)
def test_values(value: Any, read: Any) -> None:
    """A boolean that an SDK wrote as text is one; other text stays text."""
    found = told(event(OUTCOME, outrider__outcome__name="n", outrider__outcome__value=value))
    assert isinstance(found, Outcome)
    assert found.value == read
    assert type(found.value) is type(read)


@pytest.mark.parametrize(
    ("said", "verdict", "category"),
    [
        ("pass", "pass", ""),
        ("Failed", "fail", ""),
        ("relevant", "", "relevant"),
        (None, "", ""),
    ],
)
def test_a_label(said: str | None, verdict: Any, category: str) -> None:
    """The standard's evaluation event is a label, whatever words it uses."""
    found = told(
        event(
            LABEL,
            gen_ai__evaluation__name="tone",
            gen_ai__evaluation__score__value=0.25,
            gen_ai__evaluation__score__label=said,
            gen_ai__evaluation__explanation="Curt.",
            outrider__label__author="ana",
            outrider__score__level="turn",
            outrider__score__target="2",
        )
    )
    assert found == Label(
        about=About(trace_id=TRACE, span_id=SPAN),
        scorer="tone",
        verdict=verdict,
        value=0.25,
        category=category,
        level="turn",
        target="2",
        author="ana",
        source="billing",
        comment="Curt.",
        at_ns=7,
    )


def test_a_body_with_attributes() -> None:
    """Attributes that an SDK puts into the body are read there."""
    body = {"gen_ai.evaluation.name": "tone", "gen_ai.evaluation.score.label": "pass"}
    found = told(event(LABEL, body=body))
    assert isinstance(found, Label)
    assert found.verdict == "pass"


@pytest.mark.parametrize(
    "record",
    [
        event(OUTCOME),
        event(OUTCOME, outrider__outcome__name="n"),
        event(OUTCOME, outrider__outcome__value=True),
        event(OUTCOME, outrider__outcome__name="n", outrider__outcome__value=float("nan")),
        event(OUTCOME, outrider__outcome__name="n", outrider__outcome__value=[1]),
        event(OUTCOME, outrider__outcome__name="n" * 300, outrider__outcome__value=1),
        event(OUTCOME, outrider__outcome__name="\ud800", outrider__outcome__value=1),
        event(OUTCOME, trace="", outrider__outcome__name="n", outrider__outcome__value=1),
        event(LABEL, gen_ai__evaluation__name="tone"),
        event(LABEL, gen_ai__evaluation__score__label="pass"),
    ],
)
def test_what_cannot_be_used(record: LogRecord) -> None:
    """Without a name, a value or a conversation there is nothing to write down."""
    assert is_hindsight(record)
    assert told(record) is None


def test_long_words_are_cut() -> None:
    """A text or comment over the limit is cut and says so."""
    outcome = told(
        event(OUTCOME, outrider__outcome__name="n", outrider__outcome__value="x" * 10_000)
    )
    label = told(
        event(
            LABEL,
            gen_ai__evaluation__name="n",
            gen_ai__evaluation__score__label="pass",
            gen_ai__evaluation__explanation="x" * 20_000,
        )
    )
    assert isinstance(outcome, Outcome)
    assert isinstance(label, Label)
    for words, longest in ((outcome.value, LONGEST_TEXT), (label.comment, LONGEST_COMMENT)):
        assert isinstance(words, str)
        assert len(words) == longest
        assert words.endswith("…[truncated]")


_VALUE = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.binary(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=5,
)
_KEY = st.sampled_from(
    [
        "outrider.outcome.name",
        "outrider.outcome.value",
        "outrider.outcome.id",
        "gen_ai.evaluation.name",
        "gen_ai.evaluation.score.value",
        "gen_ai.evaluation.score.label",
        "gen_ai.evaluation.explanation",
        "gen_ai.conversation.id",
        "outrider.score.level",
        "outrider.score.target",
        "service.name",
    ]
)


@given(
    st.sampled_from([OUTCOME, LABEL]),
    st.dictionaries(_KEY, _VALUE, max_size=8),
    _VALUE,
    st.dictionaries(_KEY, _VALUE, max_size=3),
)
def test_whatever_the_attributes_hold(
    name: str, attributes: dict[str, Any], body: Any, resource: dict[str, Any]
) -> None:
    """No event raises, and what is read can be written down."""
    record = LogRecord(
        time_ns=1, trace_id=TRACE, event_name=name, body=body, attributes=attributes,
        resource=resource,
    )  # fmt: skip
    found = told(record)
    if found is not None:
        assert msgspec.json.decode(msgspec.json.encode(found), type=type(found)) == found


def test_other_events_are_none() -> None:
    """Only these two events are read here."""
    assert not is_hindsight(event("gen_ai.user.message"))
