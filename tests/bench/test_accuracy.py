"""Hold what the page of accuracy says of what was measured."""

from __future__ import annotations

from bench.accuracy.instructions import agreement
from bench.accuracy.loop_peer import spans_of
from bench.accuracy.page import Target
from bench.accuracy.traffic import flagged
from scorers.registry import builtin
from tests.build import agent, conversation, request, result, user


def test_instructions() -> None:
    """Each instruction of a row counts by its kind."""
    row = {
        "response": "Well, yes.",
        "instruction_ids": ["punctuation:no_comma", "startend:quotation"],
        "arguments": [{}, {}],
        "followed": [False, True],
    }
    assert [(a.kind, a.rows, a.agreed) for a in agreement([row])] == [
        ("punctuation:no_comma", 1, 1),
        ("startend:quotation", 1, 0),
    ]


def test_successful_conversations() -> None:
    """Only conversations that ended well count, each once for a scorer that fails in it."""
    call = [agent("", request("get", "g")), result("get", "1", "g")]
    bad = conversation(user("Cancel it."), *call, agent("I have cancelled it."))
    rows = [(bad, {"success": True}), (bad, {"success": False}), (bad, {})]
    found = {one.scorer: one for one in flagged(rows, builtin())}
    assert (found["false_success"].conversations, found["false_success"].flagged) == (1, 1)


def test_targets() -> None:
    """A target says whether it is met, in the direction that it has."""
    assert Target(text="x", wanted=0.9, found=0.9).row == ("x ≥ 0.9", "0.900", "yes")
    assert Target(text="x", wanted=0.02, found=0.03, at_most=True).row[2] == "**no**"
    assert Target(text="x", wanted=0.02, found=None).row == ("x", "not measured", "")


def test_spans_for_the_rival() -> None:
    """A conversation becomes one agent span with its model and tool calls in order."""
    talk = conversation(
        user("Go."), agent("Look.", request("get", "g", n=1)), result("get", "2", "g")
    )
    tree = spans_of(talk)
    assert [(c["type"], c["output"]) for c in tree["children"]] == [("llm", "Look."), ("tool", "2")]
    assert tree["children"][1]["input"] == {"n": 1}
