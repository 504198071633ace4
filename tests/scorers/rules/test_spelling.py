"""Hold which spellings of arguments are one."""

from __future__ import annotations

import pytest

from collector.model import JsonValue
from scorers.rules.spelling import plain, signature


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"q": "Blue lamp"}, {"q": " blue-LAMP "}),
        ({"a": 1, "b": [2.0]}, {"b": ["2"], "a": "1.0"}),
        ({"a": "x", "b": None, "c": "", "d": [], "e": {}}, {"a": "x"}),
        (None, {}),
        ("{not json", "{NOT json"),
    ],
)
def test_trivial_differences_do_not_count(one: JsonValue, other: JsonValue) -> None:
    """Case, spacing, punctuation, key order, number format and empty values make no difference."""
    assert signature(one) == signature(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"q": "lamp"}, {"q": "lamps"}),
        ({"n": 1}, {"n": 2}),
        ({"n": -5}, {"n": 5}),
        ({"n": "1.5"}, {"n": "15"}),
        ({"a": "x"}, {"b": "x"}),
        ({"a": ["x", "y"]}, {"a": ["y", "x"]}),
        ({"on": True}, {"on": False}),
        ({"q": "?"}, {"q": "!"}),
    ],
)
def test_other_arguments_are_others(one: JsonValue, other: JsonValue) -> None:
    """Another word, value, sign, name or order is another call."""
    assert signature(one) != signature(other)


def test_long_arguments_have_a_short_signature() -> None:
    """A megabyte of arguments is remembered in a few bytes."""
    assert len(signature({"body": "long letter " * 100_000})) == 32


def test_numbers_keep_only_their_value() -> None:
    """``05.50`` and ``5.5`` are one number."""
    assert plain(" 05.50 ") == plain("5.5") == "5.5"
