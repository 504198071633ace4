"""Replace what a set of kinds finds in a text by ``[kind]``, until nothing is left to find."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Sequence
from typing import TypeAlias

from collector.glance import Glance, glance
from collector.sensitive import KINDS, NAME_HINTS, Kind

_Extent: TypeAlias = tuple[int, int, int]
"""Start, end, and the place of its kind in the order of precedence."""


class Replacer:
    """Replace finds in plain text; where two overlap, all of both goes under the first's name."""

    def __init__(self, kinds: Sequence[Kind]) -> None:
        self._kinds = tuple(kinds)
        self._possible = [(order, kind.possible) for order, kind in enumerate(kinds)]
        names = {*KINDS, *(kind.name for kind in kinds)}
        self._placeholder = re.compile("|".join(re.escape(f"[{name}]") for name in sorted(names)))
        self.replacements: Counter[str] = Counter()
        """Replacements made of each kind."""

    def is_placeholder(self, text: str) -> bool:
        """Tell whether the text is one ``[kind]`` and nothing else."""
        return self._placeholder.fullmatch(text) is not None

    def likely(self, look: Glance) -> list[int]:
        """Return which kinds the text can hold, by their place in the order of precedence."""
        return [order for order, possible in self._possible if possible(look)]

    def hidden(self, look: Glance) -> bool:
        """Tell whether a JSON text's decoded leaves can hold what cannot be seen in the text."""
        # A character written as an escape in JSON can hide an anchor from the glance.
        if "\\u" in look.text:
            return True
        if look.text[:1] not in ("{", "["):
            return False
        lower = look.lower
        for hint in NAME_HINTS:  # noqa: SIM110 - a generator costs more than the search
            if hint in lower:
                return True
        return False

    def replaced(self, text: str, look: Glance, likely: list[int]) -> str:
        """Return the text with every find replaced; the very same text where there is none.

        It ends, because each round leaves fewer characters outside of placeholders.
        """
        while True:
            found = [
                (start, end, order)
                for order in likely
                for start, end in self._kinds[order].find(look)
            ]
            extents = sorted(self._beyond_placeholders(text, found)) if found else []
            if not extents:
                return text
            text = self._cut(text, extents)
            look = glance(text)
            likely = self.likely(look)

    def _beyond_placeholders(self, text: str, found: list[_Extent]) -> list[_Extent]:
        """Widen finds so that none cuts a placeholder, and drop those with nothing else in them."""
        holders = [match.span() for match in self._placeholder.finditer(text)]
        starts, ends = [a for a, _ in holders], [b for _, b in holders]
        kept: list[_Extent] = []
        for start, end, order in found:
            touched = holders[bisect_right(ends, start) : bisect_left(starts, end)]
            if (start, end) in touched:
                continue
            wide_start = min([start, *(a for a, _ in touched[:1])])
            wide_end = max([end, *(b for _, b in touched[-1:])])
            piece = self._placeholder.sub("", text[wide_start:wide_end])
            if piece and not piece.isspace():
                kept.append((wide_start, wide_end, order))
        return kept

    def _cut(self, text: str, extents: list[_Extent]) -> str:
        parts: list[str] = []
        done = 0
        start, end, order = extents[0]
        for next_start, next_end, next_order in [*extents[1:], (len(text) + 1, 0, 0)]:
            if next_start < end:
                end = max(end, next_end)
                continue
            name = self._kinds[order].name
            parts += (text[done:start], f"[{name}]")
            self.replacements[name] += 1
            done = end
            start, end, order = next_start, next_end, next_order
        parts.append(text[done:])
        return "".join(parts)
