"""Check how long a reply is: in words, sentences, paragraphs and characters."""

from __future__ import annotations

import re

from scorers.constraints.constraint import Kind, Kinds, miscounted

_WORD = re.compile(r"\w+")
_RULER = re.compile(r"\s?\*\*\*\s?")
_BLANK = re.compile(r"\n\n")
_STOP = re.compile(r"[.!?]+[\"')\]\u201d\u2019]*(?=\s|\Z)|[\u3002\uff01\uff1f\u0964]")
_ABBREVIATION = re.compile(
    r"(?:\b(?:mr|mrs|ms|dr|prof|st|vs|etc|e\.g|i\.e|inc|ltd|co|jr|sr|no|approx|a\.m|p\.m|u\.s)|(?:^|\s)[a-z]|(?:^|\n)\s*\d{1,3})\.$",
    re.IGNORECASE,
)
_LINE_MARK = re.compile(r"^\s*(?:[-*•]|\d{1,3}[.)])\s+", re.MULTILINE)
_NEAR = 12


def sentences(text: str) -> int:
    """Count the sentences of a text: runs that end with a stop, and the rest after the last."""
    count = end = 0
    plain = _LINE_MARK.sub("", text)
    cased = not plain.islower()
    for found in _STOP.finditer(plain):
        before = plain[max(0, found.start() - _NEAR) : found.start() + 1]
        goes_on = plain[found.end() :].lstrip()[:1]
        if found[0] == "." and (_ABBREVIATION.search(before) or (cased and goes_on.islower())):
            continue
        if any(one.isalnum() for one in plain[end : found.start()]):
            count += 1
        end = found.end()
    return count + any(one.isalnum() for one in plain[end:])


def paragraphs(text: str) -> list[str]:
    """Return what blank lines separate."""
    return [one.strip() for one in re.split(r"\n\s*\n", text) if one.strip()]


def _words(reply: str, num_words: int, relation: str = "at most") -> str:
    return miscounted(len(_WORD.findall(reply)), relation, num_words, "words")


def _sentences(reply: str, num_sentences: int, relation: str = "at most") -> str:
    return miscounted(sentences(reply), relation, num_sentences, "sentences")


def _characters(reply: str, num_characters: int, relation: str = "at most") -> str:
    return miscounted(len(reply.strip()), relation, num_characters, "characters")


def _paragraphs(reply: str, num_paragraphs: int) -> str:
    parts = [one.strip() for one in _RULER.split(reply)]
    # a ruler before the first or after the last separates nothing
    inner = parts[1 if not parts[0] else 0 : -1 if len(parts) > 1 and not parts[-1] else None]
    if not all(inner):
        return "it has an empty paragraph"
    return miscounted(len(inner), "exactly", num_paragraphs, "paragraphs")


def _blocks(reply: str, num_paragraphs: int, relation: str = "at most") -> str:
    return miscounted(len(paragraphs(reply)), relation, num_paragraphs, "paragraphs")


def _first_word(reply: str, num_paragraphs: int, nth_paragraph: int, first_word: str) -> str:
    pieces = _BLANK.split(reply)
    count = sum(1 for one in pieces if one.strip())
    if count != num_paragraphs:
        return f"it has {count} paragraphs"
    piece = pieces[nth_paragraph - 1].strip() if 0 < nth_paragraph <= len(pieces) else ""
    word = re.match(r"[^\s.,?!'\"]*", piece.lstrip("'\""))
    found = word[0] if word else ""
    if found.lower() == first_word.lower():
        return ""
    return f"paragraph {nth_paragraph} begins with {found!r}"


KINDS: Kinds = {
    "length_constraints:number_words": Kind(
        check=_words,
        wording=lambda num_words, relation="at most": f"have {relation} {num_words} words",
        about="It has `relation` `num_words` words.",
    ),
    "length_constraints:number_sentences": Kind(
        check=_sentences,
        wording=lambda num_sentences, relation="at most": (
            f"have {relation} {num_sentences} sentences"
        ),
        about="It has `relation` `num_sentences` sentences.",
    ),
    "length_constraints:number_characters": Kind(
        check=_characters,
        wording=lambda num_characters, relation="at most": (
            f"have {relation} {num_characters} characters"
        ),
        about="It has `relation` `num_characters` characters.",
    ),
    "length_constraints:number_paragraphs": Kind(
        check=_paragraphs,
        wording=lambda num_paragraphs: f"have {num_paragraphs} paragraphs between `***`",
        about="Rulers (`***`) cut it into `num_paragraphs` paragraphs.",
    ),
    "length_constraints:number_blocks": Kind(
        check=_blocks,
        wording=lambda num_paragraphs, relation="at most": (
            f"have {relation} {num_paragraphs} paragraphs"
        ),
        about="Blank lines cut it into `relation` `num_paragraphs` paragraphs.",
    ),
    "length_constraints:nth_paragraph_first_word": Kind(
        check=_first_word,
        wording=lambda num_paragraphs, nth_paragraph, first_word: (
            f'have {num_paragraphs} paragraphs, of which number {nth_paragraph} begins with "{first_word}"'
        ),
        about="It has `num_paragraphs` paragraphs, and `nth_paragraph` begins with `first_word`.",
    ),
}
"""The kinds by name; those that IFEval has bear its names."""
