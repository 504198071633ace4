"""Check which words and characters a reply uses, and in which case."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

from scorers.constraints.constraint import Kind, Kinds, miscounted

_TOKEN = re.compile(r"[^\W_]+(?:['\u2019.-][^\W_]+)*")
_EMOJI = re.compile(
    "[\U0001f300-\U0001f5ff\U0001f600-\U0001f64f\U0001f680-\U0001f6ff\U0001f900-\U0001faff\u2600-\u27bf]"
)
_NAMED = 3


def _existence(reply: str, keywords: Sequence[str]) -> str:
    lower = reply.lower()
    missing = [one for one in keywords if one.lower() not in lower]
    return f"it lacks {_quoted(missing)}" if missing else ""


def _forbidden(reply: str, forbidden_words: Sequence[str]) -> str:
    used = [one for one in forbidden_words if whole_word(one).search(reply)]
    return f"it uses {_quoted(used)}" if used else ""


def _frequency(reply: str, keyword: str, frequency: int, relation: str = "at least") -> str:
    found = reply.lower().count(keyword.lower())
    wrong = miscounted(found, relation, frequency, "times")
    return wrong and f"it says {keyword!r} {found} times"


def _letters(reply: str, letter: str, let_frequency: int, let_relation: str = "at least") -> str:
    found = reply.lower().count(letter.lower())
    return miscounted(found, let_relation, let_frequency, f"of {letter!r}")


def _capitals(reply: str, capital_frequency: int, capital_relation: str = "at least") -> str:
    found = sum(1 for word in _TOKEN.findall(reply) if word.isupper())
    return miscounted(found, capital_relation, capital_frequency, "words in capitals")


def _upper(reply: str) -> str:
    return (
        ""
        if reply.isupper()
        else "it has small letters"
        if _letters_in(reply)
        else "it has no letters"
    )


def _lower(reply: str) -> str:
    return (
        "" if reply.islower() else "it has capitals" if _letters_in(reply) else "it has no letters"
    )


def _comma(reply: str) -> str:
    return "it has a comma" if "," in reply else ""


def _emoji(reply: str) -> str:
    found = _EMOJI.search(reply)
    return f"it has {unicodedata.name(found[0], 'an emoji').lower()}" if found else ""


def _pattern(reply: str, pattern: str, expected: bool = True) -> str:
    found = re.search(pattern, reply, re.MULTILINE)
    if bool(found) is expected:
        return ""
    return f"it says {found[0][:60]!r}" if found else f"nothing in it matches {pattern!r}"


def whole_word(word: str) -> re.Pattern[str]:
    """Return a pattern for a word or phrase that stands by itself."""
    before = r"\b" if word[:1].isalnum() else ""
    after = r"\b" if word[-1:].isalnum() else ""
    return re.compile(f"{before}{re.escape(word)}{after}", re.IGNORECASE)


def _letters_in(text: str) -> bool:
    return any(one.isalpha() for one in text)


def _quoted(words: Sequence[str]) -> str:
    more = f" and {len(words) - _NAMED} more" if len(words) > _NAMED else ""
    return ", ".join(f'"{word}"' for word in words[:_NAMED]) + more


KINDS: Kinds = {
    "keywords:existence": Kind(
        check=_existence,
        wording=lambda keywords: f"say {_quoted(keywords)}",
        about="Each of `keywords` stands in it, in any case.",
    ),
    "keywords:forbidden_words": Kind(
        check=_forbidden,
        wording=lambda forbidden_words: f"not say {_quoted(forbidden_words)}",
        about="None of `forbidden_words` stands in it as a word.",
    ),
    "keywords:frequency": Kind(
        check=_frequency,
        wording=lambda keyword, frequency, relation="at least": (
            f'say "{keyword}" {relation} {frequency} times'
        ),
        about="`keyword` stands in it `relation` `frequency` times.",
    ),
    "keywords:letter_frequency": Kind(
        check=_letters,
        wording=lambda letter, let_frequency, let_relation="at least": (
            f'have "{letter}" {let_relation} {let_frequency} times'
        ),
        about="The character `letter` stands in it `let_relation` `let_frequency` times.",
    ),
    "change_case:capital_word_frequency": Kind(
        check=_capitals,
        wording=lambda capital_frequency, capital_relation="at least": (
            f"have {capital_relation} {capital_frequency} words in capitals"
        ),
        about="`capital_relation` `capital_frequency` of its words are all capitals.",
    ),
    "change_case:english_capital": Kind(
        check=_upper, wording=lambda: "be all capitals", about="It has no small letter."
    ),
    "change_case:english_lowercase": Kind(
        check=_lower, wording=lambda: "be all small letters", about="It has no capital."
    ),
    "punctuation:no_comma": Kind(
        check=_comma, wording=lambda: "have no comma", about="It has no comma."
    ),
    "punctuation:no_emoji": Kind(
        check=_emoji, wording=lambda: "have no emoji", about="It has no emoji or pictograph."
    ),
    "regex": Kind(
        check=_pattern,
        wording=lambda pattern, expected=True: (
            f"{'match' if expected else 'not match'} {pattern!r}"
        ),
        about="The regular expression `pattern` matches somewhere; with `expected: false`, nowhere.",
    ),
}
"""The kinds by name; those that IFEval (Zhou et al. 2023, arXiv:2311.07911) has bear its names."""
