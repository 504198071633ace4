"""Index the passages an answer should rest on, so that its words are quickly found in them."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterable, Sequence
from collections.abc import Set as AbstractSet
from functools import cached_property
from typing import Literal, TypeAlias

import msgspec

from scorers.rules.lexicon import entry_of
from scorers.rules.reading import Word, cleaned, read
from scorers.rules.statements import sentences_of

Nearness: TypeAlias = Literal["same", "synonym", "kin", "narrower", "rounded", "none"]
"""How what stands in the passages is related to a word."""

_DENIED = 4
"""A denial reaches this many words."""
_COUNTED = 3
"""A number belongs to a thing that follows within this many words."""
_MAX_PLACES = 50
_MAX_POSITIONS = 200
_SHARED_START = 5
_ROUNDED_FROM = 20
_YEAR_DIGITS = 4
_LINKS = frozenset(("of", "and", "for", "the"))


class Match(msgspec.Struct, frozen=True, kw_only=True):
    """What the passages hold of a word."""

    nearness: Nearness
    stems: frozenset[str] = frozenset()
    """What stands for it there."""


_MAX_WORDS = 100
_GAP_WORDS = 12
_GAP = Word(text="", lower="", stem="", content=False)
_GAPS = [_GAP] * _GAP_WORDS
"""Stand between two texts, so that nothing of one is near anything of the other."""
_NONE = Match(nearness="none")


class Sentence(msgspec.Struct, frozen=True, kw_only=True):
    """One sentence of the passages, as positions of its words."""

    text: str
    first: int
    end: int


class Passages:
    """An index of texts: their words, where each stands, and their sentences."""

    def __init__(self, texts: Iterable[str]) -> None:
        self.words: list[Word] = []
        self.sentences: list[Sentence] = []
        self.stems: set[str] = set()
        self._of_sentence: list[int] = []
        self._positions: dict[str, list[int]] = {}
        self._denials: list[int] = []
        self._numbers: list[int] = []
        for text in texts:
            if self.sentences:
                self._append("", _GAPS)
            for sentence in sentences_of(text):
                self._add(sentence)

    def _add(self, sentence: str) -> None:
        words = read(cleaned(sentence))
        if len(words) <= _MAX_WORDS:
            self._append(sentence, words)
            return
        # Text without full stops would be one sentence, and what costs its length squared.
        for first in range(0, len(words), _MAX_WORDS):
            piece = words[first : first + _MAX_WORDS]
            self._append(" ".join(word.text for word in piece), piece)

    def _append(self, sentence: str, words: list[Word]) -> None:
        first = len(self.words)
        for position, word in enumerate(words, first):
            if word.content:
                self._positions.setdefault(word.stem, []).append(position)
                if word.number is not None or word.ordinal:
                    self._numbers.append(position)
            elif word.denies:
                self._denials.append(position)
        self.stems.update([word.stem for word in words])
        self.words += words
        self._of_sentence += [len(self.sentences)] * len(words)
        self.sentences.append(Sentence(text=sentence, first=first, end=len(self.words)))

    def positions(self, stem: str) -> Sequence[int]:
        """Return where a word of content stands, in order."""
        return self._positions.get(stem, ())

    def match(self, word: Word) -> Match:
        """Find the word itself, else one that means the same, else one that is related."""
        one = word.stem
        if one in self.stems:
            return Match(nearness="same", stems=frozenset((one,)))
        if word.counts:
            return self._rounded(word)
        if word.capital and word.lower in self._initials:
            return Match(nearness="synonym")
        known, held = entry_of(one), self._positions.keys()
        start = self._starts.get(one[:_SHARED_START], "") if len(one) >= _SHARED_START else ""
        ways: tuple[tuple[Nearness, AbstractSet[str]], ...] = (
            ("synonym", known.synonyms & held),
            ("kin", known.kin & held or {start} - {""}),
            ("narrower", known.narrower & held),
        )
        for nearness, found in ways:
            if found:
                return Match(nearness=nearness, stems=frozenset(found))
        return _NONE

    def _rounded(self, word: Word) -> Match:
        """Find a number that the word's round one stands for: 45,000 for 45,700."""
        value = word.number
        year = word.text.isdigit() and len(word.text) == _YEAR_DIGITS
        if value is None or value < _ROUNDED_FROM or year:
            return _NONE
        digits = f"{value:.0f}"
        step = 10.0 ** (len(digits) - len(digits.rstrip("0")))
        if step == 1 or step > value * 0.2:
            # Of 300 only the first digit is sure, which is too little to call it the same.
            step = min(step, 10.0 ** (len(digits) - 2))
        if step < 10:
            return _NONE
        low = bisect_left(self._values, value - step / 2)
        high = bisect_right(self._values, value + step * 0.999)
        found = [name for _, name in self._named_values[low:high]]
        return Match(nearness="rounded", stems=frozenset(found)) if found else _NONE

    def sentence_of(self, position: int) -> int:
        """Return the number of the sentence a position is in."""
        return self._of_sentence[position]

    def closest(self, matches: Sequence[Match]) -> int:
        """Return the number of the sentence that holds most of the words, -1 for none.

        A word that stands in many sentences tells less, and a long sentence holds more by chance.
        """
        shared: Counter[int] = Counter()
        for match in matches:
            places = {
                self._of_sentence[position]
                for stem in match.stems
                for position in self._positions.get(stem, ())[:_MAX_PLACES]
            }
            weight = (1.0 if match.nearness == "same" else 0.7) / (1 + 0.2 * len(places) ** 0.5)
            for place in places:
                shared[place] += weight
        if not shared:
            return -1
        return max(
            shared, key=lambda n: (shared[n] - 0.01 * self._length(n), self.sentences[n].text, -n)
        )

    def _length(self, number: int) -> int:
        sentence = self.sentences[number]
        return sentence.end - sentence.first

    def are_near(self, ones: Iterable[str], others: Iterable[str], reach: int) -> bool:
        """Say whether any of some words stands within some words of any of others."""
        return any(self._near(one, other, reach) for one in ones for other in others)

    def _near(self, one: str, other: str, reach: int) -> bool:
        few, many = sorted((self.positions(one), self.positions(other)), key=len)
        for position in few[:_MAX_POSITIONS]:
            at = bisect_left(many, position - reach)
            if at < len(many) and many[at] == position:
                at += 1
            if at < len(many) and many[at] <= position + reach:
                return True
        return False

    @property
    def denies(self) -> bool:
        """Say whether the passages deny anything."""
        return bool(self._denials)

    def always_denied(self, stem: str) -> bool:
        """Say whether a word stands behind a denial wherever it stands."""
        positions = self.positions(stem)
        return bool(positions) and all(p in self._denied for p in positions)

    def ever_denied(self, stem: str) -> bool:
        """Say whether a word stands behind a denial anywhere."""
        return any(p in self._denied for p in self.positions(stem))

    def counts_of(self, stem: str) -> frozenset[str]:
        """Return the numbers that stand right before a word."""
        return frozenset(self._counted.get(stem, ()))

    def measures_of(self, number: str) -> frozenset[str]:
        """Return the units a number stands with."""
        return measures_at(self.words, self.positions(number))

    def quotes(self, words: Sequence[Word]) -> bool:
        """Say whether words stand in the passages one after the other."""
        return f" {' '.join(word.stem for word in words)} " in self._running

    @cached_property
    def _running(self) -> str:
        return f" {' '.join(word.stem for word in self.words)} "

    @cached_property
    def _denied(self) -> set[int]:
        return {
            position
            for denial in self._denials
            for position in range(denial + 1, denial + 1 + _DENIED)
            if position < len(self.words)
            and self._of_sentence[position] == self._of_sentence[denial]
        }

    @cached_property
    def _counted(self) -> dict[str, set[str]]:
        found: dict[str, set[str]] = {}
        for position in self._numbers:
            for thing in counted_by(self.words, position):
                found.setdefault(thing, set()).add(self.words[position].stem)
        return found

    @cached_property
    def _named_values(self) -> list[tuple[float, str]]:
        words = (self.words[position] for position in self._numbers)
        return sorted({(word.number, word.stem) for word in words if word.number is not None})

    @cached_property
    def _values(self) -> list[float]:
        return [value for value, _ in self._named_values]

    @cached_property
    def _starts(self) -> dict[str, str]:
        long = (s for s in self._positions if len(s) >= _SHARED_START and s[0].isalpha())
        return {stem[:_SHARED_START]: stem for stem in long}

    @cached_property
    def _initials(self) -> frozenset[str]:
        return frozenset(initials_of(self.words))

    @cached_property
    def abbreviations(self) -> frozenset[str]:
        """Words of capitals, in small letters."""
        return frozenset(w.lower for w in self.words if w.text.isupper() and 2 <= len(w.text) <= 6)


def initials_of(words: Sequence[Word]) -> dict[str, list[Word]]:
    """Return the first letters of names of several words: ``who`` for World Health Organization."""
    found: dict[str, list[Word]] = {}
    name: list[Word] = []
    for word in (*words, None):
        if word is not None and word.capital:
            name.append(word)
        elif word is None or word.lower not in _LINKS:
            if len(name) > 1:
                found["".join(part.lower[0] for part in name)] = name
            name = []
    return found


def counted_by(words: Sequence[Word], position: int) -> list[str]:
    """Return the words of content that a number at a position may count."""
    found = []
    for word in words[position + 1 : position + 1 + _COUNTED]:
        if word.counts:
            break
        if word.content:
            found.append(word.stem)
    return found


def measures_at(words: Sequence[Word], positions: Iterable[int]) -> frozenset[str]:
    """Return the units right before or right after numbers at some positions."""
    return frozenset(
        words[near].stem
        for position in positions
        for near in (position - 1, position + 1)
        if 0 <= near < len(words)
        and words[near].measure
        and (near > position or not words[near].stem.isalpha())
    )
