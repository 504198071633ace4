"""Test what is kept of decided episodes, and how much."""

from __future__ import annotations

from collector.late_window import LateWindow
from collector.talk import DecidedEpisode, Talk
from tests.build import user


def settle(window: LateWindow, number: int, text: str) -> DecidedEpisode:
    """Decide an episode whose messages hold some text."""
    decided = DecidedEpisode(
        episode_id=f"e{number}",
        number=1,
        revision=0,
        decided_s=float(number),
        started_ns=0,
        ended_ns=0,
        end_reason="explicit",
        refs=[],
        pinned=[],
        traces=[],
        verdicts=[],
        kept=True,
        messages=(user(text),),
    )
    window.settle(Talk(key=f"t{number}", id=f"t{number}", explicit=True), decided)
    return decided


def test_the_text_kept_for_following_episodes_is_bounded() -> None:
    """Over the limit the oldest episodes keep no messages, and are held for late spans all the same."""
    window = LateWindow(quiet=1, context_bytes=25)
    held = [settle(window, number, "x" * 10) for number in range(4)]
    assert [bool(decided.messages) for decided in held] == [False, False, True, True]
    assert window.context_size == 20
    assert len(window) == 4


def test_what_is_let_go_counts_no_more() -> None:
    """A revision replaces what its episode kept, and an expired episode gives it back."""
    window = LateWindow(quiet=1, context_bytes=1_000)
    settle(window, 1, "x" * 10)
    settle(window, 1, "x" * 30)
    settle(window, 2, "x" * 5)
    assert window.context_size == 35
    window.stored(["e1"])
    assert [decided.episode_id for _, decided in window.expired(10, limit=10)] == ["e1"]
    assert window.context_size == 5
