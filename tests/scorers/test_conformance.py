"""Hold every registered scorer to the rules of ``conformance``."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, given, note, settings

from collector.model import Conversation, Document, Episode, JsonValue, Message, ToolRequest
from scorers.registry import builtin
from scorers.scorer import ScorerInfo
from tests.build import agent, conversation, request, result, tool, user
from tests.scorers import conformance
from tests.scorers.strategies import conversations

EVERY = pytest.mark.parametrize("info", builtin(), ids=lambda info: info.name)
LONG = 1_000_000


def shop(rounds: int) -> Conversation:
    """Build an ordinary conversation of so many rounds, each asking for another order."""
    messages: list[Message] = []
    for n in range(rounds):
        order = str(70_000 + n)
        messages += [
            user(f"Please cancel order {order}."),
            agent("I will look.", request("get_order", f"look{n}", order_id=order)),
            result("get_order", f'{{"order_id": "{order}", "total": "{n}.50"}}', f"look{n}"),
            agent("", request("cancel_order", f"cancel{n}", order_id=order)),
            result("cancel_order", '{"status": "cancelled"}', f"cancel{n}"),
            agent(f"I have cancelled order {order}; {n}.50 will be refunded."),
        ]
    return conversation(*messages, tools=(tool("get_order", {"order_id": {"type": "string"}}),))


def nested(depth: int) -> JsonValue:
    """Build arguments that are nested so deep."""
    value: JsonValue = {}
    for _ in range(depth):
        value = {"inner": value}
    return value


def asked(arguments: Any, name: str = "get_order", text: str = "") -> Conversation:
    """Build a conversation around one call with these arguments."""
    call = ToolRequest(id="c", name=name, arguments=arguments)
    return conversation(
        user("Where is order 70001?"),
        agent(text, call),
        result(name, "Error: no such order", "c"),
        agent("It is on its way, order 70001."),
        tools=(tool("get_order", {"order_id": {"type": "string"}}, "order_id"),),
    )


def hostile() -> dict[str, Conversation]:
    """Return conversations that broke, or might break, a scorer."""
    cases = {
        "empty": conversation(),
        "silent": conversation(user(""), agent(""), user(""), agent("")),
        "only the user": conversation(user("Hello?"), user("Anybody?")),
        "only the agent": conversation(agent("Welcome!"), agent("Still here.")),
        "only results": conversation(result("get_order", "done"), result("x", "Error: x", "y")),
        "results first": conversation(result("get_order", "ok"), agent("", request("get_order"))),
        "same id": conversation(
            user("go"), agent("", *[request("a", "x")] * 3), result("a", "1", "x")
        ),
        "unanswered": conversation(user("go"), agent("", request("get_order", order_id="70009"))),
        "in a later episode": conversation(
            *shop(2).messages, episode=Episode(number=2, first_message=7)
        ),
        "past its end": conversation(user("Hi"), episode=Episode(first_message=9)),
        "documents only": conversation(agent("Paris."), documents=(Document(text=""),)),
        "deep": asked(nested(400)),
        "other script": asked(
            {"order_id": "\u0661\u0662\u0663\u0664\u0665"}, text="\u0e2a\u0e27 ß İ ﬁ"
        ),
        "half a character": asked(
            {"order_id": "\ud800", "\udc00": 1}, name="\ud83d", text="\udfff"
        ),
    }
    cases["odd values"] = asked(
        {
            "amount": 10**400,
            "price": float("nan"),
            "total": float("inf"),
            "cost": 1_000_000.0,
            "refund": 4.1e20,
            "first_name": "Zoe" * 1_000,
            "last_name": "Qvist",
            "start_date": "2031-99-99",
        },
        name="refund_order",
    )
    for arguments in (
        None,
        [],
        "",
        "{not json",
        7,
        True,
        ["70001"],
        {"order_id": None},
        float("nan"),
        10**400,
    ):
        cases[f"arguments {str(arguments)[:12]!r}"] = asked(arguments)
    return cases


def huge() -> dict[str, Conversation]:
    """Return conversations of a size that nobody sends on purpose."""
    texts = {
        "letters": "a" * LONG,
        "spaces": " " * LONG,
        "newlines": "\n" * LONG,
        "digits": "1" * LONG,
        "dots": ". " * (LONG // 2),
        "braces": "{" * LONG,
        "numbers": "12.34, " * (LONG // 7),
        "I have": "I have " * (LONG // 7),
        "quotes": "\"'" * (LONG // 2),
        "errors": "error: not found " * (LONG // 17),
        "at": "a@" * (LONG // 2),
    }
    return {
        name: conversation(
            user(text),
            agent(text, request("get_order", order_id=text)),
            result("get_order", text),
            agent(text),
            tools=(tool("get_order", {"order_id": {"type": "string"}}),),
        )
        for name, text in texts.items()
    }


HOSTILE = hostile()


@given(talk=conversations())
@settings(
    max_examples=80, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
def test_random_conversations(talk: Conversation) -> None:
    """No random conversation makes a scorer raise, contradict itself or cite what is not there."""
    for info in builtin():
        note(info.name)
        conformance.check_result(info, talk)
        conformance.check_deterministic(info, talk)
        conformance.check_prefix(info, talk)


@EVERY
@pytest.mark.parametrize("case", HOSTILE)
def test_hostile_conversations(info: ScorerInfo, case: str) -> None:
    """Nothing that a client can send makes a scorer raise or cite what is not there."""
    conformance.check_result(info, HOSTILE[case])
    conformance.check_deterministic(info, HOSTILE[case])


@EVERY
def test_ordinary_conversation(info: ScorerInfo) -> None:
    """A plain success is judged alike whole and cut after each target, and does not fail."""
    talk = shop(4)
    conformance.check_result(info, talk)
    conformance.check_prefix(info, talk)


@EVERY
@pytest.mark.timeout(20)
def test_huge_texts(info: ScorerInfo) -> None:
    """A megabyte of anything is judged without a scorer getting lost in it."""
    for talk in huge().values():
        conformance.check_result(info, talk)


@EVERY
@pytest.mark.timeout(20)
def test_long_conversations_cost_in_proportion(info: ScorerInfo) -> None:
    """Four times the messages take about four times the steps, up to thousands of messages."""
    small, large = (conformance.calls_made(info, shop(rounds)) for rounds in (50, 200))
    assert large < 6 * small + 1_000
    conformance.judge_all(info, shop(1_000))


@EVERY
def test_described(info: ScorerInfo) -> None:
    """A scorer has a version, a one-line summary, and options that JSON can say."""
    assert info.version
    assert info.summary.endswith(".")
    assert info.configured(**info.options).options == info.options
