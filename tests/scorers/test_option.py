"""Options of scorers are read as their annotations want them."""

import math
from typing import Annotated, Any, Literal

import msgspec
import pytest

from scorers.option import allowed, read_option

Share = Annotated[float, msgspec.Meta(ge=0, lt=1)]


@pytest.mark.parametrize(
    ("value", "hint", "read"),
    [
        (3, int, 3),
        ("3", int, 3),
        ("true", bool, True),
        (1, float, 1.0),
        ("0.5", Share, 0.5),
        ("a", Literal["a", "b"], "a"),
        (["a"], tuple[str, ...], ("a",)),
    ],
)
def test_a_value_that_fits_is_taken(value: Any, hint: Any, read: Any) -> None:
    """Numbers may come as text, because variables hold nothing else."""
    assert read_option(value, hint) == read


@pytest.mark.parametrize(
    ("value", "hint", "text"),
    [
        (1, Share, "expected a number >= 0 and < 1, got 1"),
        (math.nan, float, "expected a number, got NaN"),
        (True, int, "expected a whole number, got true"),
        (2.5, int, "expected a whole number, got 2.5"),
        (None, str, "expected text, got null"),
        ("c", Literal["a", "b"], "expected one of a, b, got 'c'"),
        ({"a": 1}, tuple[str, ...], 'expected a list, got {"a": 1}'),
        ("x" * 200, int, "expected a whole number, got 'xxxx"),
        (object, dict[str, int], "expected another value, got <class 'object'>"),
    ],
)
def test_a_value_that_does_not_fit_is_named(value: Any, hint: Any, text: str) -> None:
    """The error says what is allowed and what was given."""
    with pytest.raises(ValueError, match=r"expected .+, got .+") as caught:
        read_option(value, hint)
    assert str(caught.value).startswith(text)
    assert len(str(caught.value)) < 150


def test_what_is_allowed_is_said_in_words() -> None:
    """The documentation shows it too."""
    assert allowed(Share) == "a number >= 0 and < 1"
    assert allowed(list[int]) == "a list"
