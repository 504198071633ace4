"""Test how outcomes and labels are read from JSON."""

from __future__ import annotations

import json
from contextlib import suppress
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from collector.errors import MalformedError, OversizedError
from collector.hindsight import LONGEST_NAME, About, Label, Outcome
from collector.hindsight_forms import MOST, labels, outcomes

NOW_NS = 1_790_000_000 * 1_000_000_000


def outcome(**more: Any) -> dict[str, Any]:
    """Write an outcome that can be used."""
    return {"conversation_id": "c", "name": "refund_issued", "value": True, **more}


def label(**more: Any) -> dict[str, Any]:
    """Write a label that can be used."""
    return {"conversation_id": "c", "scorer": "false_success", "verdict": "fail", **more}


def read_outcomes(value: Any) -> list[Outcome]:
    """Read what a request holds, all of which can be used."""
    found = outcomes(json.dumps(value).encode(), lines=False, now_ns=NOW_NS)
    assert found.faults == []
    return found.records


def read_labels(value: Any) -> list[Label]:
    """Read what a request holds, all of which can be used."""
    found = labels(json.dumps(value).encode(), lines=False, now_ns=NOW_NS)
    assert found.faults == []
    return found.records


def test_one_and_many() -> None:
    """An object is one, an array many, and lines are many of their own."""
    whole = outcome(
        source="billing",
        call_id="call_1",
        tool="refund",
        id="r-1",
        at="2026-03-01T12:00:00+01:00",
        tenant="acme",
        environment="live",
        variant="canary",
        episode=2,
    )
    expected = Outcome(
        about=About(
            conversation_id="c", tenant="acme", environment="live", variant="canary", episode=2
        ),
        name="refund_issued",
        value=True,
        source="billing",
        call_id="call_1",
        tool="refund",
        id="r-1",
        at_ns=1_772_362_800 * 1_000_000_000,
    )
    assert read_outcomes(whole) == [expected]
    assert read_outcomes([whole, whole]) == [expected, expected]
    lines = f"{json.dumps(whole)}\n\n{json.dumps(outcome())}\n".encode()
    found = outcomes(lines, lines=True, now_ns=NOW_NS)
    assert [record.source for record in found.records] == ["billing", ""]
    assert read_outcomes([]) == []


@pytest.mark.parametrize("value", [True, False, 0, 1, 2.5, -1e300, "pending", ""])
def test_values_keep_their_kind(value: Any) -> None:
    """A truth stays a truth, a number a number, a text a text."""
    [found] = read_outcomes(outcome(value=value))
    assert found.value == value
    assert isinstance(found.value, bool) == isinstance(value, bool)
    assert isinstance(found.value, str) == isinstance(value, str)


@pytest.mark.parametrize(
    ("at", "at_ns"),
    [
        ("2026-03-01T12:00:00Z", 1_772_366_400_000_000_000),
        ("2026-03-01 12:00:00.25+00:00", 1_772_366_400_250_000_000),
        (1_772_366_400, 1_772_366_400_000_000_000),
        (1_772_366_400.125, 1_772_366_400_125_000_000),
        (0, 0),
        (None, None),
    ],
)
def test_times(at: Any, at_ns: int | None) -> None:
    """A time is ISO 8601 with its zone, or Unix seconds; without one it is when it comes in."""
    assert read_outcomes(outcome(at=at))[0].at_ns == at_ns


@pytest.mark.parametrize(
    ("where", "level", "target"),
    [
        ({}, "conversation", ""),
        ({"turn": 0}, "turn", "0"),
        ({"turn": 12}, "turn", "12"),
        ({"call_id": "call_1"}, "tool_call", "call_1"),
    ],
)
def test_targets(where: dict[str, Any], level: str, target: str) -> None:
    """A label is on the conversation, a turn or a call, in the words of a score."""
    [found] = read_labels(label(**where))
    assert (found.level, found.target) == (level, target)


def test_what_editors_and_scripts_leave() -> None:
    """A mark of the byte order is no part of a body, and half a character costs nothing else."""
    said = json.dumps(label(comment="cut \ud83d")).encode()
    for body in (b"\xef\xbb\xbf" + said, b"[" + said + b"]"):
        [found] = labels(body, lines=False, now_ns=NOW_NS).records
        assert found.comment == "cut \ufffd"


def test_a_label_says_something() -> None:
    """A verdict, a value or a category is enough; none of them is not."""
    for said in ({"verdict": "pass"}, {"value": 0.25}, {"category": "wrong tool"}):
        assert read_labels({"conversation_id": "c", "scorer": "tone", **said})
    with pytest.raises(MalformedError, match=r'^verdict: is missing; it must be "pass" or "fail"'):
        read_labels({"conversation_id": "c", "scorer": "tone"})


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (outcome(nmae="x"), "nmae: is not a key; did you mean name?"),
        (outcome(zzz=1), "zzz: is not a key; the keys are conversation_id, trace_id,"),
        ({"conversation_id": "c", "name": "n"}, "value: is missing; it must be true, false, a"),
        ({"conversation_id": "c", "value": 1}, "name: is missing; it must be a text of 1 to 256"),
        ({"name": "n", "value": 1}, "conversation_id: is missing; it must be a text of 1 to 1024"),
        (outcome(name=""), "name: must be a text of 1 to 256 characters"),
        (outcome(name=" \t"), "name: must be a text of 1 to 256 characters"),
        (outcome(trace_id="a" * 32 + "\n"), "trace_id: must be 32 lowercase hex digits"),
        (outcome(span_id="a" * 16 + "\n"), "span_id: must be 16 lowercase hex digits"),
        (outcome(name="x" * (LONGEST_NAME + 1)), "name: must be a text of 1 to 256 characters"),
        (outcome(value=None), "value: must be true, false, a finite number, or a text"),
        (outcome(value={"a": 1}), "value: must be true, false, a finite number, or a text"),
        (outcome(source=7), "source: must be a text of at most 256 characters"),
        (outcome(trace_id="0xAB"), "trace_id: must be 32 lowercase hex digits"),
        (outcome(episode=-1), "episode: must be a whole number from 1"),
        (outcome(at="yesterday"), "at: must be a time with its zone"),
        (outcome(at="2026-03-01T12:00:00"), "at: must be a time with its zone"),
        (outcome(at=-1), "at: must be a time with its zone"),
        (outcome(at=1e300), "at: must be a time with its zone"),
        (outcome(at="2039-01-01T00:00:00Z"), "at: must not lie in the future"),
        (5, "each must be a JSON object"),
        ("x", "each must be a JSON object"),
    ],
)
def test_what_is_wrong_with_an_outcome(wrong: Any, message: str) -> None:
    """The key and what it must be are named."""
    with pytest.raises(MalformedError) as caught:
        outcomes(json.dumps(wrong).encode(), lines=False, now_ns=NOW_NS)
    assert str(caught.value).startswith(message)
    found = outcomes(json.dumps([outcome(), wrong]).encode(), lines=False, now_ns=NOW_NS)
    assert len(found.records) == 1
    [fault] = found.faults
    assert fault.index == 1
    assert fault.error.startswith(message)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (label(verdict="good"), 'verdict: must be "pass" or "fail"'),
        (label(value=True), "value: must be a finite number"),
        (label(value="0.5"), "value: must be a finite number"),
        (label(turn="3"), "turn: must be a whole number, counted from 0"),
        (label(turn=1, call_id="x"), "turn: a label is on a turn or on a call"),
        (label(autor="ana"), "autor: is not a key; did you mean author?"),
    ],
)
def test_what_is_wrong_with_a_label(wrong: Any, message: str) -> None:
    """The key and what it must be are named."""
    with pytest.raises(MalformedError) as caught:
        labels(json.dumps(wrong).encode(), lines=False, now_ns=NOW_NS)
    assert str(caught.value).startswith(message)


@pytest.mark.parametrize("body", [b"", b"{", b"[1,", b"[" * 100_000, b"\xff", b"[]x"])
def test_no_json(body: bytes) -> None:
    """A body that is no JSON is refused as a whole."""
    with pytest.raises(MalformedError, match="must be"):
        outcomes(body, lines=False, now_ns=NOW_NS)


def test_a_broken_line_costs_no_other() -> None:
    """Of JSON lines only those that are broken are left out."""
    good = json.dumps(outcome()).encode()
    found = outcomes(b"\n".join([good, b"{", good, b"\xff"]), lines=True, now_ns=NOW_NS)
    assert len(found.records) == 2
    assert [fault.index for fault in found.faults] == [1, 3]


@pytest.mark.parametrize("many", [b"1," * (65 * MOST) + b"1", b",".join([b"{}"] * (MOST + 1))])
def test_too_many(many: bytes) -> None:
    """More than a request may hold are refused before they are looked at."""
    with pytest.raises(OversizedError, match="send several"):
        outcomes(b"[" + many + b"]", lines=False, now_ns=NOW_NS)


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=4,
)
_KEYS = st.sampled_from(
    ["conversation_id", "trace_id", "episode", "name", "value", "at", "scorer", "turn", "verdict"]
)


@given(st.lists(st.dictionaries(_KEYS | st.text(max_size=8), _JSON, max_size=5), max_size=3))
def test_any_json_is_read_or_refused(items: list[dict[str, Any]]) -> None:
    """Whatever the objects hold, each is used or told of, and what is used survives the journal."""
    body = json.dumps(items).encode()
    for read, kind in ((outcomes, Outcome), (labels, Label)):
        try:
            found: Any = read(body, lines=False, now_ns=NOW_NS)
        except MalformedError:
            continue  # a lone surrogate or a number that JSON does not know
        assert len(found.records) + len(found.faults) == len(items)
        again = msgspec.json.decode(msgspec.json.encode(found.records), type=list[kind])  # type: ignore[valid-type]
        assert again == found.records


@given(st.binary(max_size=200), st.booleans())
def test_any_bytes_are_read_or_refused(body: bytes, lines: bool) -> None:
    """Random bytes raise nothing but what says that they are no JSON."""
    for read in (outcomes, labels):
        with suppress(MalformedError, OversizedError):
            read(body, lines=lines, now_ns=NOW_NS)
