"""Hold that verdicts do not hang on what means nothing: ids, spacing, the order of keys, small talk."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from collector.builder import conversation_of
from collector.model import Conversation, Document, JsonValue, Message, ToolRequest
from scorers.registry import configured
from scorers.runner import Runner
from tests.build import agent, conversation, identity, request, result, tool, user

Verdicts = list[tuple[str, str]]
"""Scorer and verdict of each target, in order."""

TOOLS = (
    tool("get_order", {"order_id": {"type": "string"}}, "order_id"),
    tool(
        "cancel_order", {"order_id": {"type": "string"}, "reason": {"type": "string"}}, "order_id"
    ),
    tool(
        "refund_order", {"order_id": {"type": "string"}, "amount": {"type": "number"}}, "order_id"
    ),
    tool("transfer_to_human", {"summary": {"type": "string"}}),
)
OPTIONS: dict[str, dict[str, Any]] = {
    "instructions": {"declared": [{"kind": "punctuation:no_emoji"}]},
    "policy": {
        "rules": [
            {"name": "look first", "tool": "refund_*", "needs_before": ["get_order"]},
            {"name": "ask first", "tool": "writes", "needs_confirmation": True},
        ]
    },
}


def looked(id: str = "g", state: str = "packed") -> list[Message]:
    """Build one look at the order."""
    found = json.dumps({"order_id": "70001", "state": state, "total": 84.5})
    return [agent("", request("get_order", id, order_id="70001")), result("get_order", found, id)]


def cancelled(answer: str = '{"status": "cancelled"}') -> list[Message]:
    """Build one cancellation."""
    call = request("cancel_order", "c", order_id="70001", reason="too late")
    return [agent("Cancelling it now.", call), result("cancel_order", answer, "c")]


WISH = user("Please cancel my order 70001, it is too late.")
TALKS: dict[str, tuple[Message, ...]] = {
    "done": (WISH, *looked(), agent("It is packed. Shall I cancel it?"), user("Yes, please."), *cancelled(), agent("I have cancelled order 70001.")),
    "failed": (WISH, *cancelled("Error: the order was already sent"), agent("I have cancelled order 70001.")),
    "owned up": (WISH, *cancelled("Error: the order was already sent"), agent("I could not cancel it, because it was already sent.")),
    "never called": (WISH, agent("Your order has been cancelled.")),
    "looping": (WISH, *[m for n in range(6) for m in looked(f"g{n}")], agent("Let me see.")),
    "asked for a person": (WISH, user("I want to talk to a real person."), agent("Which order is it?"), user("70001"), agent("It is packed.")),
    "handed over": (WISH, user("I want to talk to a real person."), agent("Of course.", request("transfer_to_human", "t", summary="cancel 70001")), result("transfer_to_human", "ok", "t")),
    "at once": (WISH, agent("", request("transfer_to_human", "t", summary="cancel")), result("transfer_to_human", "ok", "t")),
    "wrong call": (WISH, agent("", request("cancel_ordr", "w", order_id="70001")), result("cancel_ordr", "ok", "w"), agent("One moment.")),
    "invented": (WISH, agent("", request("get_order", "i", order_id="99317")), result("get_order", "{}", "i"), agent("It is packed.")),
    "from nothing": (user("What does order 70001 cost?"), agent("It costs 219.90.")),
    "ignored": (user("Where is order 70001?"), agent("", request("get_order", "e", order_id="70001")), result("get_order", "Error: timeout", "e"), agent("Your order arrives on Monday.")),
}  # fmt: skip


def whole(messages: tuple[Message, ...]) -> Conversation:
    """Build a conversation with everything that scorers look at."""
    return conversation(*messages, tools=TOOLS, system_prompt="You serve a shop. Never use emojis.")


@lru_cache(maxsize=1)
def runner() -> Runner:
    """Return all scorers, with options that give each something to judge."""
    return Runner(configured(OPTIONS, plugins=()), clock_ns=lambda: 0, seconds=lambda: 0.0)


def verdicts(talk: Conversation) -> Verdicts:
    """Judge a conversation by every scorer."""
    scores, _ = runner().run(talk)
    return [(score.scorer, score.verdict) for score in scores]


def changed(
    talk: Conversation, text: Callable[[str], str], call: Callable[[ToolRequest], ToolRequest]
) -> Conversation:
    """Return a conversation with all its texts and calls changed."""
    messages = [
        msgspec.structs.replace(
            message, text=text(message.text), tool_requests=tuple(map(call, message.tool_requests))
        )
        for message in talk.messages
    ]
    return conversation_of(
        messages,
        id=talk.id,
        identity=identity(),
        tools=talk.tools,
        system_prompt=talk.system_prompt,
    )


EVERY = pytest.mark.parametrize("name", TALKS)


def test_the_talks_differ() -> None:
    """Every scorer passes one of the conversations above and, but for those that need documents, fails one."""
    found = {pair for messages in TALKS.values() for pair in verdicts(whole(messages))}
    scorers = {name for name, _ in found}
    assert {name for name in scorers if (name, "pass") not in found} == set()
    assert {name for name in scorers if (name, "fail") not in found} == {
        "instructions",
        "faithfulness",
    }


@EVERY
@given(data=st.data())
@settings(max_examples=15, deadline=None, derandomize=True)
def test_ids(name: str, data: st.DataObject) -> None:
    """Other ids of the conversation, its calls, and its order change no verdict."""
    talk = whole(TALKS[name])
    order = data.draw(
        st.integers(10_000, 98_000).filter(lambda n: n not in (70_001, 99_317))
    ).__str__()
    ids = data.draw(st.lists(st.uuids(), min_size=20, max_size=20, unique=True))
    renamed = dict(
        zip({r.id for m in talk.messages for r in m.tool_requests}, map(str, ids), strict=False)
    )

    def text(old: str) -> str:
        return old.replace("70001", order)

    def call(old: ToolRequest) -> ToolRequest:
        arguments = json.loads(text(json.dumps(old.arguments)))
        return msgspec.structs.replace(old, id=renamed[old.id], arguments=arguments)

    other = changed(talk, text, call)
    messages = tuple(
        msgspec.structs.replace(m, tool_call_id=renamed.get(m.tool_call_id, m.tool_call_id))
        for m in other.messages
    )
    again = conversation_of(
        messages,
        id=str(ids[-1]),
        identity=identity(),
        tools=TOOLS,
        system_prompt=talk.system_prompt,
    )
    assert verdicts(again) == verdicts(talk)


@EVERY
@given(data=st.data())
@settings(max_examples=15, deadline=None, derandomize=True)
def test_spacing(name: str, data: st.DataObject) -> None:
    """Doubled spaces, line breaks at sentence ends and blanks around a text change no verdict."""
    space = data.draw(st.sampled_from(["  ", "   ", "\u00a0", " \t"]))
    around = data.draw(st.sampled_from(["", " ", "\n", "\n\n"]))

    def text(old: str) -> str:
        if old[:1] in ("{", "["):
            return json.dumps(json.loads(old), indent=data.draw(st.integers(0, 4)))
        return around + re.sub(r"(?<=\w) (?=\w)", space, old) + around if old else old

    assert verdicts(changed(whole(TALKS[name]), text, lambda one: one)) == verdicts(
        whole(TALKS[name])
    )


@EVERY
@given(data=st.data())
@settings(max_examples=10, deadline=None, derandomize=True)
def test_order_of_keys(name: str, data: st.DataObject) -> None:
    """Another order of keys in arguments and results changes no verdict."""

    def shuffled(value: JsonValue) -> JsonValue:
        if not isinstance(value, dict):
            return value
        return {key: shuffled(value[key]) for key in data.draw(st.permutations(sorted(value)))}

    def text(old: str) -> str:
        return json.dumps(shuffled(json.loads(old))) if old[:1] == "{" else old

    def call(old: ToolRequest) -> ToolRequest:
        return msgspec.structs.replace(old, arguments=shuffled(old.arguments))

    assert verdicts(changed(whole(TALKS[name]), text, call)) == verdicts(whole(TALKS[name]))


SMALL_TALK = (
    (user("By the way, good morning!"), agent("Good morning to you too.")),
    (user("Lovely weather in Lund."), agent("That is nice to hear.")),
    (user("I like bicycles."), agent("So do we.")),
)


@EVERY
@given(data=st.data())
@settings(max_examples=10, deadline=None, derandomize=True)
def test_small_talk(name: str, data: st.DataObject) -> None:
    """Small talk before the matter makes no conversation or call fail, and saves none."""
    extra = data.draw(st.sampled_from(SMALL_TALK))
    talk, longer = whole(TALKS[name]), whole((*extra, *TALKS[name]))

    def of_wholes_and_calls(one: Conversation) -> Verdicts:
        scores, _ = runner().run(one)
        return [(s.scorer, str(s.verdict == "fail")) for s in scores if s.level != "turn"]

    assert of_wholes_and_calls(longer) == of_wholes_and_calls(talk)


def test_documents_that_have_nothing_to_do_with_it() -> None:
    """Documents about something else do not change what rests on the right one."""
    reply = agent("The warranty lasts two years.")
    right = Document(text="Our warranty lasts two years from the day of purchase.")
    other = Document(text="Bicycles are kept in the hall on the left.")
    asked = user("How long is the warranty?")
    alone = conversation(asked, reply, documents=(right,))
    beside = conversation(asked, reply, documents=(other, right, other))
    assert verdicts(alone) == verdicts(beside)
    assert ("faithfulness", "pass") in verdicts(beside)
