"""Test how texts and values are redacted."""

from __future__ import annotations

import json

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from collector.redactor import Redactor
from collector.sensitive import DEFAULT_KINDS
from collector.value_redactor import SLICE_FROM

ALL = DEFAULT_KINDS
PIECES = st.sampled_from(
    [
        "mia@example.com",
        "415-555-0100",
        "+442079460958",
        "4111111111111111",
        "DE89 3704 0044 0532 0130 00",
        "536-90-4399",
        "SSN ",
        "111222333",
        "RCCMNL83S18D969H",
        "sk-ant-api03-AbCdEf123456789012345",
        "password: ",
        "token=",
        "Bearer ",
        "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.x",
        "[key]",
        "[phone]",
        "[",
        "\\n",
        '"',
        "://u:",
        "@",
        "1",
        "0",
        "+",
        "(",
        "-",
        " ",
        ".",
        "x",
    ]
)
TEXTS = st.lists(PIECES | st.text(max_size=6), max_size=12).map("".join)
JSONS = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | TEXTS,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(["password", "phone", "content"]) | TEXTS, inner, max_size=4
        )
    ),
    max_leaves=12,
)


@settings(max_examples=150, deadline=None)
@given(TEXTS)
def test_redaction_is_idempotent(text: str) -> None:
    """Redacting what is redacted changes nothing, whatever stands next to what."""
    clean = Redactor(ALL).text(text)
    assert Redactor(ALL).text(clean) == clean


@settings(max_examples=100, deadline=None)
@given(JSONS)
@example({"phone": "+442079460958415-555-0100"})
def test_json_stays_json(value: object) -> None:
    """A text that is JSON is JSON of the same shape afterwards, and redaction is stable."""
    text = json.dumps([value, "padding " * 80])
    clean = Redactor(ALL).text(text)
    assert len(json.loads(clean)) == 2
    assert Redactor(ALL).text(clean) == clean


@settings(max_examples=100, deadline=None)
@given(TEXTS, st.sampled_from([r"\w", r"k", r".+", r"\[", r"[a-z]+\]", r""]))
def test_any_pattern_of_a_user_ends(text: str, pattern: str) -> None:
    """A user's pattern that matches placeholders neither loops nor nests them."""
    clean = Redactor(("email",), {"own": pattern}).text(text)
    assert Redactor(("email",), {"own": pattern}).text(clean) == clean


def test_only_the_named_kinds_are_replaced() -> None:
    """A kind that is not configured is left alone."""
    text = "mia@example.com 415-555-0100"
    assert Redactor(("phone",)).text(text) == "mia@example.com [phone]"
    with pytest.raises(KeyError):
        Redactor(("emial",))


def test_own_patterns() -> None:
    """A user's own kind is replaced under its own name."""
    redactor = Redactor((), {"order": r"W-\d{5}"})
    assert redactor.text("order W-12345!") == "order [order]!"


def test_names_give_values_away() -> None:
    """A value that looks harmless is replaced where its field's name says what it is."""
    value = {
        "password": "hunter",
        "headers": {"Authorization": "anything", "cookie": "a=b"},
        "customer": {"phone_number": "4155550100", "phone": 4155550100},
        "card": 4111111111111111,
        "input_tokens": 12,
        "reset_password": True,
        "type": "password",
    }
    assert Redactor(ALL).value(value) == {  # type: ignore[arg-type]  # dict is invariant
        "password": "[key]",
        "headers": {"Authorization": "[token]", "cookie": "[token]"},
        "customer": {"phone_number": "[phone]", "phone": "[phone]"},
        "card": "[card]",
        "input_tokens": 12,
        "reset_password": True,
        "type": "password",
    }


def test_values_keep_their_shape() -> None:
    """Lists, maps, bytes and keys are redacted in place; numbers and nothing stay."""
    redactor = Redactor(ALL)
    assert redactor.value(["mia@example.com", 1, None, b"415-555-0100", b"\xff\x00"]) == [
        "[email]",
        1,
        None,
        b"[phone]",
        b"\xff\x00",
    ]
    assert redactor.value({"mia@example.com": 1, "bo@example.com": 2}) == {
        "[email]": 1,
        "[email]_": 2,
    }
    clean = {"a": ["nothing", {"b": "here"}]}
    assert redactor.value(clean) is clean  # type: ignore[arg-type]  # dict is invariant


def test_json_inside_json_is_redacted_at_its_own_level() -> None:
    """Escapes at any depth neither hide a secret nor break."""
    inner = json.dumps({"note": "line\nsk-ant-api03-AbCdEf123456789012345", "password": 'a"b'})
    text = json.dumps({"arguments": inner})
    clean = json.loads(Redactor(ALL).text(text))
    assert json.loads(clean["arguments"]) == {"note": "line\n[key]", "password": "[key]"}


def test_escaped_characters_hide_nothing() -> None:
    """An @ that JSON writes as an escape is still an e-mail address."""
    assert Redactor(ALL).text('{"to": "mia\\u0040example.com"}') == '{"to":"[email]"}'


def test_cut_off_json_is_redacted_as_text() -> None:
    """A message list that a length limit cut is still cleaned, and its escapes stay whole."""
    text = '[{"content": "hi\\nmia@example.com and ' + "x" * SLICE_FROM
    assert Redactor(ALL).text(text).startswith('[{"content": "hi\\n[email] and x')


def test_repeated_history_is_redacted_once() -> None:
    """A message that comes again in a longer history is looked up, not searched again."""
    messages = [
        {
            "role": "user",
            "parts": [{"type": "text", "content": f"{n} mia@example.com " + "x" * 200}],
        }
        for n in range(6)
    ]
    redactor = Redactor(ALL)
    for length in range(3, 7):
        clean = json.loads(redactor.text(json.dumps(messages[:length])))
        assert [m["parts"][0]["content"][2:9] for m in clean] == ["[email]"] * length
    assert redactor.redactions == {"email": 6}


def test_memory_is_bounded() -> None:
    """Texts beyond the budget are forgotten and still redacted rightly."""
    redactor = Redactor(ALL, memo_bytes=4_000)
    for round_ in range(3):
        for n in range(50):
            text = f"{n} mia@example.com"
            assert redactor.text(text) == f"{n} [email]", round_


def test_deep_json_is_redacted() -> None:
    """Nesting deeper than any message is neither an error nor a hiding place."""
    text = "[" * 200 + '"mia@example.com"' + "]" * 200
    assert "mia" not in Redactor(ALL).text(text)


def test_growing_history_is_read_from_where_it_grew() -> None:
    """A history is redacted to the same text whether its beginning was seen before or not."""
    messages = [
        {"role": "user", "content": f"{n} " + ("mia@example.com " if n == 4 else "") + "x" * 300}
        for n in range(7)
    ]
    redactor = Redactor(ALL)
    for length in range(2, 8):
        text = json.dumps(messages[:length])
        assert redactor.text(text) == Redactor(ALL).text(text)
    broken = json.dumps(messages)[:-1] + ", {]"
    assert redactor.text(broken) == Redactor(ALL).text(broken)
