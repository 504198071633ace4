"""Measure how a statement rests on passages, by signs that each have a meaning of their own."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType

import msgspec

from scorers.rules.alignment import Alignment, align
from scorers.rules.contradictions import clashes, contradictions, denials, invented_quotations
from scorers.rules.lexicon import entry_of
from scorers.rules.passages import Match, Passages
from scorers.rules.reading import Word, cleaned, read
from scorers.rules.stems import stem, stems_of

_NEAR = 6
_MAX_WORDS = 150
"""Of a statement without an end."""
_MAX_STEMS = 4
_MAYBE = frozenset(("may", "might", "could", "possibly", "perhaps", "likely", "probably"))
_SURE = MappingProxyType(
    {**dict.fromkeys(_MAYBE, "maybe"), "will": "will", "must": "must", "should": "must"}
)
_DEGREE_WORDS = """very extremely highly heavily most always all every any entirely completely fully totally over
under more less least than slightly somewhat only exactly"""
_DEGREES = frozenset(_DEGREE_WORDS.split())
_QUANTIFIER_WORDS = """all every each always only none most many few several both half majority minority entire whole
partially completely fully entirely exactly least sole solely last never other another"""
_QUANTIFIERS = frozenset(_QUANTIFIER_WORDS.split())
_SELF = frozenset(("i", "i'm", "i've", "i'd", "i'll", "my", "me", "myself", "mine"))
_CONTRASTS = frozenset(("but", "despite", "although", "however", "instead", "except", "rather"))
_ABOUT_TEXTS = stems_of(
    """document speaker speakers podcast text article passage author writer narrator host conversation transcript
    discuss describe mention state explain talk introduce highlight express emphasize note report say tell present
    show propose"""
)
"""Words about texts and talk, which a summary has of its own."""


class Support(msgspec.Struct, frozen=True, kw_only=True):
    """How a statement rests on the passages."""

    signs: Mapping[str, float]
    """What speaks against it, each 0 and above; the names are the keys of the weights."""
    numbers: tuple[str, ...] = ()
    """Numbers that the passages do not hold."""
    names: tuple[str, ...] = ()
    words: tuple[str, ...] = ()
    """Other words that they do not hold, nor any that means the same."""
    against: tuple[str, ...] = ()
    """What the passages say otherwise, each in a few words."""
    passage: str = ""
    """The sentence that is closest to it."""


def support(
    statement: str, passages: Passages, said: frozenset[str] = frozenset()
) -> Support | None:
    """Measure a statement; ``None`` when it has no word of content.

    ``said`` are stems of what the user said: what comes from there is not asked of the passages.
    """
    words = read(cleaned(statement))[:_MAX_WORDS]
    content = [word for word in words if word.content]
    if not content:
        return None
    aligned = align(words, content, passages, said)
    invented = invented_quotations(statement, passages)
    absent = _absent(aligned)
    against = contradictions(aligned)
    signs: dict[str, float] = {name: float(len(found)) for name, found in absent.items()}
    signs |= {name: float(len(found)) for name, found in against.items()}
    signs |= _nearness(aligned)
    signs |= denials(aligned)
    signs |= _manner(aligned)
    signs = {name: min(value, _CAP.get(name, 2.0)) for name, value in signs.items()}
    signs |= _coverage(aligned, signs)
    signs["quotation"] = float(bool(invented))
    signs["clash"] = float(clashes(aligned, absent, signs))
    denies = signs["denial_new"] or signs["denies_alone"]
    lifted = signs["denial_lifted"] and signs["clash"]
    denial = (
        *(["a denial that it does not make"] if denies else []),
        *(["the denial is left out"] if lifted else []),
    )
    close = aligned.passages.sentence_of(aligned.first) if aligned.closest else -1
    return Support(
        signs=signs,
        numbers=tuple(w.text for n in ("number", "small_number") for w in absent[n]),
        names=tuple(dict.fromkeys(w.text for w in absent["name"])),
        words=tuple(dict.fromkeys(w.text for n in ("noun", "word") for w in absent[n])),
        against=tuple(dict.fromkeys((*invented, *itertools.chain(*against.values()), *denial))),
        passage=passages.sentences[close].text if close >= 0 else "",
    )


_CAP: Mapping[str, float] = {"noun": 3, "word": 3, "name": 3, "synonym": 3, "kin": 3, "narrower": 3}
"""More of the same adds nothing; of the signs not named here, 2."""


def _absent(aligned: Alignment) -> dict[str, list[Word]]:
    """Sort the words that are not in the passages as they are by what they are."""
    kinds = ("number", "small_number", "rounded", "name", "noun", "word")
    found: dict[str, list[Word]] = {kind: [] for kind in (*kinds, "synonym", "kin", "narrower")}
    for word, match in zip(aligned.content, aligned.matches, strict=True):
        if match.nearness == "same" or word.stem in aligned.said:
            continue
        if word.counts and match.nearness == "none":
            found["small_number" if word.spelt or word.ordinal else "number"].append(word)
        elif word.capital and (word is not aligned.words[0] or _begins_name(aligned.words)):
            if match.nearness == "none":
                found["name"].append(word)
        elif match.nearness != "none":
            found[match.nearness].append(word)
        elif word.stem not in _ABOUT_TEXTS:
            found["noun" if entry_of(word.stem).noun else "word"].append(word)
    return found


def _begins_name(words: Sequence[Word]) -> bool:
    """Say whether the first word of a statement, which any capital begins, is part of a name."""
    return len(words) > 1 and words[1].capital and words[1].content


def _nearness(aligned: Alignment) -> dict[str, float]:
    """Measure whether the words stand in the same order, and as often."""
    held = [places for places in aligned.places if places]
    steps = list(itertools.pairwise(held))
    turned = sum(max(after) <= min(before) for before, after in steps)
    counts = Counter(word.stem for word in aligned.content)
    there = Counter(word.stem for word in aligned.closest)
    repeated = sum(n > 1 and 0 < there[word] < n for word, n in counts.items())
    share = turned / len(steps) if steps else 0.0
    return {
        "turned": share,
        "turned_closely": share * (aligned.local >= 0.75),
        "repeated": float(repeated),
    }


def _manner(aligned: Alignment) -> dict[str, float]:
    """Compare how sure, how much and how many."""
    here = {word.lower for word in aligned.words if word.text != "May"}
    there = {word.lower for word in aligned.closest if word.text != "May"}
    sure = {_SURE[word] for word in here & _SURE.keys()}
    sure_there = {_SURE[word] for word in there & _SURE.keys()}
    everywhere: Callable[[str], bool] = lambda w: stem(w) in aligned.passages.stems  # noqa: E731
    return {
        "surer": float("maybe" in sure_there - sure),
        "other_modal": float(bool(sure - sure_there)),
        "degree": len((here & _DEGREES) - there) * float(aligned.local > 0.5),
        "quantifier": float(sum(not everywhere(word) for word in here & _QUANTIFIERS)),
        "contrast": float(bool(here & _CONTRASTS) and not there & _CONTRASTS),
    }


def _coverage(aligned: Alignment, signs: Mapping[str, float]) -> dict[str, float]:
    """Measure how much of the statement the passages have, in one place and in order."""
    count = len(aligned.content)
    beyond = sum(not match.stems & aligned.around for match in aligned.matches) / count
    pairs = list(itertools.pairwise(aligned.matches))
    if pairs:
        apart = sum(not _together(aligned.passages, *pair) for pair in pairs) / len(pairs)
    else:
        apart = float(aligned.matches[0].nearness == "none")
    unlike = 1 - _longest_run(aligned) / len(aligned.words)
    strikes = sum(signs[name] for name in ("number", "small_number", "name", "opposite"))
    strikes = min(4.0, strikes + signs["denies_alone"])
    return {
        "beyond": beyond,
        "foreign": float(
            beyond >= 0.8
            and apart >= 0.9
            and count >= 4
            and not any(w.lower in _SELF for w in aligned.words)
        ),
        "apart": apart,
        "unlike": unlike,
        "unsupported": 1 - (1 - (beyond + apart + unlike) / 3) * 0.5**strikes,
        "opposite_closely": signs["opposite"] * (aligned.local >= 0.6),
        "noun_share": signs["noun"] / count,
        "length": math.log(count),
        "short": float(count <= 2),
    }


def _together(passages: Passages, one: Match, other: Match) -> bool:
    return passages.are_near(
        sorted(one.stems)[:_MAX_STEMS], sorted(other.stems)[:_MAX_STEMS], _NEAR
    )


def _longest_run(aligned: Alignment) -> int:
    """Return how many words in a row stand in the closest sentence just so."""
    best = 0
    previous: dict[int, int] = {}
    at: dict[str, list[int]] = {}
    for position, word in enumerate(aligned.closest):
        at.setdefault(word.stem, []).append(position)
    for word in aligned.words:
        runs = {p: previous.get(p - 1, 0) + 1 for p in at.get(word.stem, ())}
        best = max(best, max(runs.values(), default=0))
        previous = runs
    return best
