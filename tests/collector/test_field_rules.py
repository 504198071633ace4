"""Test rules for fields: which fields they are about, and what becomes of what stood there."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from collector.configuration.keeping import FieldRule, RedactConfig
from collector.model import Decided, Evidence, Sampling, ScoreRecord
from collector.redaction import redactor_of
from collector.redactor import Redactor
from collector.telemetry import SpanEvent, SpanLink
from tests.build import agent, conversation, request, result, span, user

KEY = b"k" * 32
ALIAS = r"id-[0-9a-f]{16}"


def ruled(*rules: tuple[str, Any], key: bytes = KEY, **more: Any) -> Redactor:
    """Build a redactor with rules, each a field and an action."""
    fields = tuple(FieldRule(field=field, action=action) for field, action in rules)
    return redactor_of(RedactConfig(fields=fields, **more), key)


@pytest.mark.parametrize(
    ("field", "hit"),
    [
        ("user.id", {"user.id"}),
        ("id", {"user.id", "customer.id"}),
        ("customer.*", {"customer.id", "customer.name"}),
        ("USER.ID", {"user.id"}),
        ("cust", set()),
        ("ser.id", set()),
        ("*name", {"customer.name"}),
    ],
)
def test_a_field_is_known_by_the_end_of_its_path(field: str, hit: set[str]) -> None:
    """The last names must be equal, in any case of letters; a star stands for anything."""
    attributes = {"user.id": "u-77", "customer.id": "c-88", "customer.name": "Lund"}
    clean = ruled((field, "mask")).span(span("chat", attributes=dict(attributes))).attributes
    assert {name for name, value in clean.items() if value != attributes[name]} == hit
    assert all(clean[name] == "[masked]" for name in hit)


@pytest.mark.parametrize(
    ("action", "becomes"),
    [("mask", r"\[masked\]"), ("hash", "sha-[0-9a-f]{16}"), ("pseudonym", ALIAS)],
)
def test_actions(action: str, becomes: str) -> None:
    """A value is masked, hashed or gets an alias: the same for the same value, another for another."""
    redactor = ruled(("who", action))
    first, again, other = (
        redactor.span(span("s", attributes={"who": who})).attributes["who"]
        for who in ("Lund", "Lund", "Berg")
    )
    assert re.fullmatch(becomes, str(first))
    assert first == again
    assert (first == other) is (action == "mask")


def test_a_dropped_field_is_not_there_any_more() -> None:
    """Neither its name nor its value stays, inside JSON text either."""
    dirty = span("s", attributes={"note": "x", "args": '{"note": "secret", "n": 1}'})
    assert ruled(("note", "drop")).span(dirty).attributes == {"args": '{"n":1}'}


def test_a_pseudonym_hangs_on_the_key_and_a_hash_does_not() -> None:
    """Without the key nobody can tell whose alias it is; whoever has it groups the same people."""

    def of(action: str, key: bytes) -> Any:
        clean = ruled(("who", action), key=key).span(span("s", attributes={"who": "Lund"}))
        return clean.attributes["who"]

    assert of("pseudonym", KEY) == of("pseudonym", KEY) != of("pseudonym", b"other")
    assert of("hash", KEY) == of("hash", b"other")


def test_rules_reach_arguments_results_and_json_in_every_record() -> None:
    """Arguments as a value and as a string, results, events and resources go by the same rule."""
    arguments: Any = {"customer": {"email_hint": "lund-7"}, "n": 1}
    said = conversation(
        user("hello"),
        agent("", request("find", customer={"email_hint": "lund-7"}, n=1)),
        result("find", json.dumps({"rows": [arguments]})),
    )
    redactor = ruled(("customer.email_hint", "pseudonym"))
    clean = redactor.conversation(said)
    dirty = span(
        "s",
        attributes={
            "gen_ai.tool.call.arguments": json.dumps(arguments),
            "nested": json.dumps({"arguments": json.dumps(arguments)}),
            "map": arguments,
        },
        events=(SpanEvent(name="e", time_ns=1, attributes={"a": json.dumps([arguments])}),),
        resource={"owner": json.dumps(arguments)},
    )
    spelled = repr((clean, redactor.span(dirty)))
    assert "lund-7" not in spelled
    assert len(set(re.findall(ALIAS, spelled))) == 1
    assert clean.tool_calls[0].arguments == clean.messages[1].tool_requests[0].arguments


def test_what_a_rule_took_is_taken_from_texts_that_repeat_it() -> None:
    """Messages, reasons and quotes of the same episode say the alias; part of a word is no repeat."""
    said = conversation(
        user("I am C-4711, not C-47110"),
        agent("", request("find", customer_id="C-4711")),
        result("find", "C-4711 has no order"),
        agent("Nothing for C-4711."),
    )
    score = ScoreRecord(
        score_id="1",
        conversation_id="c",
        episode=1,
        level="conversation",
        target="",
        scorer="s",
        scorer_version="1",
        verdict="fail",
        reason='customer_id "C-4711" stands nowhere',
        evidence=(Evidence(message=0, quote="I am C-4711"),),
    )
    decided = Decided(
        episode_id="e",
        conversation=said,
        decided_ns=1,
        sampling=Sampling(kept=True, probability=1.0, rule="hash"),
        scores=(score,),
    )
    redactor = ruled(("customer_id", "pseudonym"))
    clean = redactor.decided(decided)
    assert clean.conversation.messages[0].text.endswith(", not C-47110")
    spelled = repr(clean).replace("C-47110", "")
    assert "C-4711" not in spelled
    assert len(set(re.findall(ALIAS, spelled))) == 1
    assert redactor.decided(clean) == clean


@pytest.mark.parametrize("holder", ["attributes", "event", "link", "resource"])
def test_what_a_rule_took_is_taken_from_the_rest_of_the_span(holder: str) -> None:
    """Whatever part of a span held a value, its names and the texts of all other parts say the alias."""
    parts: dict[str, dict[str, Any]] = {
        part: {"note": "for Lund-17"} for part in ("attributes", "event", "link")
    }
    parts["resource"] = {}
    parts[holder]["owner"] = "Lund-17"
    dirty = span(
        "ask Lund-17",
        attributes=parts["attributes"],
        resource=parts["resource"],
        events=(SpanEvent(name="to Lund-17", time_ns=1, attributes=parts["event"]),),
        links=(
            SpanLink(trace_id="1" * 32, span_id="2" * 16, trace_state="", attributes=parts["link"]),
        ),
        status_message="Lund-17 is not there",
    )
    spelled = repr(ruled(("owner", "pseudonym")).span(dirty))
    assert "Lund-17" not in spelled
    assert len(re.findall(ALIAS, spelled)) == 7


def test_a_growing_history_is_ruled_alike() -> None:
    """Elements that come again give the same text and the same repeats as when they were new."""
    messages = [
        {
            "role": "user",
            "content": f"{n} " + "x" * 300,
            "user": f"lund-{n}",
            "note": f"of lund-{n}",
        }
        for n in range(6)
    ]
    redactor = ruled(("user", "pseudonym"))
    for length in range(1, 7):
        text = json.dumps(messages[:length])
        dirty = span("s", attributes={"messages": text, "said": f"to lund-{length - 1}"})
        assert redactor.span(dirty) == ruled(("user", "pseudonym")).span(dirty)
        assert "lund" not in repr(redactor.span(dirty))
    broken = span("s", attributes={"messages": json.dumps(messages)[:-1] + ", {]"})
    assert redactor.span(broken) == ruled(("user", "pseudonym")).span(broken)


@pytest.mark.timeout(20)
@pytest.mark.parametrize("name", ["." * 60_000, "a." * 30_000, "xy" * 30_000])
def test_hostile_names_cost_little(name: str) -> None:
    """Names made to make patterns backtrack, deep in one another, are done at once."""
    value: Any = {"note": "Lund"}
    for _ in range(40):
        value = {name: value}
    redactor = ruled(("*.x*y*z", "mask"), ("note", "mask"))
    assert "Lund" not in repr(redactor.span(span("s", attributes={"deep": value})))


@pytest.mark.timeout(20)
def test_a_rule_about_everything_costs_little() -> None:
    """Twenty thousand fields that all go are not looked for in each other."""
    attributes: Any = {f"a{n}": f"value number {n} " * 20 for n in range(10_000)}
    attributes["rows"] = json.dumps([{"n": f"item number {n}"} for n in range(10_000)])
    clean = ruled(("n", "mask"), ("a*", "pseudonym")).span(span("s", attributes=attributes))
    assert "number" not in repr(clean)


def test_what_rules_change_is_counted() -> None:
    """Each field that a rule changed counts once, beside what the kinds replaced."""
    redactor = ruled(("who", "mask"))
    redactor.span(span("s", attributes={"who": "Lund", "to": "mia@example.com", "n": 1}))
    assert redactor.redactions == {"field": 1, "email": 1}


def test_what_is_redacted_already_stays() -> None:
    """Rules that run twice, before the journal and before the store, do nothing the second time."""
    redactor = ruled(("a", "pseudonym"), ("b", "hash"), ("c", "mask"), ("d", "drop"))
    once = redactor.span(span("s", attributes={"a": "x1", "b": "x2", "c": "x3", "d": "x4", "n": 5}))
    assert redactor.span(once).attributes == once.attributes


def test_numbers_lists_and_nothing() -> None:
    """A number or a list is taken as it is written; nothing stays nothing."""
    redactor = ruled(("x", "pseudonym"))
    values: list[Any] = [42, 42.5, ["a", "b"], None, ""]
    clean = [redactor.value({"x": value}) for value in values]
    spans = [redactor.span(span("s", attributes={"x": v})).attributes["x"] for v in values]
    assert clean == [{"x": value} for value in values]
    assert [bool(re.fullmatch(ALIAS, str(v))) for v in spans] == [True, True, True, False, False]


def test_a_whole_record_field_can_be_dropped() -> None:
    """Arguments and results are fields too."""
    said = conversation(agent("", request("find", who="Lund")), result("find", "Lund is here"))
    clean = ruled(("arguments", "drop"), ("result", "mask")).conversation(said)
    assert clean.tool_calls[0].arguments is None
    assert clean.tool_calls[0].result == "[masked]"
    assert "Lund" not in repr(clean)
