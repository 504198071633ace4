"""Content that producers lose or cut is taken from where it stands again, and what is lost is said."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from opentelemetry.proto.trace.v1.trace_pb2 import Span

from tests.e2e.instance import Clock, Instance
from tests.e2e.otlp import answered, asked, logs, record, said, span, traces

ASKED = said("user", "Is my kettle in Ghent?")
CALL = asked("find_parcel", "c1", parcel="K-9", deep={"a": [1]})
RESULT = answered("c1", "In Ghent.")
REPLY = said("assistant", "Yes, since Monday.")
IDLE = 1_000.0


@pytest.fixture
def instance(tmp_path: Path) -> Iterator[Instance]:
    """Give a fresh instance."""
    with Instance(tmp_path / "data", clock=Clock()) as instance:
        yield instance


def only(instance: Instance) -> dict[str, Any]:
    """Decide everything and return the one conversation."""
    instance.later(IDLE)
    instance.later(IDLE)
    rows = instance.export("conversations")
    assert len(rows) == 1, [row["conversation_id"] for row in rows]
    return rows[0]


def chat(name: str, given: Any, reply: Any = None, *, at: float, **more: Any) -> Span:
    """Write the span of one model call."""
    if reply is not None:
        more["gen_ai__output__messages"] = reply
    return span(
        name,
        at=at,
        gen_ai__operation__name="chat",
        gen_ai__request__model="m",
        gen_ai__input__messages=given,
        **more,
    )


def spoken(row: dict[str, Any]) -> list[tuple[str, str]]:
    """Return who said what."""
    return [(m["role"], m["text"]) for m in row["messages"]]


def test_tool_spans_without_arguments(instance: Instance) -> None:
    """The arguments are those that the model asked with; its time and error are the span's."""
    instance.send(
        [
            traces(
                span("run", gen_ai__operation__name="invoke_agent"),
                chat("one", [ASKED], [CALL], at=1, parent="run"),
                span(
                    "execute_tool find_parcel",
                    at=3,
                    seconds=2,
                    parent="run",
                    gen_ai__operation__name="execute_tool",
                    gen_ai__tool__name="find_parcel",
                    gen_ai__tool__call__id="c1",
                ),
                chat("two", [ASKED, CALL, RESULT], [REPLY], at=6, parent="run"),
            )
        ]
    )
    (call,) = only(instance)["tool_calls"]
    assert call["arguments"] == {"parcel": "K-9", "deep": {"a": [1]}}
    assert call["result"] == "In Ghent."
    assert call["ended_ns"] - call["started_ns"] == 2_000_000_000


def test_streams_whose_span_ends_early(instance: Instance) -> None:
    """A span that ended before its stream did has no reply; the next call's history has it."""
    more = said("user", "And the lid?")
    instance.send(
        [
            traces(chat("one", [ASKED], at=1, seconds=0.001)),
            traces(chat("two", [ASKED, REPLY, more], [said("assistant", "Too.")], at=9)),
        ]
    )
    row = only(instance)
    assert spoken(row) == [
        ("user", "Is my kettle in Ghent?"),
        ("assistant", "Yes, since Monday."),
        ("user", "And the lid?"),
        ("assistant", "Too."),
    ]
    assert row["llm_call_count"] == 2


def test_streams_whose_span_never_ends(instance: Instance) -> None:
    """What an open span holds is decided in the end, and its end makes no second call of it."""
    instance.send([traces(chat("one", [ASKED], at=1, seconds=0))])
    instance.later(5)
    instance.send([traces(chat("one", [ASKED], [REPLY], at=1, seconds=4))])
    row = only(instance)
    assert spoken(row) == [
        ("user", "Is my kettle in Ghent?"),
        ("assistant", "Yes, since Monday."),
    ]
    assert [call["latency_s"] for call in row["llm_calls"]] == [4.0]


def test_streams_of_which_nothing_but_the_request_came(instance: Instance) -> None:
    """A call that never ended is there with what it was asked, and no time is made up."""
    instance.send([traces(chat("one", [ASKED], at=1, seconds=0))])
    row = only(instance)
    assert spoken(row) == [("user", "Is my kettle in Ghent?")]
    assert [call["latency_s"] for call in row["llm_calls"]] == [None]


def test_conversation_ids_on_some_spans(instance: Instance) -> None:
    """One span that names the conversation is enough for its trace, whichever it is."""
    more = said("user", "And the lid?")
    instance.send(
        [
            traces(
                span("run", gen_ai__operation__name="invoke_agent"),
                chat("one", [ASKED], [CALL], at=1, parent="run"),
                span(
                    "find_parcel",
                    at=3,
                    parent="run",
                    gen_ai__operation__name="execute_tool",
                    gen_ai__tool__name="find_parcel",
                    gen_ai__conversation__id="talk-7",
                ),
            ),
            traces(chat("two", [more], [REPLY], at=9, trace="other")),
        ]
    )
    details = "gen_ai.client.inference.operation.details"
    named = record(details, trace="other", under="two", at=9, gen_ai__conversation__id="talk-7")
    instance.send([logs(named)], signal="logs")
    row = only(instance)
    assert (row["conversation_id"], row["explicit"]) == ("talk-7", True)
    assert [text for _, text in spoken(row)][-2:] == ["And the lid?", "Yes, since Monday."]
    assert len(row["trace_ids"]) == 2


def flat(*messages: tuple[str, str], output: str = "") -> dict[str, Any]:
    """Write messages as OpenInference takes them apart."""
    found: dict[str, Any] = {"openinference__span__kind": "LLM"}
    for n, (role, words) in enumerate(messages):
        found[f"llm__input_messages__{n}__message__role"] = role
        found[f"llm__input_messages__{n}__message__content"] = words
    if output:
        found["llm__output_messages__0__message__role"] = "assistant"
        found["llm__output_messages__0__message__content"] = output
    return found


def limited(built: Span, *, oldest: bool = False, limit: int = 128) -> Span:
    """Leave attributes out as SDKs do: JavaScript's the newest, Python's the oldest."""
    dropped = len(built.attributes) - limit
    assert dropped > 0
    kept = built.attributes[dropped:] if oldest else built.attributes[:limit]
    del built.attributes[:]
    built.attributes.extend(kept)
    built.dropped_attributes_count = dropped
    return built


def test_the_limit_of_attributes_that_drops_the_output(instance: Instance) -> None:
    """The reply is taken from the next call's history, and the call is marked."""
    told = [("user" if n % 2 == 0 else "assistant", f"Line {n}.") for n in range(64)]
    talk: dict[str, Any] = {"session__id": "talk-7"}
    first = span("one", at=1, **flat(*told[:63], output="Line 63."), **talk)
    instance.send(
        [
            traces(limited(first, limit=127)),
            traces(span("two", at=5, **flat(*told[60:], ("user", "So?"), output="Yes."), **talk)),
        ]
    )
    row = only(instance)
    assert spoken(row) == [*told, ("user", "So?"), ("assistant", "Yes.")]
    assert [call["truncated"] for call in row["llm_calls"]] == [True, False]


def test_the_limit_of_attributes_that_drops_the_first_ones(instance: Instance) -> None:
    """Spans that lost even what says their convention are read by what is left of them."""
    told = [("user" if n % 2 == 0 else "assistant", f"Line {n}.") for n in range(71)]
    whole = span("one", at=1, **flat(*told[:61], output="Line 61."))
    cut = span("two", at=5, trace="t", **flat(*told, output="Line 71."))
    instance.send(
        [traces(whole, limited(cut, oldest=True), scope="openinference.instrumentation.x")]
    )
    row = only(instance)
    assert spoken(row) == [*told, ("assistant", "Line 71.")]
    assert [call["truncated"] for call in row["llm_calls"]] == [False, True]


def test_a_huge_span_costs_nothing_beside_it(instance: Instance) -> None:
    """A span of many megabytes is kept with its text, and so are the spans of its request."""
    huge = said("user", "x " * 6_000_000)
    instance.send(
        [
            traces(
                chat("one", [huge], [REPLY], at=1, gen_ai__conversation__id="huge"),
                chat("two", [ASKED], [REPLY], at=1, gen_ai__conversation__id="small"),
            )
        ]
    )
    instance.later(IDLE)
    instance.later(IDLE)
    rows = {row["conversation_id"]: row for row in instance.export("conversations")}
    assert rows.keys() == {"huge", "small"}
    assert [len(m["text"]) for m in rows["huge"]["messages"]] == [12_000_000, 18]


def cut(messages: list[Any], limit: int) -> str:
    """Write messages as an SDK does that limits the length of values."""
    return msgspec.json.encode(messages).decode()[:limit]


@pytest.mark.parametrize("limit", [350, 400, 500, 650])
def test_the_limit_of_lengths(instance: Instance, limit: int) -> None:
    """Each reply is there though histories are cut, none twice, and the calls are marked."""
    told = [
        said("user" if n % 2 == 0 else "assistant", f"{'long ' * 20}line {n}") for n in range(10)
    ]
    for at in range(1, 10, 2):
        instance.send(
            [
                traces(
                    chat(
                        f"call {at}",
                        cut(told[:at], limit),
                        cut(told[at : at + 1], limit),
                        at=at,
                        gen_ai__conversation__id="talk-7",
                    )
                )
            ]
        )
    row = only(instance)
    replies = [text[-6:] for role, text in spoken(row) if role == "assistant"]
    assert replies == [f"line {n}" for n in range(1, 10, 2)]
    assert [call["truncated"] for call in row["llm_calls"]][-1]


def test_a_reply_that_was_cut_is_taken_from_the_next_history(instance: Instance) -> None:
    """Where one call has half of a message and the next all of it, it is there once and whole."""
    words = "It is in Ghent, at the corner of the market, behind the green door."
    more = said("user", "Thanks!")
    instance.send(
        [
            traces(
                chat(
                    "one",
                    [ASKED],
                    cut([said("assistant", words)], 90),
                    at=1,
                    gen_ai__conversation__id="t",
                )
            ),
            traces(
                chat(
                    "two",
                    [ASKED, said("assistant", words), more],
                    [REPLY],
                    at=5,
                    gen_ai__conversation__id="t",
                )
            ),
        ]
    )
    assert spoken(only(instance)) == [
        ("user", "Is my kettle in Ghent?"),
        ("assistant", words),
        ("user", "Thanks!"),
        ("assistant", "Yes, since Monday."),
    ]
