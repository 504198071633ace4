"""Know the numbers by which countries know their people.

A number is found where it stands in a written form that hardly anything else has and its check
digits are right, or near a word that says what it is. Forms and check digits are those of
python-stdnum, one module a country; Britain's number has no check digit.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import cache
from importlib import import_module

import msgspec

from collector.glance import Extent, Glance

BEFORE, BEHIND = 24, 48
"""Characters before and behind a word in which its number is looked for."""

_EDGE = r"(?<![A-Za-z0-9])(?<![0-9][.,/-])"
_END = r"(?![A-Za-z0-9]|[.,/-][0-9])"
_NINO = r"(?!BG|GB|KN|NK|NT|TN|ZZ)[ABCEGHJ-PRSTW-Z][ABCEGHJ-NPRSTW-Z]"

_WRITTEN = re.compile(
    _EDGE + r"(?:"
    r"(?P<us>[0-9]{3}-[0-9]{2}-[0-9]{4})"
    r"|(?P<br>[0-9]{3}\.[0-9]{3}\.[0-9]{3}-[0-9]{2})"
    r"|(?P<be>[0-9]{2}\.[0-9]{2}\.[0-9]{2}-[0-9]{3}\.[0-9]{2})"
    r"|(?P<ch>756\.[0-9]{4}\.[0-9]{4}\.[0-9]{2})"
    r"|(?P<nl>[0-9]{4}\.[0-9]{2}\.[0-9]{3})"
    r"|(?P<kr>[0-9]{6}-[1-8][0-9]{6})"
    r"|(?P<se>(?:(?:19|20)[0-9]{2}|[0-9]{2})[01][0-9][0-3][0-9][-+][0-9]{4})"
    r"|(?P<fi>[0-3][0-9][01][0-9]{3}[-+A][0-9]{3}[0-9A-FHJ-NPR-Y])"
    r"|(?P<fr>[12] ?[0-9]{2} ?[0-9]{2} ?[0-9]{2} ?[0-9]{3} ?[0-9]{3} ?[0-9]{2})"
    r"|(?P<cn>[1-9][0-9]{16}[0-9X])"
    r"|(?P<es>[0-9]{8}-[A-Z])"
    r")" + _END
)
"""Forms that begin with a digit and need no word beside them."""
_LETTERED = re.compile(
    r"(?<![A-Za-z0-9])(?:"
    r"(?P<it>[A-Za-z]{6}[0-9]{2}[A-Za-z][0-9]{2}[A-Za-z][0-9]{3}[A-Za-z])"
    r"|(?P<mx>[A-Za-z]{4}[0-9]{6}[HMXhmx][A-Za-z]{5}[0-9A-Za-z][0-9])"
    rf"|(?P<gb>{_NINO} [0-9]{{2}} [0-9]{{2}} [0-9]{{2}} [A-D])"
    r"|(?P<nie>[XYZ]-[0-9]{7}-[A-Z])"
    r")(?![A-Za-z0-9])"
)
"""Forms that begin with letters and need no word either."""
_ITALIAN = b"AAAAAA00A00A000A"

_CHECKS = {
    "us": "us.ssn",
    "br": "br.cpf",
    "be": "be.nn",
    "ch": "ch.ssn",
    "nl": "nl.bsn",
    "kr": "kr.rrn",
    "se": "se.personnummer",
    "fi": "fi.hetu",
    "fr": "fr.nir",
    "cn": "cn.ric",
    "es": "es.dni",
    "nie": "es.nie",
    "it": "it.codicefiscale",
    "mx": "mx.curp",
    "de": "de.idnr",
    "pl": "pl.pesel",
    "in": "in_.aadhaar",
    "dk": "dk.cpr",
    "no": "no.fodselsnummer",
    "ca": "ca.sin",
    "au": "au.tfn",
    "pt": "pt.nif",
    "tr": "tr.tckimlik",
    "za": "za.idnr",
    "at": "at.vnr",
    "ie": "ie.pps",
}
"""Module of python-stdnum that checks a number, by country."""


class _Word(msgspec.Struct, frozen=True, kw_only=True):
    """A word that says which number stands near it."""

    stems: tuple[str, ...]
    """Lowercase; one of them is in the text."""
    pattern: re.Pattern[str]
    countries: tuple[str, ...]
    """Of the checks that the number may pass; none: it has no check digits."""
    number: re.Pattern[str]


def _word(
    stems: str, pattern: str, countries: str, number: str = r"[0-9](?:[ ./-]?[0-9]){7,12}"
) -> _Word:
    return _Word(
        stems=tuple(stems.split("|")),
        pattern=re.compile(rf"(?<![^\W\d_])(?:{pattern})(?![^\W\d_])", re.IGNORECASE),
        countries=tuple(countries.split()),
        number=re.compile(rf"(?<![A-Za-z0-9])(?:{number})(?![A-Za-z0-9])", re.IGNORECASE),
    )


_WORDS = (
    _word("ssn|social sec|my social", r"ssn|social(?: security)?", "us"),
    _word(
        "insurance n|nino|ni n",
        r"national insurance(?: number| no\.?)?|nino|ni (?:number|no\.?)",
        "",
        rf"{_NINO} ?[0-9]{{2}} ?[0-9]{{2}} ?[0-9]{{2}} ?[A-D]",
    ),
    _word("steuer|idnr|tax id", r"steuer\w*(?:[ -](?:id|idnr|nummer))?|idnr\.?|tax id", "de at"),
    _word(
        "sécu|secu|nir|nss",
        r"s[ée]cu(?:rit[ée])?(?: sociale)?|nir|nss",
        "fr",
        r"[12](?: ?[0-9AB]){12} ?[0-9] ?[0-9]",
    ),
    _word(
        "dni|nif|nie|documento",
        r"dni|nif|nie|documento(?: de identidad)?",
        "es nie pt",
        r"[XYZ]?-?[0-9]{7,9}-?[A-Z]?",
    ),
    _word("bsn|burgerservice", r"bsn|burgerservice(?:nummer)?", "nl"),
    _word("rijksregister|registre national", r"rijksregister(?:nummer)?|registre national", "be"),
    _word(
        "personn|person n|cpr|fødsels",
        r"person(?:al)?[ -]?n\w+|cpr(?:-nummer)?|fødselsnummer",
        "se dk no",
    ),
    _word("henkilöt|hetu", r"henkilötunnus|hetu", "fi", r"[0-9]{6}[-+A]?[0-9]{3}[0-9A-Z]"),
    _word("pesel", r"pesel", "pl"),
    _word("cpf", r"cpf", "br"),
    _word("aadha|uidai", r"aadhaa?r|uidai", "in"),
    _word(
        "ahv|avs", r"ahv(?:-?(?:nummer|nr\.?))?|n?avs13?|numéro avs", "ch", r"756(?:[ .]?[0-9]){10}"
    ),
    _word("kimlik", r"(?:t\.?c\.? )?kimlik(?: no| numaras\w)?", "tr"),
    _word("social ins| sin", r"social insurance(?: number)?|sin", "ca"),
    _word("tfn|tax file", r"tfn|tax file(?: number)?", "au"),
    _word("pps", r"pps(?:n| number| no\.?)?", "ie", r"[0-9]{7}[A-W][A-IW]?"),
    _word("id number|identity n", r"(?:sa )?id(?:entity)? number", "za cn"),
)


@cache
def _check(country: str) -> Callable[[str], bool]:
    """Return what checks a country's numbers; loaded when the first is met."""
    check: Callable[[str], bool] = import_module(f"stdnum.{_CHECKS[country]}").is_valid
    return check


def possible(look: Glance) -> bool:
    """Say whether such a number can stand in the text."""
    return bool(look.runs) or _ITALIAN in look.shape or (look.digits and _has_lettered(look.shape))


def _has_lettered(shape: bytes) -> bool:
    return b"000000A" in shape or b"AA 00 00 00 A" in shape or b"A-0000000-A" in shape


def national_ids(look: Glance) -> Iterator[Extent]:
    """Find people's numbers."""
    text = look.text
    for start, end in look.runs:
        for match in _WRITTEN.finditer(text, start, end + 2):
            if _check(match.lastgroup or "")(match[0]):
                yield match.span()
    lettered = look.digits and _has_lettered(look.shape)
    if lettered or _ITALIAN in look.shape:
        for match in _LETTERED.finditer(text):
            if match.lastgroup == "gb" or _check(match.lastgroup or "")(match[0]):
                yield match.span()
    if lettered or look.runs:
        for word in _WORDS:
            if any(stem in look.lower for stem in word.stems):
                yield from _near(word, text)


def _near(word: _Word, text: str) -> Iterator[Extent]:
    """Find the number behind each place of the word, else the one before it."""
    for said in word.pattern.finditer(text):
        start, end = said.span()
        match = word.number.search(text, end, end + BEHIND)
        if match is None:
            for match in word.number.finditer(text, max(0, start - BEFORE), start):  # noqa: B007 - the last one
                pass
        if match and (not word.countries or any(_check(c)(match[0]) for c in word.countries)):
            yield match.span()
