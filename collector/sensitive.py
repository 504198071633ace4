r"""List the kinds of sensitive text that ship, and the names of fields that give their value away.

Every search is linear in the text: a cheap glance decides whether a kind can occur at all,
patterns start at a literal or a digit, and repeats are bounded or cannot overlap.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

import msgspec

from collector.account_numbers import cards, ibans, ibans_possible
from collector.contact_shapes import addresses, addresses_possible, emails, emails_possible, phones
from collector.glance import Extent, Glance
from collector.key_shapes import keys, keys_possible, tokens, tokens_possible
from collector.national_ids import national_ids
from collector.national_ids import possible as national_ids_possible

_NAMES = re.compile(
    r"(?:(?P<key>pass(?:word|wd|wort|phrase|code)|pwd|secret|credentials?"
    r"|(?:api|access|private|secret|signing)[ _-]?key|(?:access|refresh|auth|api|session|csrf)[ _-]?token)"
    r"|(?P<token>authorization|cookie)"
    r"|(?P<phone>(?:phone|mobile|telephone|cell|fax|whatsapp)(?:[ _-]?(?:number|no))?)"
    r"|(?P<national_id>ssn|social[_-]?security(?:[ _-]?(?:number|no))?|passport(?:[ _-]?(?:number|no))?"
    r"|national[_-]?(?:id|insurance)(?:[ _-]?(?:number|no))?))\Z",
    re.IGNORECASE,
)
NAME_HINTS = (
    *("authorization", "cookie", "credential"),
    *(
        "ssn",
        "social_s",
        "social-s",
        "socials",
        "national_i",
        "national-i",
        "nationali",
        "passport",
    ),
)
"""Lowercase parts of such names that no kind looks for on its own."""


class Kind(msgspec.Struct, frozen=True, kw_only=True):
    """One kind of sensitive text."""

    name: str
    possible: Callable[[Glance], bool]
    """Whether the text can hold one at all; may say yes wrongly, never no."""
    find: Callable[[Glance], Iterator[Extent]]


def name_kind(name: str) -> str:
    """Return the kind that a field's name gives its value away as, or an empty string.

    ``password`` and ``db.apiKey`` say ``key``, ``authorization`` and ``cookie`` say
    ``token``, ``phone_number`` says ``phone``, ``ssn`` says ``national_id``.
    """
    match = _NAMES.search(name)
    return (match.lastgroup or "") if match else ""


def custom(name: str, pattern: str) -> Kind:
    """Make a kind of a user's own regular expression.

    Raises:
        re.error: the pattern is not a regular expression.
    """
    expression = re.compile(pattern)

    def find(look: Glance) -> Iterator[Extent]:
        return (match.span() for match in expression.finditer(look.text))

    return Kind(name=name, possible=lambda _: True, find=find)


KINDS: dict[str, Kind] = {
    kind.name: kind
    for kind in (
        Kind(name="key", possible=keys_possible, find=keys),
        Kind(name="token", possible=tokens_possible, find=tokens),
        Kind(name="card", possible=lambda look: bool(look.runs), find=cards),
        Kind(name="iban", possible=ibans_possible, find=ibans),
        Kind(name="email", possible=emails_possible, find=emails),
        Kind(name="national_id", possible=national_ids_possible, find=national_ids),
        Kind(name="phone", possible=lambda look: bool(look.runs), find=phones),
        Kind(name="ip", possible=addresses_possible, find=addresses),
    )
}
"""The kinds that ship, in the order in which they win where two overlap."""
DEFAULT_KINDS = tuple(name for name in KINDS if name != "ip")
"""Those that are on unless the configuration says otherwise."""
