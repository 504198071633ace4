"""Remember what texts became, within a budget of bytes."""

from __future__ import annotations

from typing import AnyStr, Generic

ENTRY_BYTES = 200
"""What one entry costs beside its text: two dict slots, two object headers, a tuple."""


class Memo(Generic[AnyStr]):
    """Hold the results of the most recently used texts.

    Two generations: a hit in the old one moves to the young one; when the young one has
    used half the budget it becomes the old one, and what was still old is forgotten. So
    every operation is a dict look-up and nothing keeps an order.
    """

    def __init__(self, budget: int) -> None:
        self._half = budget // 2
        self.young: dict[AnyStr, AnyStr] = {}
        """The young generation, to be read directly where a call would cost too much."""
        self._old: dict[AnyStr, AnyStr] = {}
        self._used = 0

    def get(self, text: AnyStr) -> AnyStr | None:
        """Return what the text became, or ``None`` where that is not remembered."""
        result = self.young.get(text)
        if result is None:
            result = self._old.pop(text, None)
            if result is not None:
                self.put(text, result)
        return result

    def put(self, text: AnyStr, result: AnyStr) -> None:
        """Remember what a text became; one that is over half the budget is not kept."""
        size = len(text) + ENTRY_BYTES + (0 if result is text else len(result))
        if size > self._half:
            return
        self.young[text] = result
        self._used += size
        if self._used > self._half:
            self._old, self.young, self._used = self.young, {}, 0
