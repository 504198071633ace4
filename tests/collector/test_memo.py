"""Test the bounded memory of texts."""

from __future__ import annotations

from collector.memo import ENTRY_BYTES, Memo


def test_recent_texts_are_remembered() -> None:
    """What was put is found, and what is used again outlives what is not."""
    memo: Memo[str] = Memo(20 * (ENTRY_BYTES + 10))
    memo.put("used", "u")
    memo.put("unused", "n")
    for n in range(100):
        memo.put(f"filler {n}", "x")
        assert memo.get("used") == "u"
    assert memo.get("unused") is None


def test_an_oversized_text_is_not_kept() -> None:
    """One text over half the budget does not push out everything else."""
    memo: Memo[bytes] = Memo(2_000)
    memo.put(b"a" * 5_000, b"")
    assert memo.get(b"a" * 5_000) is None
