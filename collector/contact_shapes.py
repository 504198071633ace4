"""Know what e-mail addresses, phone numbers and IP addresses look like."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterator

from collector.glance import Extent, Glance

_LOCAL_PART = re.compile(r"[\w.%+-]{1,64}")
_DOMAIN = re.compile(r"(?:\w[\w-]{0,62}\.){1,8}[^\W\d_]{2,24}(?![\w])")

_PHONE = re.compile(
    r"(?<![\w#$€£@+])\+[1-9][0-9]{0,2}(?:[ .()/-]{0,2}[0-9]){6,13}(?![\w@%])"
    r"|(?:(?<![\w#$€£@/])(?<![0-9][.,-])(?<![A-Za-z]-)"
    r"(?:00[1-9][0-9]{0,2}(?:[ .]|-(?![0-9]{9}))(?:[ .()/-]{0,2}[0-9]){6,12}"
    r"|(?:1[ .-])?(?:\([2-9][0-9]{2}\)[ .-]?|[2-9][0-9]{2}[ .-])[2-9][0-9]{2}[ .-][0-9]{4}"
    r"|0[1-9](?:[ .-][0-9]{2}){4}"
    r"|0[1-9][0-9]?-[0-9]{3}(?: [0-9]{2,3}){2}"
    r"|\(0[1-9][0-9]{0,3}\)[ ]?[0-9]{3,4}[ ]?[0-9]{3,4}"
    r"|\([1-9][0-9]\)[ ]?9?[0-9]{4}-[0-9]{4}"
    r"|0[1-9][0-9]{0,3}[ ][0-9]{3,4}[ ][0-9]{3,4}"
    r"|0[1-9][0-9]{0,3}(?:[ ]-[ ]|[ ]/[ ])[0-9]{3,4}[ ]?[0-9]{3,4}"
    r"|0[1-9][0-9]{1,3}[ /][0-9]{5,8}"
    r"|06-[0-9]{8}|01[5-7][0-9]-[0-9]{7,8})"
    r"(?![\w@%]|[.,/-][0-9]))"
)
_PHONE_WORD = re.compile(
    r"(?<![^\W\d_])(?:(?:tele|cell)?phone|mobile?|mobil(?:nummer|telefon)?|cell(?:ulare)?|celular|tel|fax|whatsapp"
    r"|handy(?:nummer)?|telefon\w{0,6}|telefoonnummer|t[ée]l[ée]phone|tél|teléfono|telefono|telefone|móvil|portable)"
    r"(?:[ _-]?(?:number|no\.?|nr\.?))?[\s:=#\"'\\]{0,6}"
    r"(?:(?:is|was|at|on|ist|lautet|es|est|è|é|är|to)(?:[ ](?:le|el|il|o))?[\s:]{1,3})?\Z",
    re.IGNORECASE,
)
_IPV4 = re.compile(
    r"(?<![\w.+-])(?:(?:25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])\.){3}"
    r"(?:25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])(?![\w-]|\.[0-9])"
)
_IPV6 = re.compile(r"(?<![\w:.])[0-9A-Fa-f]{0,4}(?::[0-9A-Fa-f]{0,4}){2,7}(?![\w:])")


def emails_possible(look: Glance) -> bool:
    """Say whether an e-mail address can stand in the text, as it is or as in a URL."""
    return "@" in look.text or "%40" in look.text


def emails(look: Glance) -> Iterator[Extent]:
    """Find e-mail addresses."""
    for mark in ("@", "%40"):
        yield from _addresses_around(mark, look.text)


def _addresses_around(mark: str, text: str) -> Iterator[Extent]:
    at = text.find(mark)
    while at >= 0:
        domain = _DOMAIN.match(text, at + len(mark))
        if domain is not None:
            # Read backwards, so that no start has to be tried twice.
            local = _LOCAL_PART.match(text[max(0, at - 64) : at][::-1])
            if local is not None:
                start = at - len(local[0].rstrip(".%-"))
                # The letter of an escaped line break is not the address's first.
                if text[start - 1 : start] == "\\" and text[start] in "nrtbf":
                    start += 1
                # git@host:path is where a repository is, and nobody's address.
                remote = text[start:at] == "git" and text[domain.end() : domain.end() + 1] == ":"
                if start < at and not remote:
                    yield start, domain.end()
        at = text.find(mark, at + 1)


def phones(look: Glance) -> Iterator[Extent]:
    """Find phone numbers: in a written form that only they have, or behind a word that says so."""
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
            text, max(0, opened - 40), opened
        ):
            yield opened, end


def addresses_possible(look: Glance) -> bool:
    """Say whether an IP address can stand in the text."""
    return "." in look.text or "::" in look.text or look.text.count(":") > 6


def addresses(look: Glance) -> Iterator[Extent]:
    """Find IP addresses, version 4 and 6."""
    yield from (match.span() for match in _IPV4.finditer(look.text))
    for match in _IPV6.finditer(look.text):
        try:
            ipaddress.IPv6Address(match[0])
        except ValueError:
            continue
        if len(match[0]) > 3:
            yield match.span()
