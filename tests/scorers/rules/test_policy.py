"""Check how an agent is held against its owner's rules."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from collector.errors import ConfigError
from collector.model import Conversation, Episode, LlmCall, Message
from scorers.registry import configured
from scorers.result import Score, Skip
from scorers.rules.policy import policy
from tests.build import agent, conversation, identity, request, result, user

VERIFY_FIRST = {"name": "verify first", "tool": "refund*", "needs_before": ["verify_*"]}


def judge(talk: Conversation, *rules: dict[str, Any]) -> Score:
    """Judge a conversation that the rules apply to."""
    info = policy.configured(rules=list(rules))
    found = info.function(talk, **info.options)
    assert isinstance(found, Score)
    return found


def shop(*messages: Message, **more: Any) -> Conversation:
    """Build a conversation that begins with a wish."""
    return conversation(user("A refund for order 70001."), *messages, **more)


def verified(outcome: str = "ok", **arguments: Any) -> tuple[Message, ...]:
    """Build an identity check with its result."""
    call = request("verify_customer", "v1", **arguments)
    return agent("", call), result("verify_customer", outcome, "v1")


def refunded(id: str = "r1", **arguments: Any) -> tuple[Message, ...]:
    """Build a refund with its result."""
    call = request("refund_order", id, **arguments)
    return agent("", call), result("refund_order", "refunded", id)


def test_needed_before() -> None:
    """A call whose condition was met passes; the value is the share of rules kept."""
    kept = judge(shop(*verified(), *refunded()), VERIFY_FIRST, {"name": "few", "max_steps": 9})
    assert (kept.verdict, kept.value, kept.reason) == ("pass", 1.0, "All 2 rules are kept.")


@pytest.mark.parametrize(
    "messages",
    [
        refunded(),
        (*refunded(), *verified()),
        (*verified("Error: no such customer"), *refunded()),
        (agent("", request("verify_customer", "v1"), request("refund_order", "r1")),),
    ],
    ids=["never", "too late", "failed", "at the same time"],
)
def test_not_before(messages: tuple[Message, ...]) -> None:
    """What never worked before the call breaks the rule, and the call is shown."""
    broken = judge(shop(*messages), VERIFY_FIRST)
    assert (broken.verdict, broken.value) == ("fail", 0.0)
    assert broken.reason == (
        "1 of 1 rules broken: verify first: refund_order was called before verify_* worked."
    )
    assert broken.evidence[0].tool_call_id == "r1"


def test_before_in_an_earlier_episode() -> None:
    """What worked in an earlier episode of the conversation counts."""
    talk = shop(*verified(), agent("Yes?"), user("And now."), *refunded())
    later = msgspec.structs.replace(talk, episode=Episode(number=2, first_message=4))
    later = msgspec.structs.replace(later, tool_calls=talk.tool_calls[1:])
    assert judge(later, VERIFY_FIRST).verdict == "pass"


def test_same_values() -> None:
    """A condition met for another customer is not met."""
    rule = {**VERIFY_FIRST, "same": ["customer"]}
    right = shop(*verified(customer="C7"), *refunded(customer="c7 "))
    wrong = shop(*verified(customer="C7"), *refunded(customer="C8"))
    assert judge(right, rule).verdict == "pass"
    assert judge(wrong, rule).verdict == "fail"


def test_forbidden_by_arguments() -> None:
    """Only calls whose arguments fit the schema are forbidden."""
    schema = {"properties": {"amount": {"exclusiveMinimum": 500}}, "required": ["amount"]}
    rule = {"name": "no large ones", "tool": "refund_order", "arguments": schema, "forbidden": True}
    assert judge(shop(*refunded(amount=500)), rule).verdict == "pass"
    assert judge(shop(*refunded(amount=501)), rule).verdict == "fail"
    assert judge(shop(*refunded()), rule).verdict == "pass"


def test_at_most() -> None:
    """More calls than allowed break the rule at the first one too many."""
    rule = {"name": "once", "tool": "refund_*", "at_most": 1}
    assert judge(shop(*refunded()), rule).verdict == "pass"
    broken = judge(shop(*refunded(), *refunded("r2")), rule)
    assert broken.evidence[0].tool_call_id == "r2"
    assert "2 calls to refund_*, at most 1 are allowed" in broken.reason


@pytest.mark.parametrize(
    ("said", "verdict"),
    [
        ("Yes, please.", "pass"),
        ("Sounds good to me!", "pass"),
        ("Ja, gerne", "pass"),
        ("No problem, go ahead.", "pass"),
        ("No, wait.", "fail"),
        ("Yes, but do not proceed before Monday.", "fail"),
        ("What does it cost?", "fail"),
        ("It is order 70001.", "fail"),
    ],
)
def test_confirmation(said: str, verdict: str) -> None:
    """A tool that changes something wants the user's yes to what the agent said before."""
    rule = {"name": "ask first", "tool": "writes", "needs_confirmation": True}
    asked = shop(agent("I would refund 20 euros to your card. Shall I?"), user(said), *refunded())
    assert judge(asked, rule).verdict == verdict
    assert judge(conversation(user("Yes, a refund!"), *refunded()), rule).verdict == "fail"


def test_reading_needs_no_confirmation() -> None:
    """A tool that only looks is not among those that write."""
    rule = {"name": "ask first", "tool": "writes", "needs_confirmation": True}
    looked = shop(agent("", request("get_order", "g1")), result("get_order", "70001", "g1"))
    assert judge(looked, rule).verdict == "pass"


def test_handing_over_needs_no_confirmation() -> None:
    """A hand-over to a person is not among the tools that write."""
    rule = {"name": "ask first", "tool": "writes", "needs_confirmation": True}
    passed_on = shop(agent("", request("transfer_to_human", "t1")))
    assert judge(passed_on, rule).verdict == "pass"


def test_caps() -> None:
    """Model calls and money are counted over the episode."""
    calls = tuple(LlmCall(span_ids=(f"{n:016x}",), cost_usd=0.25) for n in range(3))
    talk = shop(agent("Done."), agent("Really."), llm_calls=calls)
    assert judge(talk, {"name": "steps", "max_steps": 3}).verdict == "pass"
    assert "3 steps, at most 2" in judge(talk, {"name": "steps", "max_steps": 2}).reason
    assert judge(talk, {"name": "cost", "max_cost_usd": 0.75}).verdict == "pass"
    assert "0.7500 USD" in judge(talk, {"name": "cost", "max_cost_usd": 0.5}).reason


def test_words() -> None:
    """What must be said has to be said once, and what must not be said never."""
    talk = shop(agent("I am a machine."), agent("I guarantee it."))
    assert judge(talk, {"name": "honest", "must_say": "(?i)a machine"}).verdict == "pass"
    assert judge(talk, {"name": "honest", "must_say": "terms apply"}).verdict == "fail"
    assert judge(talk, {"name": "no promise", "must_not_say": "promise"}).verdict == "pass"
    broken = judge(talk, {"name": "no promise", "must_not_say": r"\bguarantee"})
    assert (broken.evidence[0].message, broken.evidence[0].quote) == (2, "guarantee")


def test_other_agents() -> None:
    """A rule for other agents does not apply, and without a rule nothing is judged."""
    talk = shop(*refunded(), who=identity("desk"))
    for rules in ([], [{**VERIFY_FIRST, "agents": ["cook"]}]):
        info = policy.configured(rules=rules)
        assert info.function(talk, **info.options) == Skip(reason="no_rules")
    assert judge(talk, {**VERIFY_FIRST, "agents": ["desk"]}).verdict == "fail"


@pytest.mark.parametrize(
    ("rule", "told"),
    [
        ({"name": "x"}, "makes none; it has to make one of needs_before"),
        ({"name": "x", "tool": "a", "forbidden": True, "at_most": 2}, "forbidden and at_most"),
        ({"name": "x", "forbidden": True}, "forbidden wants a `tool`"),
        ({"name": "x", "max_steps": 3, "tool": "a"}, "max_steps is not about a `tool`"),
        ({"name": "x", "tool": "a", "forbidden": True, "same": ["b"]}, "goes with `needs_before`"),
        ({"name": "x", "must_say": "("}, "unterminated"),
        ({"name": "x", "tool": "a", "forbidden": True, "arguments": {"type": 7}}, "arguments: 7"),
        ({"name": "x", "tool": "a", "at_most": 0}, ">= 1"),
        ({"name": "x", "tol": "a"}, "tol"),
    ],
)
def test_mistakes_are_found_at_the_start(rule: dict[str, Any], told: str) -> None:
    """A rule that cannot be applied is an error that names the key and what is wrong."""
    with pytest.raises(ConfigError) as error:
        configured({"policy": {"rules": [rule]}})
    assert "scorers.policy.rules" in str(error.value)
    assert told in str(error.value)
