"""Hold which ids an agent may use and which it has made up."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from collector.model import Conversation, Document, JsonValue, Message, ToolRequest
from scorers.result import ScorerResult, Skip
from scorers.rules.identifiers import identifiers_of
from scorers.rules.invented_arguments import invented_arguments
from tests.build import agent, conversation, request, result, tool, user


def judged(arguments: dict[str, JsonValue], *before: Message, **more: Any) -> ScorerResult:
    """Judge a call with these arguments after these messages."""
    call = ToolRequest(id="last", name="get_parcel", arguments=arguments)
    talk = conversation(*before, agent("", call), **more)
    outcome: ScorerResult = invented_arguments.function(talk, talk.tool_calls[-1])
    return outcome


def verdict(outcome: ScorerResult) -> str:
    """Return the verdict, or the reason of a skip."""
    return outcome.reason if isinstance(outcome, Skip) else getattr(outcome, "verdict", "failure")


def test_an_id_that_nobody_gave_fails() -> None:
    """A made-up id fails, is named in the reason and quoted from the call."""
    outcome = judged({"parcel_id": "PX-70417"}, user("Where is my parcel PX-70411?"))
    assert verdict(outcome) == "fail"
    assert "parcel_id of get_parcel is 'PX-70417'" in outcome.reason  # type: ignore[union-attr]
    [evidence] = outcome.evidence  # type: ignore[union-attr]
    assert (evidence.message, evidence.tool_call_id, evidence.quote) == (1, "last", "PX-70417")


@pytest.mark.parametrize(
    ("said", "arguments"),
    [
        ("My parcel is PX-70411.", {"parcel_id": "PX-70411"}),
        ("My parcel is px 70411.", {"parcel_id": "PX-70411"}),
        ("It is number #70411", {"parcel_id": "70411"}),
        ("It is 70411", {"parcel_id": "#70411"}),
        ("It is 70411", {"parcelId": 70411}),
        ("Call me on (0555) 010-7788", {"phone": "+05550107788"}),
        ("I am Ada@Example.com", {"email": "ada@example.com"}),
        ("reservation QWERTY please", {"reservation_id": "QWERTY"}),
        ("Depot 55, shelf 7012", {"place_id": "depot-55-7012"}),
        ("event 7", {"event_id": "7"}),
    ],
)
def test_an_id_the_user_gave_passes(said: str, arguments: dict[str, JsonValue]) -> None:
    """Spelling, case, separators and being put together from given parts do not matter."""
    assert verdict(judged(arguments, user(said))) == "pass"


def test_short_ids_must_stand_alone() -> None:
    """A digit inside another number does not ground a short id."""
    assert verdict(judged({"event_id": "92"}, user("It was on 1992-11-03"))) == "fail"


def test_every_source_but_the_agent_counts() -> None:
    """Results, instructions, documents and tool definitions ground an id; the agent's words do not."""
    wanted: dict[str, JsonValue] = {"parcel_id": "PX-70411"}
    hello = user("Hello")
    found = [agent("", request("find", "f")), result("find", "PX-70411", "f")]
    assert verdict(judged(wanted, hello, *found)) == "pass"
    assert verdict(judged(wanted, hello, system_prompt="Use PX-70411 for tests.")) == "pass"
    assert verdict(judged(wanted, hello, documents=(Document(text="PX-70411"),))) == "pass"
    offered = (tool("get_parcel", {"parcel_id": {"enum": ["PX-70411"]}}),)
    assert verdict(judged(wanted, hello, tools=offered)) == "pass"
    assert verdict(judged(wanted, hello, agent("Is it PX-70411?"), user("Maybe"))) == "fail"


def test_what_is_said_later_does_not_count() -> None:
    """An id that only the call's own result or a later message gives is made up."""
    call = request("get_parcel", "c", parcel_id="PX-70417")
    talk = conversation(
        user("Where is it?"),
        agent("", call),
        result("get_parcel", "PX-70417", "c"),
        user("PX-70417"),
    )
    assert verdict(invented_arguments.function(talk, talk.tool_calls[0])) == "fail"


def test_an_id_that_worked_is_proven() -> None:
    """Once a call used the id with success, the next may use it too."""
    first = [
        agent("", request("get_parcel", "c", parcel_id="PX-70417")),
        result("get_parcel", "in transit", "c"),
    ]
    assert verdict(judged({"parcel_id": "PX-70417"}, user("Hi"), *first)) == "pass"


def test_an_id_that_failed_is_not() -> None:
    """A call that was refused proves nothing."""
    first = [
        agent("", request("get_parcel", "c", parcel_id="PX-70417")),
        result("get_parcel", "Error: no such parcel", "c"),
    ]
    assert verdict(judged({"parcel_id": "PX-70417"}, user("Hi"), *first)) == "fail"


def test_a_missing_result_may_have_given_it() -> None:
    """Where an earlier result was never seen, nothing is said."""
    open_call = agent("", request("find", "f"))
    assert verdict(judged({"parcel_id": "PX-70417"}, user("Hi"), open_call)) == "no_results"


@pytest.mark.parametrize(
    "arguments",
    [
        {"city": "Lund", "note": "call 70417 99 before noon"},
        {"at": "10:30", "weight": 70417.5, "count": 70417},
        {"expression": "70417*3", "query": "PX70417", "filename": "report_70417.pdf"},
        {"idempotency_key": "a81f-7731-99", "password": "Secret7041799"},
        {"parcel_id": "", "urgent": True, "tags": None},
    ],
)
def test_what_an_agent_may_write_is_not_judged(arguments: dict[str, JsonValue]) -> None:
    """Free text, times of day, counts, new files and chosen keys are the agent's own."""
    assert verdict(judged(arguments, user("Hello"))) == "no_ids"


def test_ids_are_found_in_lists_and_objects() -> None:
    """Nested values are read with the name that stands over them, in order."""
    found = identifiers_of({"item_ids": ["10442", "10443"], "to": {"email": "bo@example.org"}})
    assert [(one.argument, one.value) for one in found] == [
        ("item_ids", "10442"),
        ("item_ids", "10443"),
        ("email", "bo@example.org"),
    ]


def test_nothing_to_compare_with() -> None:
    """Without recorded content before the call, or its place, nothing is said."""
    assert verdict(judged({"parcel_id": "PX-70417"})) == "no_content"
    call = ToolRequest(name="get_parcel", arguments={"parcel_id": "PX-70417"})
    talk: Conversation = conversation(user("Hi"), agent("", call))
    loose = msgspec.structs.replace(talk.tool_calls[0], asked_at=-1)
    assert verdict(invented_arguments.function(talk, loose)) == "no_position"
