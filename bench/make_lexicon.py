"""Write scorers/rules/wordnet.txt.gz from WordNet's database (Debian: ``wordnet-base``).

Run as ``python -m bench.make_lexicon /usr/share/wordnet``. Each line of the file is a stem of
scorers/rules/stems.py with five columns: ``n`` when it is a noun first of all, then the stems of
its synonyms, of its relatives (derived from it, or similar), of narrower words, and of its
opposites. Only the first senses of single words count, and only words that WordNet has met in
text stand in the last four columns.
"""

from __future__ import annotations

import gzip
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple, TypeAlias

from scorers.rules.lexicon import FILE
from scorers.rules.stems import stem

_PARTS = {"noun": "n", "verb": "v", "adj": "a", "adv": "r"}
_SENSES = 4
"""Rarer senses of a word make more wrong synonyms than right ones."""
_NOUN_FILES = range(3, 29)
"""WordNet's lexicographer files of nouns."""
_RELATIVE = frozenset("+&$\\^=")
_MARK = re.compile(r"\(.*\)")
_MAX_NARROWER = 60

Senses: TypeAlias = Mapping[str, list[str]]
"""Word -> the ids of its first senses."""


class Synset(NamedTuple):
    """One meaning: its words, and (relation, other meaning, source, target) of each pointer."""

    words: list[str]
    pointers: list[tuple[str, str, int, int]]


def synsets_of(folder: Path) -> dict[str, Synset]:
    """Read the meanings of all parts of speech."""
    found = {}
    for name, part in _PARTS.items():
        for fields in _lines(folder / f"data.{name}"):
            count = int(fields[3], 16)
            words = [_MARK.sub("", fields[4 + 2 * i]).lower() for i in range(count)]
            at = 4 + 2 * count
            pointers = []
            for i in range(int(fields[at])):
                relation, offset, kind, ends = fields[at + 1 + 4 * i : at + 5 + 4 * i]
                other = ("a" if kind == "s" else kind) + offset
                pointers.append((relation, other, int(ends[:2], 16), int(ends[-2:], 16)))
            found[part + fields[0]] = Synset(words, pointers)
    return found


def senses_of(folder: Path) -> dict[str, list[str]]:
    """Read the first senses of every single word."""
    found: dict[str, list[str]] = defaultdict(list)
    for name, part in _PARTS.items():
        for fields in _lines(folder / f"index.{name}"):
            if fields[0].isalpha():
                offsets = fields[-int(fields[2]) :]
                found[fields[0]] += [part + offset for offset in offsets[:_SENSES]]
    return found


def met_in_text(folder: Path) -> dict[str, bool]:
    """Return the stems that WordNet counts in text, and whether most often as a noun."""
    files: dict[str, Counter[bool]] = defaultdict(Counter)
    for fields in _lines(folder / "cntlist.rev"):
        word, _, rest = fields[0].partition("%")
        if word.isalpha():
            files[stem(word)][int(rest.split(":")[1]) in _NOUN_FILES] += int(fields[2])
    return {word: counts.most_common(1)[0][0] for word, counts in files.items()}


def rows(synsets: Mapping[str, Synset], senses: Senses, met: Mapping[str, bool]) -> Iterator[str]:
    """Yield the lines of the lexicon."""
    ids: dict[str, set[str]] = defaultdict(set)
    opposites: dict[str, set[str]] = defaultdict(set)
    for word, meanings in senses.items():
        ids[stem(word)].update(meanings)
        for meaning in meanings:
            opposites[stem(word)] |= _opposites(word, synsets[meaning], synsets)
    members, narrower = _members(ids, synsets, met)
    for one, own in sorted(ids.items()):
        synonyms = _union(members, own) - {one}
        pointers = [p for meaning in own for p in synsets[meaning].pointers]
        kin = _union(
            members, (other for relation, other, _, _ in pointers if relation in _RELATIVE)
        )
        kin -= synonyms | opposites[one] | {one}
        below = _union(narrower, own) - synonyms - kin - {one}
        if len(below) > _MAX_NARROWER:
            below = set()
        if one in met or synonyms or kin or below or opposites[one]:
            noun = met.get(one, all(meaning[0] == "n" for meaning in own))
            columns = (synonyms, kin, below, opposites[one] & met.keys())
            yield "\t".join((one, "n" * noun, *(" ".join(sorted(c)) for c in columns)))


def _members(
    ids: Mapping[str, set[str]], synsets: Mapping[str, Synset], met: Mapping[str, bool]
) -> tuple[dict[str, set[str]], dict[str, set[str]]]:
    """Return the words met in text of each meaning, and of the meanings right below it."""
    members: dict[str, set[str]] = defaultdict(set)
    narrower: dict[str, set[str]] = defaultdict(set)
    for one in ids.keys() & met.keys():
        for meaning in ids[one]:
            members[meaning].add(one)
            for relation, other, _, _ in synsets[meaning].pointers:
                if relation == "@":
                    narrower[other].add(one)
    return members, narrower


def _opposites(word: str, synset: Synset, synsets: Mapping[str, Synset]) -> set[str]:
    found = set()
    for relation, other, source, target in synset.pointers:
        if relation == "!" and target and synset.words[source - 1] == word:
            found.add(stem(synsets[other].words[target - 1].partition("_")[0]))
    return found


def _union(sets: Mapping[str, set[str]], keys: Iterable[str]) -> set[str]:
    return set().union(*(sets.get(key, set()) for key in keys))


def _lines(path: Path) -> Iterator[list[str]]:
    with path.open(encoding="latin-1") as file:
        for line in file:
            if not line.startswith(" "):
                yield line.partition(" | ")[0].split()


def main() -> None:
    """Write the file."""
    folder = Path(sys.argv[1])
    lines = rows(synsets_of(folder), senses_of(folder), met_in_text(folder))
    text = "".join(f"{line}\n" for line in lines)
    FILE.write_bytes(gzip.compress(text.encode(), 9, mtime=0))
    print(f"{FILE}: {text.count(chr(10))} stems, {FILE.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
