"""Hold which calls a tool would refuse."""

from __future__ import annotations

from typing import Any

import pytest

from collector.model import JsonValue, ToolDefinition, ToolRequest
from scorers.result import ScorerResult, Skip
from scorers.rules.argument_schemas import compiled
from scorers.rules.tool_calls import tool_calls
from tests.build import agent, conversation, request, tool, user

BOOK = {
    "type": "object",
    "properties": {
        "room": {"type": "string"},
        "nights": {"type": "integer"},
        "breakfast": {"type": "boolean"},
        "view": {"enum": ["sea", "garden"]},
        "guests": {"type": "array", "items": {"type": "string"}},
        "card": {"type": "object", "properties": {"pin": {"type": "string"}}, "required": ["pin"]},
    },
    "required": ["room"],
}


def judged(
    arguments: JsonValue, parameters: Any = BOOK, name: str = "book_room", *more: ToolDefinition
) -> ScorerResult:
    """Judge one call against one offered tool, ``book_room``."""
    offered = (ToolDefinition(name="book_room", parameters=parameters), *more)
    call = ToolRequest(id="c1", name=name, arguments=arguments)
    talk = conversation(user("Book it"), agent("", call), tools=offered)
    result: ScorerResult = tool_calls.function(talk, talk.tool_calls[0])
    return result


def verdict(result: ScorerResult) -> str:
    """Return the verdict, or the reason of a skip."""
    return result.reason if isinstance(result, Skip) else getattr(result, "verdict", "failure")


@pytest.mark.parametrize(
    "arguments",
    [
        {"room": "12"},
        {"room": "12", "nights": 2, "breakfast": False, "view": "sea", "guests": []},
        {"room": "12", "nights": 2.0},
        {"room": "12", "nights": None},
    ],
)
def test_what_the_schema_allows_passes(arguments: JsonValue) -> None:
    """A call that fits passes; a null for an optional argument is as good as none."""
    assert verdict(judged(arguments)) == "pass"


@pytest.mark.parametrize(
    ("arguments", "words", "quote"),
    [
        ({}, "lacks the required argument room", "book_room"),
        ({"room": None}, "gives its argument room the wrong type", "null"),
        ({"room": "12", "floor": 3}, "an argument 'floor' that the tool does not have", "floor"),
        ({"room": "12", "nights": "2"}, "argument nights the wrong type, not integer", '"2"'),
        ({"room": "12", "breakfast": "true"}, "breakfast the wrong type", '"true"'),
        ({"room": ["12"]}, "argument room the wrong type, not string", '["12"]'),
        ({"room": "12", "view": "moon"}, "argument view a bad value", '"moon"'),
        ({"room": "12", "guests": ["Ada", 7]}, "argument guests.1 the wrong type", "7"),
        (
            {"room": "12", "card": {}},
            "lacks the required argument pin in its argument card",
            "book_room",
        ),
        ('{"room": "12"', "has arguments that are not JSON", '{"room": "12"'),
        (["12"], "has arguments that are not an object", "book_room"),
    ],
)
def test_what_the_tool_would_refuse_fails(arguments: JsonValue, words: str, quote: str) -> None:
    """Each kind of mistake fails, is named in the reason and quoted from the call."""
    result = judged(arguments)
    assert verdict(result) == "fail"
    assert words in result.reason  # type: ignore[union-attr]  # a Failure would have failed above
    [evidence] = result.evidence  # type: ignore[union-attr]
    assert (evidence.message, evidence.tool_call_id, evidence.quote) == (1, "c1", quote)


def test_a_tool_that_was_not_offered() -> None:
    """An invented tool fails and the one that was meant is named."""
    result = judged({"room": "12"}, BOOK, "hotel_book_room")
    assert verdict(result) == "fail"
    assert "names a tool that was not offered; book_room was" in result.reason  # type: ignore[union-attr]


def test_several_mistakes_are_counted() -> None:
    """The first problem is named, what is missing before what is wrong, and the others counted."""
    result = judged({"floor": 3, "nights": "x"})
    assert "lacks the required argument room (2 more)" in result.reason  # type: ignore[union-attr]


@pytest.mark.parametrize(
    "parameters",
    [None, 5, [], {"type": "spaceship"}, {"properties": []}, {"$ref": "https://x.example/s"}],
)
def test_a_schema_that_says_nothing_is_no_verdict(parameters: Any) -> None:
    """An absent, broken or remote schema is skipped, never a failed call."""
    assert verdict(judged({"room": 12}, parameters)) == "no_schema"


def test_no_tools_declared() -> None:
    """A conversation whose producer does not say what was offered is not judged."""
    talk = conversation(agent("", ToolRequest(name="book_room", arguments={})))
    assert verdict(tool_calls.function(talk, talk.tool_calls[0])) == "no_schema"


def test_arguments_that_were_not_recorded() -> None:
    """Without recorded arguments nothing is said, unless the tool takes none."""
    assert verdict(judged(None)) == "no_arguments"
    assert verdict(judged(None, {"type": "object", "properties": {}})) == "pass"
    assert verdict(judged("", {"type": "object", "properties": {}})) == "pass"


def test_a_tool_offered_twice_takes_either() -> None:
    """Where two versions of a tool were offered, the call has to fit one of them."""
    other = ToolDefinition(name="book_room", parameters={"properties": {"suite": {}}})
    assert verdict(judged({"suite": 1}, BOOK, "book_room", other)) == "pass"


@pytest.mark.parametrize(
    ("parameters", "arguments", "expected"),
    [
        ({"type": "object"}, {"anything": 1}, "pass"),
        ({"properties": {"a": {}}, "additionalProperties": True}, {"b": 1}, "pass"),
        ({"properties": {"a": {}}, "additionalProperties": {"type": "string"}}, {"b": 1}, "fail"),
        ({"patternProperties": {"^x": {}}, "properties": {}}, {"x1": 1}, "pass"),
        ({"anyOf": [{"properties": {"a": {}}}, {"properties": {"b": {}}}]}, {"b": 1}, "pass"),
        ({"anyOf": [{"properties": {"a": {}}}, {"properties": {"b": {}}}]}, {"c": 1}, "fail"),
        ({"properties": {"a": {}}, "anyOf": [{"required": ["a"]}]}, {"a": 1, "c": 1}, "fail"),
        ({"$ref": "#/$defs/A", "$defs": {"A": {"properties": {"a": {}}}}}, {"a": 1}, "pass"),
        ({"$ref": "#/$defs/A", "$defs": {"A": {"properties": {"a": {}}}}}, {"z": 1}, "fail"),
        ({"type": "OBJECT", "properties": {"n": {"type": "INTEGER"}}}, {"n": "1"}, "fail"),
        ({"type": "dict", "properties": {"n": {"type": "float"}}}, {"n": 1.5}, "pass"),
        ({"properties": {"n": {"type": "any"}}}, {"n": [1]}, "pass"),
    ],
)
def test_which_arguments_a_schema_names(
    parameters: Any, arguments: JsonValue, expected: str
) -> None:
    """Branches and local references name arguments, open schemas take any, odd types are read."""
    assert verdict(judged(arguments, parameters)) == expected


def test_a_pattern_cannot_run_away() -> None:
    """A pattern that would backtrack for ever answers at once."""
    parameters = {"properties": {"a": {"type": "string", "pattern": "^(a+)+$"}}}
    assert verdict(judged({"a": "a" * 50_000 + "b"}, parameters)) == "fail"


def test_equal_schemas_are_compiled_once() -> None:
    """Two conversations with the same tool share the compiled schema."""
    assert compiled({"properties": {"q": {}}}) is compiled({"properties": {"q": {}}})


def test_the_nearest_tool_is_named() -> None:
    """A misspelt tool is told together with the one that was probably meant."""
    talk = conversation(
        user("Where is it?"),
        agent("", request("get_oder_status")),
        tools=(tool("get_order_status"),),
    )
    found = tool_calls.function(talk, talk.tool_calls[0])
    assert "not offered; get_order_status was" in found.reason
