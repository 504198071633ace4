"""Test that histories are known by what they say."""

from __future__ import annotations

import random

from collector.message_keys import MessageKeys
from collector.model import Message, ToolDefinition
from tests.build import agent, request, result, user

SAID = (
    user("Where is my order?"),
    agent("", request("find_order", order="W-1")),
    result("find_order", '{"status": "shipped"}'),
    agent("It is on its way."),
    user("Thanks"),
)


def test_a_prefix_has_the_key_it_had() -> None:
    """The key of a history does not depend on what was asked for before it."""
    keys, draw = MessageKeys(), random.Random(3)  # noqa: S311 - a test's order
    for _ in range(200):
        history = list(SAID[: draw.randrange(6)])
        if draw.random() < 0.3 and history:
            history[draw.randrange(len(history))] = user("Something else")
        seed = draw.choice([b"", b"scope"])
        assert keys.chain(seed, history) == MessageKeys().chain(seed, history)


def test_the_same_words_have_the_same_key() -> None:
    """Messages that are built anew, and replies that are cut otherwise, keep the key."""
    keys = MessageKeys()
    again = [Message(role=m.role, text=m.text) for m in (SAID[0], SAID[3])]
    assert keys.chain(b"", again) == keys.chain(b"", [SAID[0], SAID[3]])
    one = [agent("Wait.", request("find_order", order="W-1"))]
    two = [agent("Wait."), agent("", request("find_order", order="W-1"))]
    assert keys.chain(b"", one)[-1] == keys.chain(b"", two)[-1]


def test_a_version_forgives_digits_and_nothing_else() -> None:
    """A prompt that tells the time is one version; other words, tools or models are others."""
    keys, tools = MessageKeys(), (ToolDefinition(name="find_order"),)
    version = keys.version("It is 10:30. Help.", tools, "sonnet")
    assert keys.version("It is 9:05. Help.", tools, "sonnet") == version
    assert keys.version("It is 10:30. Help.", tools, "sonnet") == version
    others = [("It is 10:30. Sell.", tools, "sonnet"), ("It is 10:30. Help.", (), "sonnet")]
    assert all(keys.version(*other) != version for other in others)
    assert keys.version("It is 10:30. Help.", tools, "haiku") != version
