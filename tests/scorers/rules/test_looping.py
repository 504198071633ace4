"""Hold what counts as going round in circles, and what does not."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from collector.model import Conversation, JsonValue, Message, ToolRequest
from scorers.result import Score, Skip
from scorers.rules.looping import looping
from tests.build import agent, conversation, request, result, user

Step = tuple[str, Mapping[str, JsonValue], str]


def step(n: int, one: Step) -> list[Message]:
    """Build one call and its result."""
    name, arguments, answer = one
    call = ToolRequest(id=f"c{n}", name=name, arguments=dict(arguments))
    return [agent("", call), result(name, answer, f"c{n}")]


def run(*steps: Step) -> Conversation:
    """Build a conversation of one user request and these calls."""
    messages = [user("Please look into it.")]
    for n, one in enumerate(steps):
        messages += step(n, one)
    return conversation(*messages, agent("Done."))


def verdict(talk: Conversation, **options: Any) -> str:
    """Return the scorer's verdict, or the reason why it has none."""
    outcome = looping.function(talk, **options)
    return outcome.reason if isinstance(outcome, Skip) else outcome.verdict


LOOK: Step = ("find_parcel", {"parcel": "PX-1"}, "in transit")


def test_the_same_call_with_the_same_result_is_a_loop() -> None:
    """Three repeats without news fail, with the repeats as evidence and the tool in the reason."""
    outcome = looping.function(run(*[LOOK] * 4))
    assert isinstance(outcome, Score)
    assert outcome.verdict == "fail"
    assert outcome.value == 0.125
    assert (
        outcome.reason == "The agent repeated the call find_parcel 3 times and got the same result."
    )
    assert [e.message for e in outcome.evidence] == [4, 6, 8]
    assert {e.quote for e in outcome.evidence} == {"in transit"}


def test_one_or_two_repeats_are_not() -> None:
    """Looking three times is not a loop yet."""
    assert verdict(run(*[LOOK] * 3)) == "pass"


def test_how_many_repeats_is_an_option() -> None:
    """A stricter user is told of two repeats."""
    assert verdict(run(*[LOOK] * 3), repeats=2) == "fail"


@pytest.mark.parametrize(
    "spellings",
    [
        ["Blue lamp", "blue lamp", " BLUE  LAMP ", "blue-lamp!"],
        [5, 5.0, "5", " 5.00"],
    ],
)
def test_other_spelling_is_the_same_call(spellings: list[JsonValue]) -> None:
    """Case, spacing, punctuation and number format do not make a call a new one."""
    talk = run(*(("search", {"q": one}, "3 hits") for one in spellings))
    assert verdict(talk) == "fail"


def test_key_order_and_empty_values_are_the_same_call() -> None:
    """The order of the keys and an empty value do not either."""
    talk = run(
        ("search", {"q": "lamp", "n": 1}, "3 hits"),
        ("search", {"n": 1, "q": "lamp"}, "3 hits"),
        ("search", {"n": 1, "q": "lamp", "after": None}, "3 hits"),
        ("search", {"n": 1, "q": "lamp", "after": ""}, "3 hits"),
    )
    assert verdict(talk) == "fail"


def test_two_calls_in_turn_are_a_loop() -> None:
    """Three rounds of two alternating calls fail and both are named."""
    rounds: list[Step] = [LOOK, ("find_courier", {"id": 4}, "busy")] * 3
    outcome = looping.function(run(*rounds))
    assert outcome.verdict == "fail"
    assert "find_parcel and find_courier" in outcome.reason


def test_a_failing_call_repeats_itself_whatever_the_error_says() -> None:
    """The fourth failure of the same call is a loop though each error has its own number."""
    talk = run(*((LOOK[0], LOOK[1], f"Error: 503 Service Unavailable (r-{n})") for n in range(4)))
    outcome = looping.function(talk)
    assert outcome.verdict == "fail"
    assert "failing call find_parcel" in outcome.reason


def test_retries_after_errors_are_good_manners() -> None:
    """Two retries and then a success pass."""
    failing = (LOOK[0], LOOK[1], "Error: 503 Service Unavailable")
    assert verdict(run(failing, failing, LOOK)) == "pass"


def test_paging_is_not_a_loop() -> None:
    """An argument that advances makes each call a new one."""
    assert verdict(run(*(("list", {"page": n}, "20 rows") for n in range(9)))) == "pass"


def test_polling_with_progress_is_not_a_loop() -> None:
    """A result that changes is news."""
    assert verdict(run(*((LOOK[0], LOOK[1], f"{n} % done") for n in range(9)))) == "pass"


def test_looking_again_after_changes_is_not_a_loop() -> None:
    """Reads between writes that each change something start afresh."""
    steps: list[Step] = []
    for n in range(5):
        steps += [("update_parcel", {"weight": n}, "updated"), LOOK]
    assert verdict(run(*steps)) == "pass"


def test_a_write_that_only_repeats_itself_changes_nothing() -> None:
    """The same write with the same result between the reads does not excuse them."""
    assert verdict(run(*[("update_parcel", {"weight": 2}, "updated"), LOOK] * 3)) == "fail"


def test_the_user_may_ask_again() -> None:
    """Each request of the user starts afresh."""
    messages: list[Message] = []
    for n in range(6):
        messages += [user("And now?"), *step(n, LOOK), agent("Not yet.")]
    assert verdict(conversation(*messages)) == "pass"


def test_calls_in_one_breath_are_not_a_loop() -> None:
    """Parallel calls could not learn from each other."""
    calls = [request("find_parcel", f"c{n}", parcel="PX-1") for n in range(6)]
    answers = [result("find_parcel", "in transit", f"c{n}") for n in range(6)]
    assert verdict(conversation(user("go"), agent("", *calls), *answers)) == "pass"


def test_nothing_to_judge() -> None:
    """Without calls, or without any result, the scorer says nothing."""
    assert verdict(conversation(user("Hi"), agent("Hello"))) == "no_tool_calls"
    calls = [agent("", ToolRequest(id=f"c{n}", name="find")) for n in range(9)]
    assert verdict(conversation(user("Hi"), *calls)) == "no_results"
