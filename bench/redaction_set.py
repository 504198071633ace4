"""Invent texts with secrets and personal data whose places are known, and texts that only look so.

Everybody and everything in here is invented; numbers are drawn and given their check digits.
"""

from __future__ import annotations

import base64
import itertools
import random
import string
import uuid
from collections.abc import Callable, Iterator
from typing import TypeAlias

import msgspec

from bench.redaction_sentences import HARD, NEGATIVES, PHONES, SENTENCES
from bench.redaction_values import card, iban, national_id

Draw: TypeAlias = Callable[[random.Random], str]

NAMES = (
    "mia",
    "jonas",
    "zoe",
    "li.wei",
    "ana-maria",
    "o.connor",
    "piotr",
    "søren",
    "ivo77",
    "k_lund",
)
HOSTS = (
    "example.com",
    "mail.example.org",
    "lund-partner.example",
    "shop.example.co.uk",
    "exämple.de",
)


class Sample(msgspec.Struct, frozen=True, kw_only=True):
    """One text and what must go from it."""

    text: str
    group: str
    """The kind that is in it, or what it only looks like."""
    language: str
    secrets: tuple[tuple[str, str], ...] = ()
    """Kind and value, in their order."""


def samples(seed: int, *, rounds: int = 6) -> Iterator[Sample]:
    """Draw the set: every sentence in every language with ``rounds`` values, and the look-alikes."""
    chance = random.Random(seed)  # noqa: S311 - repeatable, not secret
    for kind, language, sentence in SENTENCES:
        for _ in range(rounds):
            value = VALUES[kind](chance, language)
            text = sentence.replace("@@", value)
            yield Sample(text=text, group=kind, language=language, secrets=((kind, value),))
    for form, language, sentence in HARD:
        for _ in range(rounds):
            value = HARD_VALUES[form](chance, language)
            text = sentence.replace("@@", value)
            yield Sample(text=text, group=form, language=language, secrets=((form, value),))
    for what, sentence in NEGATIVES:
        for _ in range(rounds):
            yield Sample(text=_filled(sentence, chance), group=what, language="")


def email(chance: random.Random, _: str = "") -> str:
    """Invent an e-mail address."""
    tag = chance.choice(("", "", "+news", ".old"))
    return f"{chance.choice(NAMES)}{tag}@{chance.choice(HOSTS)}"


def phone(chance: random.Random, language: str) -> str:
    """Invent a phone number as it is written where the language is spoken."""
    return digits(chance.choice(PHONES[language]), chance)


def digits(shape: str, chance: random.Random) -> str:
    """Replace ``#`` by a digit and ``N`` by one from 2 to 9."""
    drawn = (
        str(chance.randrange(10)) if c == "#" else str(chance.randrange(2, 10)) if c == "N" else c
        for c in shape
    )
    return "".join(drawn)


def letters(
    chance: random.Random, count: int, alphabet: str = string.ascii_letters + string.digits
) -> str:
    """Draw so many characters."""
    return "".join(chance.choices(alphabet, k=count))


_HEX = "0123456789abcdef"
_KEYS: tuple[tuple[str, int, str], ...] = (
    ("sk-ant-api03-", 95, ""),
    ("sk-proj-", 48, ""),
    ("sk-or-v1-", 64, _HEX),
    ("sk_live_", 24, ""),
    ("rk_test_", 24, ""),
    ("whsec_", 32, ""),
    ("AKIA", 16, string.ascii_uppercase + "234567"),
    ("AIza", 35, ""),
    ("GOCSPX-", 28, ""),
    ("ghp_", 36, ""),
    ("github_pat_", 82, ""),
    ("glpat-", 20, ""),
    ("glrt-", 20, ""),
    ("xoxb-", 40, string.digits + string.ascii_letters),
    ("xapp-1-", 40, string.digits + string.ascii_uppercase),
    ("hf_", 34, string.ascii_letters),
    ("npm_", 36, ""),
    ("gsk_", 52, ""),
    ("xai-", 80, ""),
    ("tvly-dev-", 32, ""),
    ("lsv2_pt_", 40, _HEX),
    ("pcsk_", 60, ""),
    ("dapi", 32, _HEX),
    ("dop_v1_", 64, _HEX),
    ("shpat_", 32, _HEX),
    ("r8_", 37, ""),
    ("glsa_", 32, ""),
    ("hvs.", 90, ""),
    ("ya29.", 120, ""),
    ("SG." + "x" * 22 + ".", 43, ""),
    ("lin_api_", 40, ""),
    ("ntn_", 46, ""),
    ("sntrys_", 60, ""),
    ("NRAK-", 27, string.ascii_uppercase + string.digits),
    ("PMAK-", 59, _HEX),
    ("dckr_pat_", 27, ""),
    ("figd_", 40, ""),
    ("nvapi-", 64, ""),
    ("pplx-", 48, ""),
    ("pypi-AgEIcHlwaS5vcmc", 60, ""),
    ("rubygems_", 48, _HEX),
    ("sbp_", 40, _HEX),
)
_turn = itertools.count()


def key(chance: random.Random, _: str = "") -> str:
    """Invent a key of one of the providers whose keys can be told by their beginning."""
    prefix, count, alphabet = chance.choice(_KEYS)
    return prefix + letters(chance, count, alphabet or string.ascii_letters + string.digits)


def password(chance: random.Random, _: str = "") -> str:
    """Invent a password with a digit in it."""
    word = chance.choice(("Tulpe", "sommer", "kiwi", "Rockall", "blau", "petrol"))
    return f"{word}{chance.choice('!#-_')}{chance.randrange(10, 9999)}"


def token(chance: random.Random, _: str = "") -> str:
    """Invent an opaque bearer token."""
    return letters(chance, 40) + str(chance.randrange(10))


def jwt(chance: random.Random, _: str = "") -> str:
    """Invent a JSON Web Token."""

    def part(value: object) -> str:
        return base64.urlsafe_b64encode(msgspec.json.encode(value)).decode().rstrip("=")

    head = part({"alg": "HS256", "typ": "JWT"})
    return f"{head}.{part({'sub': str(chance.randrange(10**9))})}.{letters(chance, 43)}"


def private_key(chance: random.Random, _: str = "") -> str:
    """Invent a private key in PEM."""
    lines = "\n".join(letters(chance, 64) for _ in range(3))
    return f"-----BEGIN PRIVATE KEY-----\n{lines}\n-----END PRIVATE KEY-----"


VALUES: dict[str, Callable[[random.Random, str], str]] = {
    "email": email,
    "phone": phone,
    "card": lambda chance, _: card(chance),
    "iban": iban,
    "national_id": national_id,
    "key": key,
    "password": password,
    "token": token,
    "jwt": jwt,
    "private_key": private_key,
}
"""How the values of each group are drawn."""


def _run(number: str) -> str:
    return "".join(c for c in number if c.isalnum() or c == "+")


_DIGIT_WORDS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")

HARD_VALUES: dict[str, Callable[[random.Random, str], str]] = {
    "email spelled": lambda c, _: email(c).replace("@", " at ").replace(".", " dot "),
    "email with blanks": lambda c, _: email(c).replace("@", " @ "),
    "phone in one run, no word": lambda c, language: _run(phone(c, language)),
    "phone in odd groups": lambda c, _: digits("N 1# N# ## ## #", c),
    "phone in words": lambda c, _: " ".join(c.choices(_DIGIT_WORDS, k=10)),
    "card with dots": lambda c, _: card(c).replace(" ", ".").replace("-", "."),
    "card over two lines": lambda c, _: "\n".join((_run(number := card(c))[:8], _run(number)[8:])),
    "last digits of a card": lambda c, _: _run(card(c))[-4:],
    "iban in small letters": lambda c, language: iban(c, language).lower(),
    "iban with hyphens": lambda c, language: iban(c, language).replace(" ", "-"),
    "national_id in one run, no word": lambda c, country: _run(national_id(c, country)),
    "national_id far from its word": lambda c, country: _run(national_id(c, country)),
    "password without a digit": lambda c, _: letters(c, 9, string.ascii_lowercase),
    "password, no word": password,
    "password on the next line": password,
    "key of nobody known": lambda c, _: letters(c, 40),
    "key of nobody known, named": lambda c, _: letters(c, 40),
    "bearer token, no word": token,
}
"""How the values are drawn that are hard to tell."""
KIND_OF = {"password": "key", "private_key": "key", "jwt": "token"}
"""The kind of the gate under which a group is looked for, where it is called otherwise."""

_FILLERS: dict[str, Draw] = {
    "uuid": lambda chance: str(uuid.UUID(int=chance.getrandbits(128), version=4)),
    "hex32": lambda chance: letters(chance, 32, _HEX),
    "hex40": lambda chance: letters(chance, 40, _HEX),
    "hex64": lambda chance: letters(chance, 64, _HEX),
    "hex16": lambda chance: letters(chance, 16, _HEX),
    "hex7": lambda chance: letters(chance, 7, _HEX),
    "b64": lambda chance: letters(chance, 44),
    "id24": lambda chance: letters(chance, 24),
    "up8": lambda chance: letters(chance, 8, string.ascii_uppercase + string.digits),
    "up2": lambda chance: letters(chance, 2, string.ascii_uppercase),
    "word": lambda chance: chance.choice(("alpha", "billing", "refund", "support", "window")),
}


def _filled(sentence: str, chance: random.Random) -> str:
    for name, draw in _FILLERS.items():
        while f"<{name}>" in sentence:
            sentence = sentence.replace(f"<{name}>", draw(chance), 1)
    return digits(sentence, chance)
