"""Find where an agent says that it has done something."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice

import msgspec

from scorers.rules.acts import BASES, PARTICIPLES, Act, participles_of

_REACH = 400
"""How far a sentence is followed to either side, in characters."""
_MOST = 300
"""Matches of one pattern looked at in one message; nobody tells of more deeds at once."""

_ADVERBS = r"(?:(?:\w+ly|now|just|also|already|then|gone\s+ahead\s+and|went\s+ahead\s+and)\s+){0,3}"
_OWN = re.compile(
    rf"""(?P<own>(?:i(?<![\w']i)|we(?<![\w']we))(?:'ve|\s+have|\s+had)?)\s+
    (?:(?:was|were|been)\s+able\s+to\s+(?:successfully\s+)?(?P<base>[a-z]+)|{_ADVERBS}(?P<verb>[a-z]+))""",
    re.VERBOSE,
)
"""Active: "I have sent", "we were able to send". Patterns begin with letters, so a search skips."""

_PASSIVE = re.compile(rf"ha(?<!\wha)(?:s|ve)\s+{_ADVERBS}been\s+{_ADVERBS}(?P<verb>[a-z]+)")
_NOW = re.compile(rf"now(?<!\wnow)\s+{_ADVERBS}(?P<verb>[a-z]+)")
_STATE = re.compile(rf"(?:\b(?:is|are)|'s)\s+{_ADVERBS}(?P<verb>[a-z]+)")
_IS = re.compile(r"\b(?:is|are)\s+\Z")
_SUCCESS = re.compile(r"success(?<!\wsuccess)(?:ful(?P<ly>ly)?)?\b|complete(?<!\wcomplete)\b")
_DEED_WAS = re.compile(
    r"\b(?:transaction|payment|transfer|booking|reservation|update|change|exchange|return|cancellation|refund|request)\s+"
    r"(?:was|is|has\s+been)\s+(?:a\s+|now\s+)?\Z"
)
_WORD_BEFORE = re.compile(r"\b([a-z]+)\s+\Z")
_WORD_AFTER = re.compile(r"\s+([a-z]+)")
_DEED_FIRST = r"[ \t>#-]*(?:\d+[.)][ \t]+)?([a-z]+)[ \t]+(?:the|an?|your|two|three|all|\d+)\s"
_FIRST_LINE = re.compile(_DEED_FIRST)
_LISTED = re.compile("\n" + _DEED_FIRST)
"""A line that begins with a deed, as in a list of what was done."""

_AND = re.compile(r"\s(?:and|then)\s+(?:also\s+|then\s+|successfully\s+)?([a-z]+)\b")
_UNREAL = re.compile(
    r"""\b(?:if|once|when|whenever|after|before|until|unless|as\s+soon\s+as|in\s+case|whether|not|never|no|nothing|none|
    neither|unable|without|will|would|should|could|may|might|must|can|cannot|need|needs|let|which)\b|n't\b|
    \bthat\s+(?:has|have|was|were)\b""",
    re.VERBOSE,
)
"""What makes a clause speak of something that has not, or not now, been done."""

_PAST = re.compile(
    r"\b(?:previously|originally|earlier|ago|yesterday|in\s+the\s+past|last\s+(?:week|month|year|night|time)|since\s+(?:\d{4}|then|last))\b"
)
_TEXTS = (
    r"(?:summary|draft|outline|overview|example|template|answer|response|suggestion|recommendation|comparison|"
    r"paragraph|sentence|text|code|letter|essay|story|poem|translation|wording|format|calculation|explanation|"
    r"typo|assumption|search|analysis|review|research|check|investigation|assessment|verification|result|formula|"
    r"filter|criteria)(?:s|es)?\b"
)
"""What an agent makes by writing or looking, which needs no tool that acts."""

_TEXT_OBJECT = re.compile(
    rf"\s+(?:for\s+you\s+)?(?:(?:an?|the|this|some|my)\s+)?(?:\w+\s+){{0,2}}?(?:to\s+(?:the|our|this)\s+)?{_TEXTS}|"
    r"\s+(?:for\s+you\s+)?an?\s+(?:\w+\s+){0,2}?(?:list|table|plan|itinerary|version|section|query)\b|"
    r"\s+(?:\w+\s+)?to\s+(?:the|our|this)\s+list\b|\s+(?:\w+\s+){0,5}?to\s+the\s+list\s+of\b"
)
"""Such a thing after the verb; what is the user's own ("your plan") is none."""

_TEXT_SUBJECT = re.compile(rf"\b{_TEXTS}\s+\Z")
_WRITTEN = frozenset(
    """created made added updated corrected fixed adjusted modified changed marked set replaced applied
    arranged started completed performed returned finalized finalised processed executed
    initiated""".split()  # noqa: SIM905 - a word list is read as prose
)
"""What can be done to a text; a review that is submitted or an answer that is posted is a deed."""

_IDIOM = re.compile(
    r"made\s+(?:an?\s+|some\s+)?(?:\w+\s+)?(?:sure|certain|note|clear|progress|sense|mistakes?|errors?)\b|"
    r"set\s+out\b|started\s+(?:to|by|with|\w+ing)\b|\w+\s+our\b"
)
"""Phrases that look like deeds: "made sure", "started looking", "we have extended our hours"."""

_OPENERS = frozenset(
    ("and", "so", "then", "but", "that", "also", "first", "finally", "yes", "okay")
)
_PROPOSAL = re.compile(
    r"""\b(?:please\s+(?:confirm|review|verify|check)|(?:confirm|agree|okay?)\s+(?:if|that|whether|to|with)\b|yes/no|
    yes\W{1,3}(?:or\s+)?no\b|before\s+(?:i|we)\s+proceed|(?:like|want|wish)\s+(?:me\s+|us\s+)?to\s+proceed|
    (?:shall|may|can|should)\s+(?:i|we)\s+proceed)""",
    re.VERBOSE,
)
_WORKED_ON = frozenset(
    (
        "updated",
        "added",
        "changed",
        "removed",
        "adjusted",
        "corrected",
        "applied",
        "replaced",
        "set",
    )
)
"""What an agent does to its own proposal while it asks for a confirmation."""


class Claim(msgspec.Struct, frozen=True, kw_only=True):
    """One deed that the agent says is done."""

    message: int
    """Index into ``conversation.messages``."""
    act: Act
    verb: str
    """As the agent says it, lowercase."""
    own: bool
    """Said in the first person."""
    sure: bool
    """Said in the first person or with "successfully": no fact read elsewhere."""
    quote: str
    """The sentence, exactly as it stands."""


def claims_in(text: str, *, message: int = 0) -> list[Claim]:
    """Return what a message claims to have done.

    Promises, conditions, questions, negations, subordinate clauses and what happened earlier
    are no claims. Linear in the length of the text.
    """
    plain = _plain(text)
    claims: list[Claim] = []
    for match in islice(_OWN.finditer(plain), _MOST):
        claims += _owned(match, plain, text, message)
    for pattern in (_PASSIVE, _NOW):
        for match in islice(pattern.finditer(plain), _MOST):
            claims += _undergone(match, plain, text, message)
    if "success" in plain or "complete" in plain:
        claims += _elliptic(plain, text, message)
    for match in _lines(plain):
        if match[1] in PARTICIPLES:
            act = PARTICIPLES[match[1]]
            start, end = _sentence(plain, match.start(1), match.end())
            claims.append(_claim(match[1], act, text[start:end], message, own=True, sure=True))
    if any(c.own and c.verb in _WORKED_ON for c in claims) and _PROPOSAL.search(plain):
        claims = [c for c in claims if not (c.own and c.verb in _WORKED_ON)]
    return claims


def states_in(text: str, base: str, *, message: int = 0) -> list[Claim]:
    """Return where a message says that something is in the state that a deed leads to: "is cancelled".

    Only of one deed, by the base form of its verb, for whoever knows that the user has just
    asked for it.
    """
    plain = _plain(text)
    act, forms = BASES[base], participles_of(base)
    found = []
    for match in islice(_STATE.finditer(plain), _MOST):
        if match["verb"] not in forms:
            continue
        start, end = _sentence(plain, match.start(), match.end())
        if _is_real(plain, start, match.start(), end):
            quote = text[start:end]
            found.append(_claim(match["verb"], act, quote, message, own=False, sure=False))
    return found


def _lines(plain: str) -> Iterator[re.Match[str]]:
    """Yield the lines that may begin with a deed."""
    first = _FIRST_LINE.match(plain)
    if first:
        yield first
    yield from islice(_LISTED.finditer(plain), _MOST)


def _plain(text: str) -> str:
    """Take case, Markdown and typographic marks out of a text without moving anything."""
    lowered = text.lower()
    if len(lowered) != len(text):
        # A few capitals have a longer lowercase form; then only ASCII is lowered.
        lowered = text.translate({c: c + 32 for c in range(ord("A"), ord("Z") + 1)})
    for mark, plain in (("*", " "), ("`", " "), ("_", " "), ("\u2019", "'"), ("\u00a0", " ")):
        lowered = lowered.replace(mark, plain)
    return lowered


def _owned(match: re.Match[str], plain: str, text: str, message: int) -> Iterator[Claim]:
    """Yield what the agent says of itself, with what it adds after an "and"."""
    verb = match["base"] or match["verb"]
    act = (BASES if match["base"] else PARTICIPLES).get(verb)
    simple = match["own"] in ("i", "we") and not match["base"]
    if simple and act is None:
        return
    start, end = _sentence(plain, match.start(), match.end())
    # "The mail I sent" is no claim, "I have sent the mail" and "And I sent it" are.
    if simple and not _opens_clause(plain[start : match.start()]):
        return
    if _is_real(plain, start, match.start(), end):
        if act and not _is_talk(verb, plain, match.end()):
            yield _claim(verb, act, text[start:end], message, own=True, sure=True)
        for other, kind in _added(plain, match.end(), end):
            yield _claim(other, kind, text[start:end], message, own=True, sure=True)


def _undergone(match: re.Match[str], plain: str, text: str, message: int) -> Iterator[Claim]:
    """Yield what the agent says has been done: "has been sent", "is now cancelled"."""
    verb, at = match["verb"], match.start()
    act = PARTICIPLES.get(verb)
    if act is None or (match.re is _NOW and not _IS.search(plain, max(0, at - 8), at)):
        return
    if verb in _WRITTEN and _TEXT_SUBJECT.search(plain, max(0, at - 30), at):
        return
    start, end = _sentence(plain, at, match.end())
    if _is_real(plain, start, at, end):
        sure = "successfully" in plain[at : match.end() + len(" successfully")]
        yield _claim(verb, act, text[start:end], message, own=False, sure=sure)
        for other, kind in _added(plain, match.end(), end):
            yield _claim(other, kind, text[start:end], message, own=False, sure=sure)


def _added(plain: str, start: int, end: int) -> Iterator[tuple[str, Act]]:
    for match in _AND.finditer(plain, start, end):
        act = PARTICIPLES.get(match[1])
        if act and match[1] != "confirmed":
            yield match[1], act


def _elliptic(plain: str, text: str, message: int) -> Iterator[Claim]:
    """Yield claims without a subject that acts: "updated successfully", "payment was successful"."""
    for match in islice(_SUCCESS.finditer(plain), _MOST):
        start, end = _sentence(plain, *match.span())
        if not _is_real(plain, start, match.start(), end):
            continue
        for verb, act in _succeeded(match, plain):
            yield _claim(verb, act, text[start:end], message, own=False, sure=True)


def _succeeded(match: re.Match[str], plain: str) -> Iterator[tuple[str, Act]]:
    """Yield what a word of success speaks of."""
    at, end = match.span()
    if not match["ly"]:
        if _DEED_WAS.search(plain, max(0, at - 40), at):
            yield "succeeded", "any"
        return
    before = _WORD_BEFORE.search(plain, max(0, at - 20), at)
    for word in (before, _WORD_AFTER.match(plain, end)):
        if word and word[1] in PARTICIPLES:
            yield word[1], PARTICIPLES[word[1]]


def _is_talk(verb: str, plain: str, end: int) -> bool:
    """Say whether the agent did it by speaking: verified a fact, wrote a list, told the user."""
    if verb == "informed":
        return plain.startswith(" you ", end)
    written = verb in _WRITTEN and speaks_of_text(plain, end)
    return written or verb == "confirmed" or _IDIOM.match(plain, end - len(verb)) is not None


def speaks_of_text(plain: str, end: int) -> bool:
    """Say whether the object after a verb is something that is made by writing."""
    return _TEXT_OBJECT.match(plain, end) is not None


def _claim(verb: str, act: Act, sentence: str, message: int, *, own: bool, sure: bool) -> Claim:
    return Claim(message=message, act=act, verb=verb, own=own, sure=sure, quote=sentence.strip())


def _sentence(plain: str, start: int, end: int) -> tuple[int, int]:
    """Return where the sentence around a match begins and ends."""
    floor, ceiling = max(0, start - _REACH), min(len(plain), end + _REACH)
    marks = (". ", "! ", "? ", "\n")
    before = max(plain.rfind(mark, floor, start) for mark in marks)
    after = [at for mark in marks if (at := plain.find(mark, end - 1, ceiling)) >= 0]
    return (before + 1 if before >= 0 else floor), (min(after) + 1 if after else ceiling)


def _opens_clause(before: str) -> bool:
    """Say whether what comes next is a clause of its own."""
    words = before.split()
    return not words or words[-1][-1] in ",;:)-.!\u2013\u2014" or words[-1] in _OPENERS


def _is_quoted(plain: str, start: int, at: int, end: int) -> bool:
    """Say whether the words stand between quotation marks inside their sentence."""
    if plain.count('"', start, at) % 2 and '"' in plain[at:end]:
        return True
    opened = plain.rfind("\u201c", start, at)
    return opened > plain.rfind("\u201d", start, at) and "\u201d" in plain[at:end]


def _is_real(plain: str, start: int, at: int, end: int) -> bool:
    """Say whether a clause tells of something done, here and now."""
    if plain[start:end].rstrip().endswith("?"):
        return False
    if _is_quoted(plain, start, at, end):
        return False
    comma = max(plain.rfind(mark, start, at) for mark in ",;:")
    if _UNREAL.search(plain, comma + 1 if comma >= start else start, at):
        return False
    return not _PAST.search(plain, start, end)
