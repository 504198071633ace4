"""Read from a tool's result whether the call worked, failed, or came back with nothing."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any, Literal, TypeAlias

import msgspec

from collector.model import ToolCall
from scorers.rules.identity import Same
from scorers.rules.tool_effect import effect_of
from scorers.rules.tool_envelope import fields_of

OutcomeKind: TypeAlias = Literal["ok", "error", "empty", "unknown"]
"""``empty``: the call worked and found nothing; ``unknown``: its result was never seen."""

_QUOTE_CHARS = 200
_STATEMENT_CHARS = 400
"""A text longer than this is content; it may speak of errors without being one."""
_STATEMENT_LINES = 3
_UNWRAP_DEPTH = 3

_ERROR_START = re.compile(
    r"""\W*(?:
      (?:error|fatal|failure|exception|traceback|panic)\b(?!\s+(?:budget|margin|rate)s?\b)
    | (?i:(?:error|fatal|failure|exception|traceback|panic)\s*(?:[:(\[]|\d|while\b|in\b|during\b|occurred\b|fetching\b|calling\b|most\b))
    | (?i:failed\s+(?:to|with|because|due)\b|failed:)
    | (?i:(?:an?|the|some)\s+(?:\w+\s+){0,2}(?:error|exception)\s+(?:has\s+)?(?:occurred|happened|was))
    | (?:[a-z_]\w*\.)*[A-Z]\w*(?:Error|Exception|Failure|Fault)\b
    | (?i:https?(?:/\d(?:\.\d)?)?\s*|status(?:\s*code)?\W{1,3}|code\W{1,3})?[45]\d\d\b[\s:,-]+(?i:
        bad|unauth|payment\s+req|forbidden|not\s+(?:found|allowed|accept|implem)|method|conflict|gone|
        precond|unproc|unsupp|locked|too\s+many|request\s+t|internal|service|gateway|(?:client|server)\s+error|error)
    | (?i:(?:status|state|result|outcome)['"]?\s*[:=]\s*['"]?(?:error|failed|failure|fail)\b)
    | (?i:(?:ok|success|succeeded)['"]?\s*[:=]\s*['"]?false\b)
    | '\w+'\Z
    )""",
    re.VERBOSE,
)
"""How an error message begins: plain text, an exception's repr, a status line, YAML, a KeyError."""

_BREAKDOWN = re.compile(
    r"""\[Errno\s+|\btraceback\s+\(most\s+recent|\btimed?[\s-]?out\b|\bconnection\s+(?:refused|reset|aborted|error)|
    \bmax\s+retries\s+exceeded|\b(?:permission|access)\s+denied\b|\bunauthori[sz]ed\b|\brate\s+limit(?:ed|\s+exceeded)|
    \bquota\s+exceeded|\bunexpected\s+keyword\s+argument|\bmissing\s+\d+\s+required|\bindex\s+out\s+of\s+range\b|
    \bexpecting\s+value:\s+line\b|\binvalid[_\s](?:params?|parameters?|arguments?|input|request|token|api\s+key|format)|
    \bnot\s+(?:authori[sz]ed|permitted)\b|\b(?:internal|server)\s+error\b|\bservice\s+unavailable\b|
    \b(?:should|must)\s+be\s+(?:an?\s+|in\s+|one\s+of\b|of\s+type\b|set\b|provided\b)""",
    re.VERBOSE | re.IGNORECASE,
)
"""A call that broke or was refused, said anywhere in a short text."""

_NOTHING = re.compile(
    r"""\bno\s+(?:[\w'-]+\s+){0,4}?(?:was\s+|were\s+|is\s+|are\s+)?(?:found|match(?:es|ed|ing)?\b|results?\b|records?\b|data\b|entries\b)|
    \bnothing\s+(?:was\s+)?found|\bnot\s+(?:be\s+)?found\b|\b(?:can(?:\s*not|n?['\u2019]t)|could(?:\s+not|n['\u2019]t)|unable\s+to|did(?:\s+not|n['\u2019]t))\s+(?:find|locate|match)\b|
    \b(?:does|do|did)(?:\s+not|n['\u2019]t)\s+exist\b|\bno\s+such\b|\b(?:0|zero)\s+(?:results?|matches|records?|items?|rows?|hits)\b|
    \b(?:returned|has(?:n['\u2019]t|\s+not)\s+returned|returns)\s+(?:no\b|any\s+results?|nothing\b|0\s+rows)|\bis\s+empty\b|
    \btry\s+(?:again|searching|another|a\s+different)\b""",
    re.VERBOSE | re.IGNORECASE,
)
"""A lookup that found nothing, said in a short text."""

_REFUSAL = re.compile(
    r"""\b(?:can(?:\s*not|n?['\u2019]t)|could(?:\s+not|n['\u2019]t)|(?:was|were|is|are|been)(?:\s+not|n['\u2019]t)|unable\s+to|not\s+able\s+to|failed|failure|
    declined|rejected|denied|refused|unavailable|not\s+(?:available|enough|allowed|supported|valid|possible|sufficient|eligible)|
    invalid|insufficient|already\s+(?:exists?|booked|in\s+use|taken|in\s+the)|try\s+again|does(?:\s+not|n['\u2019]t)\s+match)\b""",
    re.VERBOSE | re.IGNORECASE,
)
"""An action that was not carried out, said in a short text by a tool that should have acted."""

_HINTS = (
    *(
        "errno",
        "traceback",
        "tim",
        "connection",
        "retries",
        "denied",
        "unauthori",
        "limit",
        "quota",
    ),
    *(
        "unexpected",
        "missing",
        "out of range",
        "expecting",
        "invalid",
        "not",
        "n't",
        "n\u2019t",
        "no ",
    ),
    *(
        "error",
        "unavailable",
        " be ",
        "unable",
        "nothing",
        "zero ",
        "0 ",
        "return",
        "empty",
        "try ",
    ),
    *("fail", "declined", "rejected", "refused", "insufficient", "already"),
)
"""One of these stands in every statement the three patterns know; far cheaper to look for."""

_DONE = re.compile(r"\bsucce(?:ss(?:ful(?:ly)?)?|eded)\b", re.IGNORECASE)
_ERROR_WORDS = frozenset(
    """error err failed failure fail exception not_found notfound invalid invalid_request denied rejected
    declined unauthorized unauthorised forbidden timeout timed_out refused aborted""".split()  # noqa: SIM905 - a word list is read as prose
)
_FALSY_WORDS = frozenset(("", "0", "no", "none", "null", "false", "ok", "nil", "n/a"))
_NOTHING_TEXTS = frozenset(("", "[]", "{}", "()", "null", "none", "nil", '""', "''", "[[]]", "n/a"))
_TEXT_FIELDS = ("text", "content", "result", "output", "data")
_LIST_FIELDS = ("results", "data", "matches", "documents", "records", "rows", "hits")


class ToolOutcome(msgspec.Struct, frozen=True, kw_only=True):
    """What became of one tool call."""

    kind: OutcomeKind
    quote: str = ""
    """The words of the result that say so, exactly as they stand there; empty for ``ok``."""


_OK = ToolOutcome(kind="ok")


def outcome_of(call: ToolCall) -> ToolOutcome:
    """Say whether a call worked, by the producer's flag, then by the result's structure and words.

    A short text is read as a statement about the call, a long one as content. Linear in the
    length of the result; most scorers ask, so that the last calls' outcomes are remembered.
    """
    return _outcome(Same(call))


@lru_cache(maxsize=256)
def _outcome(same: Same[ToolCall]) -> ToolOutcome:
    call = same.record
    result = call.result
    if result is None:
        return ToolOutcome(kind="error" if call.is_error else "unknown")
    if call.is_error:
        return ToolOutcome(kind="error", quote=_first_line(result))
    writes = effect_of(call.name) == "write"
    kind, words = _classify(result, writes=writes, depth=_UNWRAP_DEPTH)
    if kind == "ok":
        return _OK
    return ToolOutcome(kind=kind, quote=words if words and words in result else _first_line(result))


def _classify(text: str, *, writes: bool, depth: int) -> tuple[OutcomeKind, str]:
    """Return the kind and the words that told it."""
    bare = text.strip().removeprefix("<<").removesuffix(">>").strip()
    if len(bare) < 6 and bare.lower() in _NOTHING_TEXTS:
        return "empty", bare
    # ``[Errno 2] ...`` and ``{resource} not found`` open like a structure and are none.
    if bare[0] in "{[" and not bare[1:2].isalpha() and depth:
        return _classify_structure(bare, writes=writes, depth=depth)
    return _classify_text(bare, writes=writes)


def _classify_text(text: str, *, writes: bool) -> tuple[OutcomeKind, str]:
    if _ERROR_START.match(text, 0, _STATEMENT_CHARS):
        return "error", _first_line(text)
    kind: OutcomeKind = "ok"
    if len(text) <= _STATEMENT_CHARS and text.count("\n") <= _STATEMENT_LINES:
        kind = _classify_statement(text, writes=writes)
    return kind, "" if kind == "ok" else _first_line(text)


def _classify_statement(text: str, *, writes: bool) -> OutcomeKind:
    lowered = text.lower()
    if not any(hint in lowered for hint in _HINTS):
        return "ok"
    if _BREAKDOWN.search(text):
        return "error"
    if _NOTHING.search(text):
        return "error" if writes else "empty"
    refused = writes and _REFUSAL.search(text) and not _DONE.search(text)
    return "error" if refused else "ok"


def _classify_structure(text: str, *, writes: bool, depth: int) -> tuple[OutcomeKind, str]:
    fields = fields_of(text)
    error = fields.get("error") or fields.get("errors")
    if _says_something(error):
        return "error", _words(error)
    message = fields.get("message")
    if _flagged(fields, writes=writes):
        return "error", _words(message)
    for name in _TEXT_FIELDS:
        inner = _inner_text(fields.get(name))
        if inner:
            return _classify(inner, writes=writes, depth=depth - 1)
    if isinstance(message, str):
        kind, words = _classify_text(message, writes=writes)
        if kind != "ok":
            return kind, words
    found = [fields[name] for name in _LIST_FIELDS if name in fields]
    return ("empty", text[:_QUOTE_CHARS]) if any(f in ([], {}) for f in found) else ("ok", "")


def _flagged(fields: dict[str, Any], *, writes: bool) -> bool:
    """Say whether a flag, a status word or an HTTP code marks the call as failed."""
    if fields.get("is_error") is True or False in (fields.get("ok"), fields.get("success")):
        return True
    status, message = fields.get("status"), fields.get("message")
    if any(type(n) is int and 400 <= n < 600 for n in (status, fields.get("status_code"))):
        return True
    if isinstance(status, str) and status.lower() in _ERROR_WORDS:
        # A lookup may truthfully report the status of a failed payment.
        return writes or bool(message)
    return (
        status in ("0", 0, False) and isinstance(message, str) and bool(_BREAKDOWN.search(message))
    )


def _inner_text(value: Any) -> str:
    """Return the text of an envelope's content: a string, or MCP's list of text parts."""
    if isinstance(value, str):
        return value if value.strip() else ""
    if isinstance(value, list) and value and isinstance(value[0], dict):
        part = value[0].get("text")
        return part if isinstance(part, str) and part.strip() else ""
    return ""


def _says_something(error: Any) -> bool:
    if isinstance(error, str):
        return error.strip().lower() not in _FALSY_WORDS
    return bool(error)


def _words(value: Any) -> str:
    if isinstance(value, str):
        return value.strip()[:_QUOTE_CHARS]
    if isinstance(value, dict):
        return next((v for v in value.values() if isinstance(v, str) and v), "")[:_QUOTE_CHARS]
    return ""


def _first_line(text: str) -> str:
    return text.strip().partition("\n")[0][:_QUOTE_CHARS]
