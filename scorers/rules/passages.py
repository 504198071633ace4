"""Index the passages an answer should rest on, and measure how well a statement rests on them."""

from __future__ import annotations

import itertools
import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Sequence

import msgspec

from scorers.rules.opposites import OPPOSITES
from scorers.rules.statements import sentences_of
from scorers.rules.stems import EMPTY_WORDS, NUMERALS, is_negated, stem, words_of

_NAME = re.compile(r"(?<=[a-z,;:] )[A-Z][\w'-]+")
_REACH = 4
"""Two words support each other when no more than this many content words lie between."""
_MAX_PLACES = 50
_MAX_POSITIONS = 500


class Support(msgspec.Struct, frozen=True, kw_only=True):
    """How a statement rests on the passages."""

    value: float
    """0..1; halved for every number, name, negation or opposite that speaks against it."""
    missing: tuple[str, ...] = ()
    """Words of the statement that stand nowhere in the passages."""
    against: str = ""
    """What speaks against it, in a few words; empty when nothing does."""


class Passages:
    """An index of texts: their words, which stand near each other, and their sentences."""

    def __init__(self, texts: Iterable[str]) -> None:
        self._words: set[str] = set()
        self._positions: dict[str, list[int]] = {}
        self._length = 0
        self._sentences: list[tuple[frozenset[str], bool]] = []
        self._places: dict[str, list[int]] = {}
        for text in texts:
            for sentence in sentences_of(text):
                self._add(sentence)

    def _add(self, sentence: str) -> None:
        words = words_of(sentence)
        stems = [stem(word) for word in words]
        content = [s for w, s in zip(words, stems, strict=True) if w.lower() not in EMPTY_WORDS]
        for position, one in enumerate(content, self._length):
            self._positions.setdefault(one, []).append(position)
        # words of two sentences are never near each other
        self._length += len(content) + _REACH
        number = len(self._sentences)
        own = frozenset(stems)
        self._sentences.append((own, is_negated(words)))
        self._words |= own
        self._words.update(NUMERALS[w.lower()] for w in words if w.lower() in NUMERALS)
        for one in own.intersection(content):
            places = self._places.setdefault(one, [])
            if len(places) < _MAX_PLACES:
                places.append(number)

    def support(self, statement: str, said: frozenset[str] = frozenset()) -> Support | None:
        """Measure a statement; ``None`` when it has no word of content.

        The mean of three shares: of its content words that stand in the passages, of its
        neighbouring words that are near each other there, and of its words in the one
        sentence that holds most of them. ``said`` are stems of what the user said: they are
        not asked of the passages, and a name or number from there does not speak against it.
        """
        words = words_of(statement)
        content = [(w, stem(w)) for w in words if w.lower() not in EMPTY_WORDS]
        if not content:
            return None
        missing = [(w, s) for w, s in content if not self._has(w, s)]
        stems = [s for _, s in content]
        closest, negated, local = self._closest(frozenset(stems))
        new = [(w, s) for w, s in content if s not in said]
        unheld = [(w, s) for w, s in missing if s not in said]
        covered = 1 - len(unheld) / len(new) if new else 1 - len(missing) / len(content)
        share = (covered + self._together(stems, complete=not missing) + local) / 3
        against = [w for w, s in missing if w[0].isdigit() and s not in said][:2]
        against += self._strange_names(statement, said)[:2]
        if is_negated(words) and not negated:
            against.append("a negation")
        against += self._opposed(frozenset(map(stem, words)), closest)[:2]
        return Support(
            value=max(0.0, min(1.0, share * 0.5 ** len(against))),
            missing=tuple(dict.fromkeys(w for w, _ in missing)),
            against=", ".join(against),
        )

    def _has(self, word: str, one: str) -> bool:
        return one in self._words or NUMERALS.get(word.lower(), "") in self._words

    def _together(self, stems: Sequence[str], *, complete: bool) -> float:
        pairs = list(itertools.pairwise(stems))
        if not pairs:
            return float(complete)
        return sum(self._are_near(*pair) for pair in pairs) / len(pairs)

    def _are_near(self, one: str, other: str) -> bool:
        few, many = sorted((self._positions.get(one, []), self._positions.get(other, [])), key=len)
        for position in few[:_MAX_POSITIONS]:
            at = bisect_left(many, position - _REACH)
            if at < len(many) and many[at] == position:
                at += 1
            if at < len(many) and many[at] <= position + _REACH:
                return True
        return False

    def _closest(self, stems: frozenset[str]) -> tuple[frozenset[str], bool, float]:
        """Return the sentence that shares most with the statement, and what share that is."""
        shared = Counter(place for one in stems for place in self._places.get(one, ()))
        if not shared:
            return frozenset(), False, 0.0
        best = max(shared, key=lambda n: (shared[n] / (1 + 0.02 * len(self._sentences[n][0])), -n))
        words, negated = self._sentences[best]
        return words, negated, shared[best] / len(stems)

    def _strange_names(self, statement: str, said: frozenset[str]) -> list[str]:
        names = dict.fromkeys(_NAME.findall(statement))
        first = ((name, stem(words_of(name)[0])) for name in names if words_of(name))
        return [n for n, s in first if n != "I" and s not in self._words and s not in said]

    def _opposed(self, stems: frozenset[str], closest: frozenset[str]) -> list[str]:
        """Return the words whose opposite the passages have and they themselves do not."""
        found = []
        for one in sorted(stems & OPPOSITES.keys()):
            others = OPPOSITES[one]
            if one not in self._words and others & self._words and not others & stems:
                found.append(f"the opposite of {one!r}" if others & closest else f"{one!r}")
        return found
