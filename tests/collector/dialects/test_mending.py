"""Test reading what is left of JSON that was cut short."""

from __future__ import annotations

import json
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from collector.dialects.interning import Memory
from collector.dialects.mending import MARK, any_cut, is_cut, mended
from collector.dialects.messages import history, reply
from collector.normalise import Normaliser
from tests.build import span, user

CHAT = json.dumps(
    [
        {"role": "user", "content": 'Is the "blue" room\\suite free?'},
        {"role": "assistant", "content": "Let me look at the calendar of the blue room."},
        {"role": "user", "content": "Thanks. And the red one, for two nights from Friday on?"},
    ]
)


def test_what_stands_before_the_cut_is_kept() -> None:
    """Whole messages come through; the one that was cut says so."""
    kept = history(CHAT[:-20], Memory(100_000))
    assert kept[:2] == history(CHAT, Memory(100_000))[:2]
    assert kept[2].text.startswith("Thanks. And the red one")
    assert kept[2].text.endswith(MARK)


@pytest.mark.parametrize("sign", ["...", "…", "...[truncated]", "… (truncated 12 chars)"])
def test_signs_of_a_cut_are_no_content(sign: str) -> None:
    """An ellipsis or a word that a producer put at the end is not part of the text."""
    kept = reply(CHAT[:60] + sign)
    assert kept[0].text.endswith(MARK)
    assert "truncated" not in kept[0].text.removesuffix(MARK)
    assert is_cut(CHAT[:60] + sign)


def test_whole_texts_are_not_cut() -> None:
    """JSON that ends, a writer's own ellipsis and brackets in words are as they should be."""
    assert mended(CHAT) is None
    assert not is_cut(CHAT)
    assert not is_cut("I am not so sure about that, to be honest with you ...")
    assert not is_cut("[Note to self] call the hotel about the blue room tomorrow")
    assert not any_cut({"gen_ai.output.messages": CHAT, "n": 5, "blob": b"x" * 50})


def test_a_text_cut_at_a_limit_says_so() -> None:
    """An ellipsis after a round number of characters is a limit's, not the writer's."""
    assert is_cut("a word " * 146 + "ab" + "...")
    assert is_cut("The answer begins here [truncated]")


def test_a_span_tells_that_it_was_cut() -> None:
    """The attribute limit of SDKs, a cut attribute and the producer's own flag count alike."""
    chat = {"gen_ai.operation.name": "chat"}
    read = Normaliser().span
    assert read(span(attributes=chat, dropped_attributes=3)).truncated
    assert read(span(attributes=chat | {"gen_ai.input.messages": CHAT[:-9]})).truncated
    assert read(span(attributes=chat | {"anthropic.content.truncated": True})).truncated
    assert not read(span(attributes=chat | {"gen_ai.input.messages": CHAT})).truncated


def test_arguments_that_the_model_broke_stay_as_they_are() -> None:
    """Only lists of messages are mended: a broken call is the model's, and judged as such."""
    call = {"id": "c", "function": {"name": "book", "arguments": '{"room": "blu'}}
    said = reply(json.dumps([{"role": "assistant", "tool_calls": [call]}]))
    assert said[0].tool_requests[0].arguments == '{"room": "blu'


@given(st.integers(0, len(CHAT)), st.sampled_from(["", "...", "…", "[truncated]", "\\", '"']))
@settings(max_examples=200, deadline=None)
def test_every_cut_is_survived(place: int, sign: str) -> None:
    """Wherever the cut is, the messages before it are read."""
    kept = history(CHAT[:place] + sign, Memory(100_000))
    if place > CHAT.index("]") // 2:
        assert kept


@pytest.mark.parametrize(
    "text",
    ["[" * 100_000, '[{"a":' * 50_000, '[{"a":"' + "\\" * 300_000, '["a",' * 50_000, '{"' * 99_999],
)
def test_hostile_texts_are_survived(text: str) -> None:
    """Neither depth nor length takes stack, or time that grows with the square."""
    before = time.process_time()
    mended(text)
    assert time.process_time() - before < 5


def test_users_words_may_look_like_anything() -> None:
    """Text that only begins like JSON is text."""
    assert history('{"curly" is my cat', Memory(1000)) == (user('{"curly" is my cat'),)
