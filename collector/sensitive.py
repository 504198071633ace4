r"""Know what keys, tokens, cards, e-mail addresses and phone numbers look like.

Every search is linear in the text: a cheap glance decides whether a kind can occur at all,
patterns start at a literal or a digit, and repeats are bounded or cannot overlap.
A ``\n`` that is still escaped (JSON inside text) counts as a boundary.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

import msgspec

from collector.glance import Extent, Glance

_START = r"(?:(?<![A-Za-z0-9_-])|(?<=\\[nrtbf]))"
_HYPHENATED = re.compile(r"-[A-Za-z0-9_-]{10}")
_UNDERSCORED = re.compile(r"_(?=[A-Za-z0-9_]{16})")
_BEFORE_UNDERSCORE = (
    *("ghp", "gho", "ghu", "ghs", "ghr", "github_pat", "hf", "npm", "gsk"),
    *("sk_live", "sk_test", "rk_live", "rk_test"),
)
_KEY = re.compile(
    _START + r"(?:(?:AKIA|ASIA)[0-9A-Z]{16}(?![0-9A-Za-z])"
    r"|AIza[A-Za-z0-9_-]{35}"
    r"|SG\.[A-Za-z0-9_-]{16,64}\.[A-Za-z0-9_-]{16,64}"
    r"|(?:sk|pplx|nvapi|glpat|pypi)-(?=[A-Za-z_-]{0,60}[0-9])[A-Za-z0-9_-]{16,}"
    r"|xox[abeoprs]-[A-Za-z0-9-]{10,}"
    r"|(?:gh[pousr]|github_pat|[sr]k_(?:live|test)|hf|npm|gsk)_[A-Za-z0-9_]{16,})"
)
_PRIVATE_KEY = re.compile(
    r"-----BEGIN [A-Z ]{0,20}PRIVATE KEY-----"
    r".*?(?:-----END [A-Z ]{0,20}PRIVATE KEY-----|\Z)",
    re.DOTALL,
)
_URL_PASSWORD = re.compile(r"://[^/\s:@\"'\\]{0,64}:([^/\s@\"'\\]{1,128})@")

_VALUE = (
    r"(?:(?P<q>\\{0,8}[\"'])(?P<quoted>(?:\\.|[^\\\n]){1,256}?)(?P=q)"
    r"|(?P<bare>(?!https?://)[^\s\"'\\,;&<>(){}\[\]]{4,256}))"
)
_SEPARATOR = re.compile(r"[:=]=?>?\s{0,3}")
_SECRET_NAME = re.compile(
    r"(?:(?P<any>pass(?:word|wd|phrase|code)|pwd|secret|(?:api|access|private|account|signing|secret)"
    r"[ _-]?key|(?:access|refresh|auth|api|session|csrf)[ _-]?token)|token)"
    r"(?:\\{0,8}[\"'])?\s{0,3}\Z",
    re.IGNORECASE,
)
_ASSIGNED = re.compile(_VALUE)
_ASSIGNED_TOKEN = re.compile(
    r"(?:\\{0,8}[\"'])?(?P<bare>(?=[^\s0-9]{0,64}[0-9])[A-Za-z0-9._~+/-]{16,})"
)
_SPOKEN = re.compile(
    r"(?:password|passcode|passphrase|pwd)\s{1,3}(?:is|was)\s{0,3}:?\s{0,3}[\"'`]?"
    r"(?P<bare>(?=[^\s0-9!@#$%^*]{0,64}[0-9!@#$%^*])[^\s\"'`\\,;<>()\[\]]{4,128})",
    re.IGNORECASE,
)
_BEARER = re.compile(
    r"bearer\s{1,3}(?P<bare>(?=[^\s0-9]{0,200}[0-9])[A-Za-z0-9._~+/-]{16,}=*)", re.IGNORECASE
)
_BASIC = re.compile(
    r"authorization(?:\\{0,8}[\"'])?\s{0,3}[:=]\s{0,3}(?:\\{0,8}[\"'])?basic\s{1,3}"
    r"(?P<bare>[A-Za-z0-9+/]{6,}=*)",
    re.IGNORECASE,
)
_JWT = re.compile(_START + r"eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]*)?")

_LOCAL_PART = re.compile(r"[\w.%+-]{1,64}")
_DOMAIN = re.compile(r"(?:\w[\w-]{0,62}\.){1,8}[^\W\d_]{2,24}(?![\w])")

_CARD = re.compile(
    r"(?<![A-Za-z0-9])(?<![0-9]-)"
    r"(?:[2-6][0-9]{3}[ -]?[0-9]{4}[ -]?[0-9]{4}[ -]?[0-9]{1,7}"
    r"|3[47][0-9]{2}[ -]?[0-9]{6}[ -]?[0-9]{5}|3[068][0-9]{2}[ -]?[0-9]{6}[ -]?[0-9]{4})"
    r"(?![A-Za-z0-9]|-[0-9])"
)
_ISSUER = re.compile(
    r"4(?:[0-9]{12}|[0-9]{15}|[0-9]{18})\Z|5[1-5][0-9]{14}\Z|2[2-7][0-9]{14}\Z"
    r"|3[47][0-9]{13}\Z|3(?:0[0-5]|[68][0-9])[0-9]{11}\Z|6(?:011|5|4[4-9]|2)[0-9]{11,17}\Z"
    r"|35[0-9]{14}\Z|(?:50|5[6-8]|6[0379])[0-9]{11,17}\Z"
)
_PHONE = re.compile(
    r"(?<![\w#$€£@+])\+[1-9][0-9]{0,2}(?:[ .()/-]{0,2}[0-9]){6,13}(?![\w@%])"
    r"|(?:(?<![\w#$€£@/])(?<![0-9][.,-])(?<![A-Za-z]-)"
    r"(?:00[1-9][0-9]{0,2}[ .-](?:[ .()/-]{0,2}[0-9]){6,12}"
    r"|(?:1[ .-])?(?:\([2-9][0-9]{2}\)[ .-]?|[2-9][0-9]{2}[ .-])[2-9][0-9]{2}[ .-][0-9]{4}"
    r"|0[1-9](?:[ .-][0-9]{2}){4}"
    r"|\(0[1-9][0-9]{0,3}\)[ ]?[0-9]{3,4}[ ]?[0-9]{3,4}"
    r"|0[1-9][0-9]{0,3}[ ][0-9]{3,4}[ ][0-9]{3,4}"
    r"|0[1-9][0-9]{1,3}[ /][0-9]{5,8})"
    r"(?![\w@%]|[.,/-][0-9]))"
)
_PHONE_WORD = re.compile(
    r"(?<![A-Za-z])(?:(?:tele|cell)?phone|mobile|cell|tel|fax|whatsapp)"
    r"(?:[ _-]?(?:number|no\.?|nr))?[\s:=#\"'\\]{0,6}(?:(?:is|was|at|on)[\s:]{1,3})?\Z",
    re.IGNORECASE,
)


_NAMES = re.compile(
    r"(?:(?P<key>password|passwd|passphrase|passcode|pwd|secret|credentials?"
    r"|(?:api|access|private|secret|signing)[ _-]?key|(?:access|refresh|auth|api|session|csrf)[ _-]?token)"
    r"|(?P<token>authorization|cookie)"
    r"|(?P<phone>(?:phone|mobile|telephone|cell|fax|whatsapp)(?:[ _-]?(?:number|no))?))\Z",
    re.IGNORECASE,
)
NAME_HINTS = ("authorization", "cookie", "credential")
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
    ``token``, ``phone_number`` says ``phone``.
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


def _has_prefixed_key(text: str) -> bool:
    # Written out, because a generator over the literals costs more than the search.
    return (
        "AKIA" in text
        or "ASIA" in text
        or "AIza" in text
        or "SG." in text
        or ("_" in text and _has_underscored_key(text))
        or (
            ("sk-" in text or "xox" in text or "lpat-" in text or "pi-" in text or "plx-" in text)
            and _HYPHENATED.search(text) is not None
        )
    )


def _has_underscored_key(text: str) -> bool:
    # Most underscores before something long are those of tool names and call ids.
    return any(
        text.endswith(_BEFORE_UNDERSCORE, 0, match.start()) for match in _UNDERSCORED.finditer(text)
    )


def _has_assignment(lower: str) -> bool:
    return (
        "token" in lower
        or "key" in lower
        or "secret" in lower
        or "passw" in lower
        or "pwd" in lower
        or "passc" in lower
        or "passp" in lower
    )


def _is_spoken(lower: str) -> bool:
    return "pass" in lower or "pwd" in lower


def _keys_possible(look: Glance) -> bool:
    text, lower = look.text, look.lower
    # Without a separator a name can only be followed by "is" or "was".
    assigned = _has_assignment(lower) if ":" in text or "=" in text else _is_spoken(lower)
    return (
        assigned
        or _has_prefixed_key(text)
        or "PRIVATE KEY-" in text
        or ("@" in text and "://" in text)
    )


def _keys(look: Glance) -> Iterator[Extent]:
    text = look.text
    if _has_prefixed_key(text):
        yield from (match.span() for match in _KEY.finditer(text))
    if "PRIVATE KEY-" in text:
        yield from (match.span() for match in _PRIVATE_KEY.finditer(text))
    if "@" in text and "://" in text:
        yield from (match.span(1) for match in _URL_PASSWORD.finditer(text))
    if _has_assignment(look.lower):
        yield from _assigned(text)
        if " is" in look.lower or " was" in look.lower:
            yield from (match.span("bare") for match in _SPOKEN.finditer(text))


def _assigned(text: str) -> Iterator[Extent]:
    for separator in _SEPARATOR.finditer(text):
        before = text[max(0, separator.start() - 32) : separator.start()]
        if not _has_assignment(before.lower()):
            continue
        name = _SECRET_NAME.search(before)
        if name is None:
            continue
        pattern = _ASSIGNED if name["any"] else _ASSIGNED_TOKEN
        value = pattern.match(text, separator.end())
        if value is not None:
            yield value.span("quoted" if name["any"] and value["quoted"] else "bare")


def _tokens_possible(look: Glance) -> bool:
    return "eyJ" in look.text or "bearer" in look.lower or "authorization" in look.lower


def _tokens(look: Glance) -> Iterator[Extent]:
    text = look.text
    yield from (match.span() for match in _JWT.finditer(text))
    for pattern in (_BEARER, _BASIC):
        yield from (match.span("bare") for match in pattern.finditer(text))


def _emails(look: Glance) -> Iterator[Extent]:
    text = look.text
    at = text.find("@")
    while at >= 0:
        domain = _DOMAIN.match(text, at + 1)
        if domain is not None:
            # Read backwards, so that no start has to be tried twice.
            local = _LOCAL_PART.match(text[max(0, at - 64) : at][::-1])
            if local is not None:
                start = at - len(local[0].rstrip(".%-"))
                # The letter of an escaped line break is not the address's first.
                if text[start - 1 : start] == "\\" and text[start] in "nrtbf":
                    start += 1
                if start < at:
                    yield start, domain.end()
        at = text.find("@", at + 1)


def luhn(digits: str) -> bool:
    """Check a card number's check digit (ISO/IEC 7812-1, annex B)."""
    total = 0
    for position, digit in enumerate(reversed(digits)):
        number = int(digit) * (2 if position % 2 else 1)
        total += number - 9 if number > 9 else number
    return total % 10 == 0


def _cards(look: Glance) -> Iterator[Extent]:
    for start, end in look.runs:
        if end - start < 13:
            continue
        for match in _CARD.finditer(look.text, start, end + 1):
            digits = match[0].replace(" ", "").replace("-", "")
            if _ISSUER.match(digits) and luhn(digits):
                yield match.span()


def _phones(look: Glance) -> Iterator[Extent]:
    text = look.text
    for start, end in look.runs:
        # A leading plus or bracket stands before the first digit.
        opened = start
        while opened > max(0, start - 2) and text[opened - 1] in "+(":
            opened -= 1
        run = text[start:end]
        found = False
        if opened < start or not run.isdigit():
            for match in _PHONE.finditer(text, opened, end + 1):
                found = True
                yield match.span()
        if found or end - start > 40 or text[end : end + 1].isalnum():
            continue
        if 7 <= sum(map(str.isdigit, run)) <= 15 and _PHONE_WORD.search(
            text, max(0, opened - 30), opened
        ):
            yield opened, end


KINDS: dict[str, Kind] = {
    kind.name: kind
    for kind in (
        Kind(name="key", possible=_keys_possible, find=_keys),
        Kind(name="token", possible=_tokens_possible, find=_tokens),
        Kind(name="card", possible=lambda look: bool(look.runs), find=_cards),
        Kind(name="email", possible=lambda look: "@" in look.text, find=_emails),
        Kind(name="phone", possible=lambda look: bool(look.runs), find=_phones),
    )
}
"""The kinds that ship, in the order in which they win where two overlap."""
