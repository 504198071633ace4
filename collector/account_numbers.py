"""Know what numbers of payment cards and bank accounts look like, by their check digits."""

from __future__ import annotations

import re
from collections.abc import Iterator

from collector.glance import Extent, Glance

_CARD = re.compile(
    r"(?<![A-Za-z0-9])(?<![0-9][-.])"
    r"(?:[2-6][0-9]{3}[ .-]?[0-9]{4}[ .-]?[0-9]{4}[ .-]?[0-9]{1,7}"
    r"|3[47][0-9]{2}[ .-]?[0-9]{6}[ .-]?[0-9]{5}|3[068][0-9]{2}[ .-]?[0-9]{6}[ .-]?[0-9]{4})"
    r"(?![A-Za-z0-9]|-[0-9])"
)
_ISSUER = re.compile(
    r"4(?:[0-9]{12}|[0-9]{15}|[0-9]{18})\Z|5[1-5][0-9]{14}\Z|2[2-7][0-9]{14}\Z"
    r"|3[47][0-9]{13}\Z|3(?:0[0-5]|[68][0-9])[0-9]{11}\Z|6(?:011|5|4[4-9]|2)[0-9]{11,17}\Z"
    r"|35[0-9]{14}\Z|(?:50|5[6-8]|6[0379])[0-9]{11,17}\Z"
)
_IBAN = re.compile(
    r"(?<![A-Za-z0-9])([A-Za-z]{2})(?!00|01|99)[0-9]{2}(?=[ -]?[A-Za-z0-9]{4}[ -]?[A-Za-z0-9]{4})"
)
_LENGTHS = {
    country: length
    for length, countries in {
        15: "NO",
        16: "BE",
        18: "DK FI FO GL NL SD FK",
        19: "MK SI",
        20: "AT BA EE KZ LT LU MN XK",
        21: "CH HR LI LV",
        22: "BG BH CR DE GB GE IE ME RS VA",
        23: "AE GI IL IQ OM SO TL",
        24: "AD CZ ES MD PK RO SA SE SK TN VG",
        25: "LY PT ST",
        26: "IS TR",
        27: "BI DJ FR GR IT MC MR SM",
        28: "AL AZ BY CY DO GT HU LB NI PL SV",
        29: "BR EG PS QA UA",
        30: "JO KW MU",
        31: "MT SC",
        32: "LC",
        33: "RU",
    }.items()
    for country in countries.split()
}
"""Characters of an IBAN by country, as the registry of ISO 13616 has them."""


def luhn(digits: str) -> bool:
    """Check a card number's check digit (ISO/IEC 7812-1, annex B)."""
    total = 0
    for position, digit in enumerate(reversed(digits)):
        number = int(digit) * (2 if position % 2 else 1)
        total += number - 9 if number > 9 else number
    return total % 10 == 0


def cards(look: Glance) -> Iterator[Extent]:
    """Find card numbers."""
    for start, end in look.runs:
        if end - start < 13:
            continue
        for match in _CARD.finditer(look.text, start, end + 1):
            digits = re.sub("[ .-]", "", match[0])
            if _ISSUER.match(digits) and luhn(digits):
                yield match.span()


def ibans_possible(look: Glance) -> bool:
    """Say whether an IBAN can stand in the text."""
    return look.digits and (b"AA00" in look.shape)


def mod_97(iban: str) -> bool:
    """Check an IBAN's check digits (ISO 7064, mod 97-10)."""
    return int("".join(str(int(c, 36)) for c in iban[4:] + iban[:4])) % 97 == 1


def ibans(look: Glance) -> Iterator[Extent]:
    """Find IBANs, plain or in groups, of every country that has them."""
    text = look.text
    for match in _IBAN.finditer(text):
        length = _LENGTHS.get(match[1].upper())
        if length is None:
            continue
        taken: list[str] = []
        place = match.start()
        while len(taken) < length and place < len(text):
            character = text[place]
            if character.isascii() and character.isalnum():
                taken.append(character)
            elif character not in " -" or text[place - 1] in " -":
                break
            place += 1
        whole = len(taken) == length and not text[place : place + 1].isalnum()
        if whole and mod_97("".join(taken)):
            yield match.start(), place
