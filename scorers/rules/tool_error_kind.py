"""Say what kind of failure a tool's result tells of."""

from __future__ import annotations

import re
from typing import Literal, TypeAlias

from collector.model import ToolCall
from scorers.rules.tool_outcome import outcome_of

ErrorKind: TypeAlias = Literal[
    "rate_limit",
    "timeout",
    "permission",
    "not_found",
    "input",
    "refused",
    "unavailable",
    "internal",
    "other",
    "empty",
]
"""``input``: the call was wrong; ``refused``: it was understood and not carried out; ``internal``: the tool broke."""

_READ_CHARS = 1_000
_CODE = re.compile(
    r"(?:\b(?:status(?:_?code)?|code|http(?:/\d(?:\.\d)?)?)\W{1,4}|\A\W*|\berror\W{1,3})([45]\d\d)\b",
    re.IGNORECASE,
)
_OF_CODE: dict[str, ErrorKind] = {
    "400": "input",
    "401": "permission",
    "402": "refused",
    "403": "permission",
    "404": "not_found",
    "405": "input",
    "406": "input",
    "408": "timeout",
    "409": "refused",
    "410": "not_found",
    "413": "input",
    "415": "input",
    "422": "input",
    "423": "refused",
    "429": "rate_limit",
    "500": "internal",
    "502": "unavailable",
    "503": "unavailable",
    "504": "timeout",
    "529": "unavailable",
}
_WORDS: tuple[tuple[ErrorKind, str], ...] = (
    ("rate_limit", r"\brate\W?limit|\btoo\s+many\s+requests\b|\bquota\b|\bthrottl"),
    ("timeout", r"\btime[d]?[\s-]?out\b|\bdeadline\s+exceeded\b"),
    (
        "permission",
        r"\bpermission\b|\bunauthori[sz]ed\b|\bforbidden\b|\baccess\s+denied\b|\bnot\s+(?:allowed|authori[sz]ed|permitted)\b|\binvalid\s+(?:api\s+key|token|credentials)\b|\bauthenticat",
    ),
    (
        "input",
        r"\binvalid\b|\bvalidation\b|\bmissing\b|\brequired\b|\bunexpected\s+(?:keyword|argument|token)|\bmust\s+be\b|\bshould\s+be\b|\bnot\s+a\s+valid\b|\bbad\s+request\b|\bmalformed\b|\bcannot\s+parse\b|\b(?:Type|Value|Key|Attribute|JSONDecode)Error\b|\bwrong\s+(?:type|format|number)\b|\bout\s+of\s+range\b",
    ),
    (
        "not_found",
        r"\bnot\s+found\b|\bno\s+such\b|\bdoes(?:\s+not|n['\u2019]t)\s+exist\b|\bunknown\s+\w+|\bFileNotFoundError\b|\bcould(?:\s+not|n['\u2019]t)\s+find\b|\bcannot\s+find\b",
    ),
    (
        "unavailable",
        r"\bunavailable\b|\bconnection\s+(?:refused|reset|aborted|error)|\boverloaded\b|\bmax\s+retries\b|\bname\s+resolution\b|\boffline\b|\bmaintenance\b",
    ),
    (
        "internal",
        r"\binternal\b|\btraceback\b|\bunhandled\b|\bpanic\b|\bsegmentation\b|\bserver\s+error\b",
    ),
    (
        "refused",
        r"\balready\b|\binsufficient\b|\bdeclined\b|\brejected\b|\bdenied\b|\bcannot\s+be\b|\bcan(?:not|['\u2019]t)\b|\bnot\s+(?:enough|available|eligible|possible|supported)\b|\bconflict\b|\blocked\b|\bfull\b",
    ),
)
_KINDS = tuple((kind, re.compile(words, re.IGNORECASE | re.VERBOSE)) for kind, words in _WORDS)


def error_kind(call: ToolCall) -> ErrorKind | None:
    """Return the kind of a call's failure, by its status code, then by its words; ``None`` when it did not fail.

    ``empty`` is a look-up that worked and found nothing.
    """
    outcome = outcome_of(call)
    if outcome.kind == "empty":
        return "empty"
    if outcome.kind != "error":
        return None
    text = (call.result or "")[:_READ_CHARS]
    if (code := _CODE.search(text)) and code[1] in _OF_CODE:
        return _OF_CODE[code[1]]
    return next((kind for kind, pattern in _KINDS if pattern.search(text)), "other")
