"""Test the memory of arrays that grow."""

from __future__ import annotations

import json

import pytest

from collector.growing import HEAD, Growing

FIRST = json.dumps(["x" * HEAD, "second"])


def test_a_longer_array_leaves_its_rest() -> None:
    """What an earlier array came to is found by its beginning, and the rest is an array."""
    growing: Growing[int] = Growing(100_000)
    growing.keep(FIRST, 2)
    known, rest = growing.split(FIRST[:-1] + ', {"a": 1}]')
    assert (known, json.loads(rest)) == (2, [{"a": 1}])


@pytest.mark.parametrize("text", [FIRST, FIRST[:-1] + " ]", "[1]", "[" + FIRST[2:], FIRST[:-3]])
def test_anything_else_is_read_as_a_whole(text: str) -> None:
    """The same array, a short one or one that differs anywhere has no known beginning."""
    growing: Growing[int] = Growing(100_000)
    growing.keep(FIRST, 2)
    assert growing.split(text) == (None, text)


def test_what_is_no_array_before_stays_none() -> None:
    """A rest that is broken or empty shows that the whole is broken."""
    growing: Growing[int] = Growing(100_000)
    growing.keep(FIRST, 2)
    assert growing.split(FIRST[:-1] + ",]") == (2, "[]")
    assert growing.split(FIRST + ",1]") == (None, FIRST + ",1]")


def test_white_space_after_the_array_is_not_taken_for_its_end() -> None:
    """An array is only remembered when its last character closes it."""
    growing: Growing[int] = Growing(100_000)
    growing.keep(FIRST + " ", 2)
    assert growing.split(FIRST + ",1]") == (None, FIRST + ",1]")


def test_memory_is_bounded() -> None:
    """Over the budget the arrays that nobody asked for are forgotten."""
    growing: Growing[int] = Growing(20_000)
    texts = [json.dumps([f"{n}" + "x" * HEAD]) for n in range(100)]
    for n, text in enumerate(texts):
        growing.keep(text, n)
    assert growing.split(texts[0][:-1] + ",1]")[0] is None
    assert growing.split(texts[-1][:-1] + ",1]") == (99, "[1]")
    huge = json.dumps(["x" * 50_000])
    growing.keep(huge, 7)
    assert growing.split(huge[:-1] + ",1]")[0] is None
