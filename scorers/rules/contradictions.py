"""Find what a statement tells otherwise than the passages do."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from scorers.rules.alignment import Alignment
from scorers.rules.lexicon import entry_of
from scorers.rules.passages import Passages, counted_by, measures_at
from scorers.rules.reading import Word, cleaned, read
from scorers.rules.stems import stem

_MOST = 0.8
_DENIED = 4
_SPARE = 3
_QUOTED = re.compile(r'["\u201c]([^"\u201c\u201d]{8,400})["\u201d]')
_QUOTED_WORDS = 4
"""Fewer words may be a title or a word that is spoken of."""
_QUOTED_SHARE = 0.34
"""Of the words; a quotation that was put otherwise is no invention."""
_QUOTED_CHARS = 60
_DECISIVE = ("opposite", "reversed", "unit", "denies_alone", "denial_new", "sides")
_AGAINST = re.compile(r"(?:un|in|im|ir|il|dis|mis|de|non|anti|counter)([a-z]{4,})")


def contradictions(aligned: Alignment) -> dict[str, list[str]]:
    """Find words whose opposite the passages have, and numbers they give to something else."""
    found: dict[str, list[str]] = {"opposite": [], "reversed": [], "number_moved": []}
    found |= {"unit": [], "sides": []}
    for word in aligned.words:
        if word.stem in aligned.own or word.counts:
            continue
        others = entry_of(word.stem).opposites - aligned.stems
        if others & aligned.own:
            there = next(w.text for w in aligned.closest if w.stem in others)
            found["opposite"].append(f"{word.text!r} where it says {there!r}")
    found["reversed"] = _reversed(aligned)
    for position, word in enumerate(aligned.words):
        if word.counts:
            _compare_number(aligned, position, found)
    if _changed_sides(aligned):
        if found["opposite"]:  # "A is faster than B" is "B is slower than A"
            found["opposite"] = []
        else:
            found["sides"].append("who or what stands on which side")
    return found


def _reversed(aligned: Alignment) -> list[str]:
    """Find words that another has with a prefix that denies it: "suitable", "unsuitable"."""
    found = []
    there = aligned.passages.stems
    for word in aligned.words:
        base = _AGAINST.fullmatch(word.lower)
        if base and word.stem not in there and stem(base[1]) in there - aligned.stems:
            found.append(f"{word.text!r} where it says {base[1]!r}")
    for word in aligned.closest:
        base = _AGAINST.fullmatch(word.lower)
        if base and stem(base[1]) in aligned.stems and word.stem not in aligned.stems:
            found.append(f"{base[1]!r} where it says {word.text!r}")
    return found


def _changed_sides(aligned: Alignment) -> bool:
    """Say whether what stands before a word and behind it changed places: "A beat B", "B beat A".

    Only around "than", and for names around a verb of both, in the same voice.
    """
    here, there = aligned.words, aligned.closest
    if any(word.lower == "by" for word in here) != any(word.lower == "by" for word in there):
        return False
    stems = [word.stem for word in there]
    for at, pivot in enumerate(here):
        compares = pivot.lower == "than"
        acts = pivot.content and not pivot.capital and not entry_of(pivot.stem).noun
        if not (compares or acts) or stems.count(pivot.stem) != 1:
            continue
        middle = stems.index(pivot.stem)
        sides = [
            {w.stem for w in side if (w.content if compares else w.capital)}
            for side in (here[:at], here[at + 1 :], there[:middle], there[middle + 1 :])
        ]
        before, after, was_before, was_after = sides
        if before & was_after - was_before and after & was_before - was_after:
            return True
    return False


def _compare_number(aligned: Alignment, position: int, found: dict[str, list[str]]) -> None:
    word, passages = aligned.words[position], aligned.passages
    for thing in counted_by(aligned.words, position)[:1]:
        counts = passages.counts_of(thing)
        if counts and word.stem not in counts and word.stem not in aligned.said:
            found["number_moved"].append(f"{word.text!r} where it gives another number")
    units = measures_at(aligned.words, (position,))
    there = passages.measures_of(word.stem)
    if units and there and not units & there:
        found["unit"].append(f"{word.text!r} with another unit")


def denials(aligned: Alignment) -> dict[str, float]:
    """Compare what the statement and the passages deny."""
    passages = aligned.passages
    denied = denied_words(aligned.words)
    denies = any(word.denies for word in aligned.words)
    there = any(word.denies for word in aligned.closest)
    added = lifted = 0
    for word in aligned.content:
        if word.counts or word.stem not in passages.stems:
            continue
        if word.stem in denied:
            added += not passages.ever_denied(word.stem)
        else:
            lifted += passages.denies and passages.always_denied(word.stem)
    return {
        "denies": float(denies),
        "denies_alone": float(denies and not there),
        "denial_dropped": float(there and not denies and aligned.local >= 0.6),
        "denial_new": float(_newly_denied(aligned)),
        "denial_added": float(added) * (aligned.local > 0.66),
        "denial_lifted": float(lifted) * (aligned.local > 0.66),
    }


def _newly_denied(aligned: Alignment) -> bool:
    """Say whether the first word behind a denial stands in the closest sentence far from any."""
    denials = [at for at, word in enumerate(aligned.closest) if word.denies]
    places = {id(w): p for w, p in zip(aligned.content, aligned.places, strict=True)}
    behind = False
    for word in aligned.words:
        if behind and word.content:
            found = places[id(word)]
            if found and all(abs(at - place) > _DENIED for at in denials for place in found):
                return True
        behind = word.denies or (behind and not word.content)
    return False


def denied_words(words: Sequence[Word]) -> frozenset[str]:
    """Return the stems of the words that stand shortly behind a denial."""
    reach = 0
    found = set()
    for word in words:
        if word.denies:
            reach = _DENIED
        elif reach:
            found.add(word.stem)
            reach -= 1
    return frozenset(found)


def invented_quotations(statement: str, passages: Passages) -> list[str]:
    """Return what is quoted and stands nowhere like that."""
    found = []
    for match in _QUOTED.finditer(statement):
        words = read(cleaned(match[1]))
        if len(words) < _QUOTED_WORDS or passages.quotes(words):
            continue
        content = [word for word in words if word.content]
        if sum(word.stem in passages.stems for word in content) <= _QUOTED_SHARE * len(content):
            found.append(f"the quotation {match[1][:_QUOTED_CHARS]!r}, which stands nowhere")
    return found


def clashes(
    aligned: Alignment, absent: Mapping[str, list[Word]], signs: Mapping[str, float]
) -> bool:
    """Say whether a quotation is invented, or all but a number, a name, a denial or an opposite stands in one place.

    Such a statement is about what the passages tell, and tells it otherwise.
    """
    if signs["quotation"]:
        return True
    lost = {word.stem for kind in ("number", "small_number", "name") for word in absent[kind]}
    lost |= {w.stem for w in aligned.content if entry_of(w.stem).opposites & aligned.own}
    rest = [
        bool(places) or word.stem in aligned.around
        for word, places in zip(aligned.content, aligned.places, strict=True)
        if word.stem not in lost and not (signs["unit"] and word.measure)
    ]
    if not rest or sum(rest) < _MOST * len(rest):
        return False
    # a denial taken out of a sentence that is otherwise the same, not of one that says more
    lifted = signs["denial_lifted"] and len(aligned.closest) <= len(aligned.words) + _SPARE
    if lifted or any(signs[name] for name in _DECISIVE):
        return True
    other_number = any(word.counts for word in aligned.closest)
    other_name = any(word.capital for word in aligned.closest[1:])
    numbers = absent["number"] or absent["small_number"]
    return bool((numbers and other_number) or (absent["name"] and other_name))
