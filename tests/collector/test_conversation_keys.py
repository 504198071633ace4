"""Test the keys by which conversations are known."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable

import pytest

from collector.conversation_keys import declared_key
from collector.model import Facts, Identity
from tests.collector.assembly import facts

LONG = 100_000 * "x"


def of_long_id(number: int) -> Facts:
    """Build a span of one of many conversations with long ids."""
    return facts(conversation_id=f"{number}{LONG}")


def of_long_environment(number: int) -> Facts:
    """Build a span of one of many places with long names."""
    return facts(conversation_id="c", who=Identity(environment=f"{number}{LONG}"))


@pytest.mark.parametrize("of", [of_long_id, of_long_environment])
def test_no_long_text_is_remembered(of: Callable[[int], Facts]) -> None:
    """Whoever makes up ids without end, or names of what they belong to, fills no memory."""
    tracemalloc.start()
    try:
        keys = {declared_key(of(number)) for number in range(100)}
        kept, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert len(keys) == 100
    assert kept < 20 * len(LONG)
