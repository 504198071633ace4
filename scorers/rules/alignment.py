"""Lay a statement's words beside the passages and the sentence that is closest to it."""

from __future__ import annotations

import msgspec

from scorers.rules.passages import Match, Passages, initials_of
from scorers.rules.reading import Word


class Alignment(msgspec.Struct, frozen=True, kw_only=True):
    """A statement's words beside the passages and the sentence that is closest to it."""

    words: list[Word]
    content: list[Word]
    matches: list[Match]
    said: frozenset[str]
    passages: Passages
    closest: list[Word]
    first: int
    """Position of the closest sentence's first word."""
    places: list[list[int]]
    """Per word of content, where the closest sentence has it, from its start."""
    stems: frozenset[str]
    """The statement's stems; ``own`` those of the closest sentence, ``around`` with its neighbours."""
    own: frozenset[str]
    around: frozenset[str]

    @property
    def local(self) -> float:
        """The share of the words that the closest sentence has."""
        return sum(map(bool, self.places)) / len(self.content)


def align(
    words: list[Word], content: list[Word], passages: Passages, said: frozenset[str]
) -> Alignment:
    """Find each word of a statement in the passages, and the sentence that holds most of them."""
    matches = [passages.match(word) for word in content]
    matches = _spelt_out(words, content, matches, passages)
    number = passages.closest(matches)
    closest: list[Word] = []
    first = 0
    around: set[str] = set()
    if number >= 0:
        sentence = passages.sentences[number]
        first = sentence.first
        closest = passages.words[first : sentence.end]
        near = passages.sentences[max(0, number - 1) : number + 2]
        around = {word.stem for word in passages.words[near[0].first : near[-1].end]}
    at: dict[str, list[int]] = {}
    for position, word in enumerate(closest):
        at.setdefault(word.stem, []).append(position)
    return Alignment(
        words=words,
        content=content,
        matches=matches,
        said=said,
        passages=passages,
        closest=closest,
        first=first,
        places=[[p for one in match.stems for p in at.get(one, ())] for match in matches],
        stems=frozenset(word.stem for word in words),
        own=frozenset(at),
        around=frozenset(around),
    )


def _spelt_out(
    words: list[Word], content: list[Word], matches: list[Match], passages: Passages
) -> list[Match]:
    """Take a name whose initials stand in the passages as found."""
    if all(match.nearness != "none" for match in matches):
        return matches
    found: set[str] = set()
    for initials, name in initials_of(words).items():
        if initials in passages.abbreviations:
            found.update(word.stem for word in name)
    return [
        Match(nearness="synonym") if match.nearness == "none" and word.stem in found else match
        for word, match in zip(content, matches, strict=True)
    ]
