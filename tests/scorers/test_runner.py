"""Hold what the runner writes down for every outcome of a scorer."""

from __future__ import annotations

import itertools
import json

import msgspec

from collector.model import Conversation, Evidence, ToolCall, Turn
from scorers.result import Failure, Score, ScorerResult, Skip
from scorers.runner import Runner, score_id
from scorers.scorer import ScorerInfo, scorer
from tests.build import agent, conversation, request, result, user


@scorer(level="conversation", version="1")
def polite(conversation: Conversation, *, words: int = 1) -> ScorerResult:
    """Pass when there are messages."""
    if not conversation.messages:
        return Skip(reason="no_content")
    quote = conversation.messages[0].text
    evidence = (Evidence(message=0, quote=quote),)
    return Score(value=1.0, verdict="pass", reason=f"{words} said", evidence=evidence)


@scorer(level="turn", version="2")
def second(conversation: Conversation, turn: Turn) -> ScorerResult:
    """Fail the second turn."""
    if turn.index == 1:
        return Score(value=0.0, verdict="fail", reason="second")
    return Skip(reason="not_second")


@scorer(level="tool_call", version="1")
def named(conversation: Conversation, call: ToolCall) -> ScorerResult:
    """Pass every call."""
    return Score(value=1.0, verdict="pass", reason=call.name)


@scorer(level="conversation", version="1")
def broken(conversation: Conversation) -> ScorerResult:
    """Raise."""
    raise LookupError("no such thing")


@scorer(level="conversation", version="1")
def boundless(conversation: Conversation) -> ScorerResult:
    """Return a value that is not one."""
    return Score(value=float("nan"), verdict="pass", reason="")


@scorer(level="conversation", version="1")
def careless(conversation: Conversation) -> None:
    """Return nothing."""


@scorer(level="conversation", version="1")
async def judge(conversation: Conversation) -> ScorerResult:
    """Need an event loop."""
    return Failure(error="timeout")


def runner(*scorers: ScorerInfo) -> Runner:
    """Build a runner whose clock stands at 5 ns and whose stopwatch ticks once a reading."""
    ticks = itertools.count()
    return Runner(scorers, clock_ns=lambda: 5, seconds=lambda: float(next(ticks)))


def test_a_score_becomes_a_record_and_a_ledger_row() -> None:
    """A verdict is written with its version, time, latency and evidence, and counted as scored."""
    talk = conversation(user("Hi"), agent("Hello"), trace_ids=("a" * 32,))
    scores, decisions = runner(polite).run(talk)
    [score] = scores
    assert (score.scorer, score.scorer_version, score.level, score.target) == (
        "polite",
        "1",
        "conversation",
        "",
    )
    assert (score.value, score.verdict, score.reason) == (1.0, "pass", "1 said")
    assert (score.latency_s, score.scored_ns, score.trace_id) == (1.0, 5, "a" * 32)
    assert score.evidence[0].quote == "Hi"
    [row] = decisions
    assert (row.decision, row.reason, row.targets, row.decided_ns) == ("scored", "", 1, 5)


def test_score_id_is_the_same_again_and_other_for_a_revision() -> None:
    """An id depends on what was judged, never on when."""
    talk = conversation(user("Hi"))
    first = runner(polite).run(talk)[0][0].score_id
    assert runner(polite).run(talk)[0][0].score_id == first
    assert runner(polite).run(talk, revision=1)[0][0].score_id != first
    assert first == score_id(
        conversation_id="conv-1",
        episode=1,
        level="conversation",
        target="",
        scorer="polite",
        version="1",
        revision=0,
    )
    assert len(first) == 32


def test_a_scorer_without_targets_skips_once() -> None:
    """No tool call gives a tool_call scorer one skip with an empty target and its reason."""
    scores, decisions = runner(named).run(conversation(user("Hi")))
    assert [(s.target, s.verdict, s.value) for s in scores] == [("", "skip", None)]
    assert (decisions[0].decision, decisions[0].reason) == ("skipped", "no_tool_calls")


def test_an_empty_conversation_has_no_turns() -> None:
    """A turn scorer skips a conversation without messages."""
    _, decisions = runner(second).run(conversation())
    assert (decisions[0].decision, decisions[0].reason) == ("skipped", "no_turns")


def test_each_turn_is_a_target_of_its_own() -> None:
    """A turn that is skipped does not hide one that is scored."""
    talk = conversation(user("a"), agent("b"), user("c"), agent("d"))
    scores, decisions = runner(second).run(talk)
    assert [(s.target, s.verdict) for s in scores] == [("0", "skip"), ("1", "fail")]
    assert (decisions[0].decision, decisions[0].targets) == ("scored", 1)


def test_tool_call_targets_are_unique() -> None:
    """Repeated and missing call ids still give each call its own target."""
    asked = agent("", request("a", "x"), request("b", "x"), request("c", "x#2"), request("d", "x"))
    nameless = agent("", msgspec.structs.replace(request("e"), id=""))
    scores, _ = runner(named).run(conversation(user("go"), asked, nameless))
    targets = [s.target for s in scores]
    assert targets == ["x", "x#2", "x#2#2", "x#3", "call-4"]


def test_calls_that_the_user_ran_are_not_judged() -> None:
    """Under dual control only the agent's calls are targets."""
    talk = conversation(user("go"), agent("", request("a"), request("b")))
    first, other = talk.tool_calls
    mine = msgspec.structs.replace(first, requestor="user")
    scores, _ = runner(named).run(msgspec.structs.replace(talk, tool_calls=(mine, other)))
    assert [s.reason for s in scores] == ["b"]


def test_an_exception_is_a_failure_and_never_a_score() -> None:
    """What a scorer raises is written as a failure without a value, and the others still run."""
    scores, decisions = runner(broken, polite).run(conversation(user("Hi")))
    first = scores[0]
    assert (first.verdict, first.value, first.reason) == (
        "failure",
        None,
        "LookupError: no such thing",
    )
    assert scores[1].verdict == "pass"
    assert (decisions[0].decision, decisions[0].reason) == ("failed", "LookupError")


def test_a_value_outside_its_range_is_a_failure() -> None:
    """NaN never becomes a score."""
    scores, decisions = runner(boundless).run(conversation(user("Hi")))
    assert scores[0].verdict == "failure"
    assert decisions[0].reason == "ValueError"


def test_a_return_value_that_is_no_result_is_a_failure() -> None:
    """A scorer that forgets to return is seen."""
    scores, _ = runner(careless).run(conversation(user("Hi")))
    assert scores[0].reason == "TypeError: returned NoneType, not a result"


def test_asynchronous_scorers_are_left_alone() -> None:
    """A judge needs an event loop and is not run here."""
    assert runner(judge).run(conversation(user("Hi"))) == ([], [])


def test_while_an_episode_goes_on_only_its_parts_are_judged() -> None:
    """Scorers of whole conversations neither run nor appear when only parts are asked for."""
    scores, decisions = runner(broken, second).run(
        conversation(user("hi"), agent("hello")), parts_only=True
    )
    assert [score.scorer for score in scores] == ["second"]
    assert [decision.scorer for decision in decisions] == ["second"]


def test_options_are_handed_over() -> None:
    """A configured option reaches the function."""
    scores, _ = runner(polite.configured(words=7)).run(conversation(user("Hi")))
    assert scores[0].reason == "7 said"


def test_lone_surrogates_do_not_leave_the_runner() -> None:
    """Text that no store takes is replaced, everything else stays."""
    talk = conversation(
        user("na\ud83dive \U0001f600 é"),
        agent("", request("a", "id\udc00")),
        result("a", "x", "id\udc00"),
    )
    scores, decisions = runner(polite, named).run(talk)
    assert scores[0].evidence[0].quote == "na\ufffdive \U0001f600 é"
    assert scores[1].target == "id\ufffd"
    assert msgspec.json.decode(msgspec.json.encode([scores, decisions])) == json.loads(
        msgspec.json.encode([scores, decisions])
    )
