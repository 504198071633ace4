"""Draw account and identity numbers with right check digits, in the form people write them in."""

from __future__ import annotations

import random
import string
from collections.abc import Callable
from importlib import import_module

from stdnum import luhn

_TRIES = 20_000
_ISSUERS = (("4", 16), ("51", 16), ("2221", 16), ("37", 15), ("6011", 16), ("3530", 16), ("36", 14))


def card(chance: random.Random) -> str:
    """Draw a card number, plain or in groups."""
    prefix, length = chance.choice(_ISSUERS)
    drawn = prefix + _digits(chance, length - len(prefix) - 1)
    number = drawn + luhn.calc_check_digit(drawn)
    mark = chance.choice(("", " ", "-"))
    if length == 16:
        return mark.join(number[n : n + 4] for n in range(0, 16, 4))
    return mark.join((number[:4], number[4:10], number[10:]))


_ACCOUNTS = {
    "en": ("GB", "AAAA##############"),
    "de": ("DE", "##################"),
    "fr": ("FR", "##########" + "###########" + "##"),
    "es": ("ES", "####################"),
    "it": ("IT", "A######################"),
    "nl": ("NL", "AAAA##########"),
    "sv": ("SE", "####################"),
    "pl": ("PL", "########################"),
    "pt": ("PT", "#####################"),
}
"""Country and shape of the account by language: ``A`` a letter, ``#`` a digit."""


def iban(chance: random.Random, language: str) -> str:
    """Draw an IBAN (ISO 13616), plain or in groups of four."""
    country, shape = _ACCOUNTS.get(language, _ACCOUNTS["de"])
    drawn = "".join(
        chance.choice(string.ascii_uppercase) if c == "A" else str(chance.randrange(10))
        for c in shape
    )
    spelled = "".join(str(int(c, 36)) for c in f"{drawn}{country}00")
    number = f"{country}{98 - int(spelled) % 97:02d}{drawn}"
    if chance.random() < 0.5:
        return number
    return " ".join(number[n : n + 4] for n in range(0, len(number), 4))


_Form = Callable[[str], str]


def _as(*cuts: int, mark: str) -> _Form:
    """Write a number in groups that end at these places."""

    def form(number: str) -> str:
        ends = (*cuts, len(number))
        return mark.join(number[a:b] for a, b in zip((0, *cuts), ends, strict=True))

    return form


_PLAIN: _Form = str
_IDS: dict[str, tuple[str, str, tuple[_Form, ...]]] = {
    # Module of the check, shape (d day, m month, y year, A letter, # digit), how it is written.
    "us": ("us.ssn", "#########", (_as(3, 5, mark="-"),)),
    "de": ("de.idnr", "###########", (_PLAIN, _as(2, 5, 8, mark=" "))),
    "fr": ("fr.nir", "1yymm75######", (_PLAIN, _as(1, 3, 5, 7, 10, 13, mark=" "))),
    "es": ("es.dni", "########A", (_PLAIN, _as(8, mark="-"))),
    "nie": ("es.nie", "X#######A", (_PLAIN, _as(1, 8, mark="-"))),
    "it": ("it.codicefiscale", "RSSMRAyyHddH501A", (_PLAIN,)),
    "nl": ("nl.bsn", "#########", (_PLAIN, _as(4, 6, mark="."))),
    "sv": ("se.personnummer", "yymmdd-####", (_PLAIN,)),
    "pl": ("pl.pesel", "yymmdd#####", (_PLAIN,)),
    "pt": ("br.cpf", "###########", (_PLAIN, lambda n: f"{n[:3]}.{n[3:6]}.{n[6:9]}-{n[9:]}")),
    "in": ("in_.aadhaar", "############", (_PLAIN, _as(4, 8, mark=" "))),
    "be": ("be.nn", "yymmdd#####", (lambda n: f"{n[:2]}.{n[2:4]}.{n[4:6]}-{n[6:9]}.{n[9:]}",)),
    "ch": ("ch.ssn", "756##########", (_PLAIN, _as(3, 7, 11, mark="."))),
    "fi": ("fi.hetu", "ddmmyy-###C", (_PLAIN,)),
}


def national_id(chance: random.Random, country: str) -> str:
    """Draw a person's number; British ones have no check digit."""
    if country == "gb":
        number = f"{chance.choice('ABCEHJLMPRSTW')}{chance.choice('ABCEHJLMPRSTW')}"
        number += _digits(chance, 6) + chance.choice("ABCD")
        return number if chance.random() < 0.5 else _as(2, 4, 6, 8, mark=" ")(number)
    module, shape, forms = _IDS[country]
    is_valid: Callable[[str], bool] = import_module(f"stdnum.{module}").is_valid
    for _ in range(_TRIES):
        number = _shaped(shape, chance)
        if country == "fr":
            number += f"{97 - int(number) % 97:02d}"
        if is_valid(number):
            return chance.choice(forms)(number)
    raise LookupError(f"no number of {country} was found")


def _shaped(shape: str, chance: random.Random) -> str:
    whole = shape.replace("yy", f"{chance.randrange(50, 99)}")
    whole = whole.replace("mm", f"{chance.randrange(1, 13):02d}")
    whole = whole.replace("dd", f"{chance.randrange(1, 29):02d}")
    return "".join(
        chance.choice(string.ascii_uppercase)
        if c == "A" and whole[0] != "R"
        else str(chance.randrange(10))
        if c == "#"
        else chance.choice(string.digits + "ABCDEFHJKLMNPRSTUVWXY")
        if c == "C"
        else c
        for c in whole
    )


def _digits(chance: random.Random, count: int) -> str:
    return "".join(str(chance.randrange(10)) for _ in range(count))
