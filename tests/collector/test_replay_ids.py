"""Test how replayed traces and spans are named."""

from __future__ import annotations

import pytest

from collector.model import Message
from collector.replay_ids import Style, has_trailing, key_of, span_id, trace_id, trace_ids
from collector.transcripts import calls_at
from tests.build import agent, conversation, identity, request, result, user

HI, HELLO, THANKS = user("Hi"), agent("Hello"), user("Thanks")


@pytest.mark.parametrize(
    ("messages", "with_ids", "without"),
    [
        ((), 1, 1),
        ((HI,), 1, 1),
        ((HELLO,), 1, 1),
        ((HI, HELLO), 1, 1),
        ((HI, HELLO, THANKS), 2, 2),
        ((HI, agent("", request("f")), result("f", "ok"), HELLO), 1, 2),
        ((HI, HELLO, THANKS, HELLO), 2, 2),
    ],
)
def test_number_of_traces(messages: tuple[Message, ...], with_ids: int, without: int) -> None:
    """There is a trace a turn with ids, and one a call and one for the rest without."""
    told = conversation(*messages)
    assert len(trace_ids(told, seed="s")) == with_ids
    assert len(set(trace_ids(told, seed="s", strip_ids=True))) == without


def test_trailing() -> None:
    """Only what stands after the last model call is not told by one."""
    for messages, trailing in (((HI, HELLO), False), ((HI, HELLO, THANKS), True), ((), True)):
        assert has_trailing(messages, calls_at(messages)) is trailing


def test_ids_have_the_length_of_the_protocol() -> None:
    """A trace id has 16 bytes and a span id 8."""
    trace = trace_id(key_of(conversation(), Style(seed="s")), 0)
    assert (len(trace), len(span_id(trace, "root"))) == (16, 8)


def test_key() -> None:
    """Seed, conversation and variant each change the key; naming the own variant does not."""
    told = conversation(who=identity(variant="canary"))
    key = key_of(told, Style(seed="s"))
    assert key_of(told, Style(seed="s", variant="canary")) == key
    others = {
        key_of(told, Style(seed="t")),
        key_of(told, Style(seed="s", variant="shadow")),
        key_of(conversation(id="other", who=identity(variant="canary")), Style(seed="s")),
        key_of(conversation(), Style(seed="s")),
    }
    assert len(others | {key}) == 5
