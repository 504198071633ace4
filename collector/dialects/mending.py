"""Read JSON that was cut short, and tell that it was.

SDKs and collectors cut long attributes at a limit, some put an ellipsis there. What stands
before the cut is kept; the last text that is left carries ``MARK``.
"""

from __future__ import annotations

import re

import msgspec

from collector.dialects.attributes import MAX_DEPTH
from collector.model import JsonValue
from collector.telemetry import Attributes, AttributeValue

MARK = "…[truncated]"
SHORTEST = 24
"""Characters of text below which nobody cuts."""
LONGEST = 1 << 19
"""Characters that are read of a text that was cut."""
MOST_TOKENS = 100_000
TOKEN = re.compile(r'"(?:[^"\\]|\\.)*(?:"|\\?\Z)|[\[\]{},:]|[^\s\[\]{},:"]+', re.DOTALL)
SIGN = re.compile(
    r"\s*(?:…|\.{3})?\s*[\[(<]?\s*(?:…|\.{3})?\s*truncated\b[^\])>]{0,60}[\])>]?\s*\Z",
    re.IGNORECASE,
)
"""Words by which producers say that they cut; always at the end."""
ELLIPSES = ("...", "…")
ENDS = frozenset(")>].…")
"""The last characters of what says that it was cut."""
LOOSE_ESCAPE = re.compile(r"\\(?:u[0-9a-fA-F]{0,3})?\Z")
OPENERS = ("[{", '{"', '["', "[[")
CLOSERS = {"[": "]", "{": "}"}
TAIL = 100
FLAGS = frozenset(("anthropic.content.truncated", "gen_ai.content.truncated", "truncated"))


def is_cut(value: AttributeValue) -> bool:
    """Tell whether a text was cut: its JSON does not end, or it says so."""
    return isinstance(value, str) and _is_suspect(value) and _is_cut(value)


def any_cut(attributes: Attributes) -> bool:
    """Tell whether any attribute was cut, or the producer says that content was."""
    for value in attributes.values():
        # On every attribute of every span, so the last characters must tell nearly always.
        if (
            type(value) is str
            and len(value) >= SHORTEST
            and (value[-1] in ENDS or value[0] in "[{")
            and _is_suspect(value)
            and _is_cut(value)
        ):
            return True
    return not FLAGS.isdisjoint(attributes) and any(
        attributes.get(flag) in (True, "true", "True") for flag in FLAGS
    )


def _is_suspect(value: str) -> bool:
    if len(value) < SHORTEST:
        return False
    end = value[-1]
    if value[0] in "[{":
        return end != CLOSERS[value[0]] or value[-2] == "d"
    return end in ENDS and (end != "." or value.endswith("..."))


def _is_cut(value: str) -> bool:
    if value.startswith(OPENERS):
        return mended(value) is not None
    return _has_sign(value)


def mended(text: str) -> JsonValue:
    """Read what is left of a JSON list or object; ``None`` when it is whole, or nothing is left."""
    text = text[:LONGEST].lstrip()
    if not text.startswith(OPENERS):
        return None
    if _parsed(text) is not None:
        return None
    text = _without_sign(text)
    for candidate in _candidates(text):
        found = _parsed(candidate)
        if found:
            return found
    return None


def _candidates(text: str) -> list[str]:
    """Return ways to close the text: with the last string as far as it goes, or without it."""
    open_: list[str] = []
    # Where the last whole value ends, and what is open there.
    end, closing = 0, ""
    before = ""
    tail: list[str] = []
    for number, token in enumerate(TOKEN.finditer(text)):
        sign = token[0]
        at_key = bool(open_) and open_[-1] == "}" and before in "{,"
        if number > MOST_TOKENS or len(open_) > MAX_DEPTH:
            break
        if sign in CLOSERS:
            open_.append(CLOSERS[sign])
        elif sign in ("]", "}"):
            if not open_ or open_.pop() != sign:
                break
        elif token.end() == len(text) and not _is_whole(sign):
            if sign.startswith('"') and not at_key:
                left = MARK + '"' + _closing(open_)
                tail = [text + left, LOOSE_ESCAPE.sub("", text) + left]
            break
        if sign not in ",:" and not (at_key and sign not in "[]{}"):
            end, closing = token.end(), _closing(open_)
        before = sign if sign in "[]{},:" else "x"
    return [*tail, text[:end] + closing]


def _is_whole(sign: str) -> bool:
    if not sign.startswith('"'):
        return sign in ("true", "false", "null")
    return len(sign) > 1 and sign.endswith('"') and not re.search(r"(?<!\\)(?:\\\\)*\\\"\Z", sign)


def _closing(open_: list[str]) -> str:
    return "".join(reversed(open_))


def _parsed(text: str) -> JsonValue:
    try:
        found: JsonValue = msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError, UnicodeEncodeError):
        return None
    return found


def _without_sign(text: str) -> str:
    head, tail = text[:-TAIL], text[-TAIL:]
    tail = SIGN.sub("", tail)
    for ellipsis in ELLIPSES:
        tail = tail.removesuffix(ellipsis)
    return head + tail


def _has_sign(text: str) -> bool:
    tail = text[-TAIL:]
    if "truncated" in tail.lower():
        return tail[-1] in ")>]…." and SIGN.search(tail) is not None
    for ellipsis in ELLIPSES:
        if tail.endswith(ellipsis):
            kept = len(text) - len(ellipsis)
            return _is_limit(kept) or _is_limit(len(text))
    return False


def _is_limit(length: int) -> bool:
    """Tell whether somebody would set a limit there; a writer's own ellipsis seldom is."""
    return length >= 100 and (length % 100 == 0 or length & (length - 1) == 0)
