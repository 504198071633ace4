"""Find the constraints that a system prompt states, where a program can verify them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

from scorers.constraints.constraint import Constraint
from scorers.constraints.kinds import constraint
from scorers.constraints.language import NAMES
from scorers.rules.stems import NUMERALS

_MAX_CHARS = 60_000
_MAX_FOUND = 30
_BREAK = re.compile(r"(?<=[.!?;])\s+|\n+")
_CONDITION = re.compile(
    r"\b(?:if|when|whenever|unless|except|until|once|in case|where|for example|e\.g|such as|instead of|may|might|can|try to|prefer(?:ably)?|ideally|roughly|about|around|approximately|"
    r"tool|tools|function|argument|arguments|parameter|summary|title|subject|e-?mail|note|notes|field|fields|step|steps|per day|(?:customer|user)(?:'s)? (?:name|language))\b",
    re.IGNORECASE,
)
"""What makes a demand hold only now and then, or for something else than the reply."""
_REPLY = r"\b(?:repl(?:y|ies)|answers?|respon[ds]e?s?|respond|write|speak|communicate|talk|messages?|output|keep|limit|be)\b"
_COUNT = r"(?P<n>\d{1,5}|one|two|three|four|five|six|seven|eight|nine|ten)"
_UNITS = {
    "word": ("length_constraints:number_words", "num_words"),
    "sentence": ("length_constraints:number_sentences", "num_sentences"),
    "paragraph": ("length_constraints:number_blocks", "num_paragraphs"),
    "character": ("length_constraints:number_characters", "num_characters"),
}
_RELATIONS = (
    (r"fewer than|less than|under|below|shorter than", "less than"),
    (
        r"at most|no more than|not more than|a maximum of|maximum of|maximum|max\.?|up to|within|no longer than|not exceed|never exceed|limit(?:ed)? to|to",
        "at most",
    ),
    (r"at least|no fewer than|a minimum of|minimum of|no less than", "at least"),
    (r"exactly|precisely", "exactly"),
)
_LENGTH = re.compile(
    rf"\b(?P<relation>{'|'.join(words for words, _ in _RELATIONS)})\s+{_COUNT}\s+(?P<unit>{'|'.join(_UNITS)})s?\b(?!\s+(?:per|each|in the))",
    re.IGNORECASE,
)
_RANGE = re.compile(
    rf"\b(?:in|to|use|write)\s+(?P<low>\d{{1,4}}|one|two|three)\s*(?:-|\u2013|to|or)\s*{_COUNT}\s+(?P<unit>{'|'.join(_UNITS)})s?\b",
    re.IGNORECASE,
)
_IN = re.compile(
    rf"\b(?:in|with|to|use|using)\s+(?:only\s+|just\s+|a\s+single\s+(?={'|'.join(_UNITS)})|(?:a|{_COUNT})\s+)+(?P<unit>{'|'.join(_UNITS)})s?\b(?!\s+(?:per|each|in the|of))",
    re.IGNORECASE,
)
"""A number without a relation: as many at most."""
_LANGUAGE = re.compile(
    rf"\b(?:reply|answer|respond|write|speak|communicate|talk)\b(?:\s+(?:only|always|exclusively|to (?:the )?(?:user|customer)s?|strictly))*\s+(?:only\s+|always\s+)?in\s+(?:plain\s+|simple\s+|fluent\s+)?(?P<language>{'|'.join(NAMES)})\b(?!\s+(?:or|and|unless))",
    re.IGNORECASE,
)
_NEVER = r"\b(?:never|do not|don['\u2019]t|must not|avoid|no)\b"
_QUOTE = r"[\"\u201c\u2018'`]([^\"\u201c\u201d\u2018\u2019'`\n]{1,80})[\"\u201d\u2019'`]"
_FORBIDDEN = re.compile(
    rf"{_NEVER}\s+(?:ever\s+)?(?:say|saying|use|using|write|writing|mention|mentioning)\s+(?:the\s+)?(?:words?|phrases?|terms?|expressions?)\s+(?P<words>{_QUOTE}(?:(?:,\s*|\s+or\s+|\s+and\s+|,\s*or\s+){_QUOTE})*)",
    re.IGNORECASE,
)
_SAID = re.compile(
    rf"\b(?:always|must)\s+(?:include|say|contain|mention)\s+(?:the\s+)?(?:word|phrase|sentence|text|line|disclaimer)s?:?\s+{_QUOTE}",
    re.IGNORECASE,
)
_EVERY = r"(?:(?:every|each|all|your|the|any)\s+)*(?:of your\s+)?(?:repl(?:y|ies)|answers?|responses?|messages?)"
_START = re.compile(
    rf"\b(?:start|begin|open)\s+{_EVERY}\s+with:?\s+(?:the\s+\w+\s+)?{_QUOTE}", re.IGNORECASE
)
_END = re.compile(
    rf"\b(?:end|finish|close|conclude)\s+{_EVERY}\s+with:?\s+(?:the\s+\w+\s+)?{_QUOTE}",
    re.IGNORECASE,
)
_JSON = re.compile(
    r"\b(?:reply|respond|answer|output|return)\s+(?:only\s+|always\s+|exclusively\s+|strictly\s+)*(?:with|in|as)?\s*(?:only\s+|a\s+|an\s+|single\s+|valid\s+|one\s+)*JSON\b(?!\s+(?:schema|string))",
    re.IGNORECASE,
)
_SIMPLE: tuple[tuple[re.Pattern[str], str, dict[str, Any]], ...] = (
    (
        re.compile(
            rf"{_NEVER}\s+(?:use\s+|using\s+|include\s+|add\s+|any\s+)*emojis?\b", re.IGNORECASE
        ),
        "punctuation:no_emoji",
        {},
    ),
    (
        re.compile(
            rf"{_NEVER}\s+(?:use\s+|using\s+|any\s+)*(?:markdown)\b(?:\s+(?:format\w*|syntax))?",
            re.IGNORECASE,
        ),
        "detectable_format:no_markdown",
        {},
    ),
    (
        re.compile(rf"{_NEVER}\s+(?:use\s+|using\s+|any\s+)*commas?\b", re.IGNORECASE),
        "punctuation:no_comma",
        {},
    ),
    (
        re.compile(
            rf"{_NEVER}\s+(?:use\s+|using\s+|any\s+)*exclamation (?:marks?|points?)\b",
            re.IGNORECASE,
        ),
        "keywords:letter_frequency",
        {"letter": "!", "let_frequency": 1, "let_relation": "less than"},
    ),
    (
        re.compile(
            r"\b(?:in|use only|only use)\s+(?:all\s+|only\s+)?(?:lower\s?-?case|small) letters\b|\ball lower\s?-?case\b",
            re.IGNORECASE,
        ),
        "change_case:english_lowercase",
        {},
    ),
    (
        re.compile(
            r"\b(?:in|use only|only use)\s+(?:all\s+|only\s+)?(?:capital|upper\s?-?case) letters\b|\ball (?:caps|capitals|upper\s?-?case)\b(?<!no all caps)",
            re.IGNORECASE,
        ),
        "change_case:english_capital",
        {},
    ),
)


def constraints_in(prompt: str) -> tuple[Constraint, ...]:
    """Return the demands on every reply that a prompt states outright, each once.

    A sentence that sets a condition, softens, or speaks of a tool, a title or an e-mail is left
    alone: what is not plain is not held against the agent.
    """
    return _stated(prompt[:_MAX_CHARS])


@lru_cache(maxsize=64)
def _stated(prompt: str) -> tuple[Constraint, ...]:
    found: dict[tuple[str, str], Constraint] = {}
    for sentence in _BREAK.split(prompt):
        if len(found) >= _MAX_FOUND:
            break
        if not sentence or _CONDITION.search(sentence):
            continue
        for kind, arguments in _in_sentence(sentence):
            one = constraint(kind, arguments)
            found.setdefault((kind, one.wording), one)
    return tuple(found.values())


def _in_sentence(sentence: str) -> Iterator[tuple[str, dict[str, Any]]]:
    yield from _lengths(sentence)
    if language := _LANGUAGE.search(sentence):
        yield "language:response_language", {"language": language["language"].lower()}
    if forbidden := _FORBIDDEN.search(sentence):
        words = re.findall(_QUOTE, forbidden["words"])
        yield "keywords:forbidden_words", {"forbidden_words": words}
    elif said := _SAID.search(sentence):
        yield "keywords:existence", {"keywords": [said[1].strip()]}
    if start := _START.search(sentence):
        yield "startend:start_checker", {"start_phrase": start[1].strip()}
    if end := _END.search(sentence):
        yield "startend:end_checker", {"end_phrase": end[1].strip()}
    if _JSON.search(sentence):
        yield "detectable_format:json_format", {}
    for pattern, kind, arguments in _SIMPLE:
        if pattern.search(sentence):
            yield kind, arguments


def _lengths(sentence: str) -> Iterator[tuple[str, dict[str, Any]]]:
    if not re.search(_REPLY, sentence, re.IGNORECASE):
        return
    if between := _RANGE.search(sentence):
        kind, argument = _UNITS[between["unit"].lower()]
        yield kind, {argument: _number(between["low"]), "relation": "at least"}
        yield kind, {argument: _number(between["n"]), "relation": "at most"}
    elif length := _LENGTH.search(sentence):
        kind, argument = _UNITS[length["unit"].lower()]
        words = length["relation"].lower()
        relation = next(name for one, name in _RELATIONS if re.fullmatch(one, words))
        yield kind, {argument: _number(length["n"]), "relation": relation}
    elif plain := _IN.search(sentence):
        kind, argument = _UNITS[plain["unit"].lower()]
        yield kind, {argument: _number(plain["n"] or "one"), "relation": "at most"}


def _number(word: str) -> int:
    return int(NUMERALS.get(word.lower(), word))
