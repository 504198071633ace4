"""Hold how rankings are measured."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scorers.auroc import auroc

VALUES = st.lists(st.none() | st.floats(0, 1).map(lambda x: round(x, 1)), min_size=2, max_size=12)


def pairs(faulty: list[float | None], sound: list[float | None]) -> float:
    """Count the pairs one by one."""
    won = [
        0.5 if bad is None or good is None or bad == good else float(good > bad)
        for bad in faulty
        for good in sound
    ]
    return sum(won) / len(won)


@given(VALUES, VALUES)
def test_it_is_the_share_of_pairs_in_the_right_order(
    faulty: list[float | None], sound: list[float | None]
) -> None:
    """Every pair counts one, a half for ties and skips, or nothing."""
    found = auroc(faulty, sound)
    assert found is not None
    assert found.value == pytest.approx(pairs(faulty, sound))
    assert 0 <= found.low <= found.value + 1e-9
    assert found.value - 1e-9 <= found.high <= 1


def test_the_interval_of_delong() -> None:
    """Shares of 1, 1/2 and 0 on one side and 3/4 and 1/4 on the other give the interval by hand."""
    found = auroc([0.1, 0.3, 0.3, 0.5], [0.2, 0.4])
    assert found is not None
    # Of the faulty 1, 1/2, 1/2 and 0 of the sound are higher; of the sound 1/4 and 3/4 are.
    assert found.value == 0.5
    half = 1.959964 * ((0.5 / 3) / 4 + 0.125 / 2) ** 0.5
    assert found.high - found.value == pytest.approx(min(half, 0.5), abs=1e-6)


def test_one_alone_is_not_ranked() -> None:
    """A spread needs two of each."""
    assert auroc([0.1], [0.2, 0.3]) is None
    assert auroc([0.1, 0.2], []) is None
