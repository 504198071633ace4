r"""Know keys that can be told by their beginning, and passwords and tokens by what stands before them.

The beginnings are those that the providers document and that secret scanners (gitleaks,
detect-secrets) look for. Every search is linear in the text: patterns start at a literal, and
repeats are bounded or cannot overlap. A ``\n`` that is still escaped (JSON inside text) counts as
a boundary.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from collector.glance import Extent, Glance

_START = r"(?:(?<![A-Za-z0-9_-])|(?<=\\[nrtbf]))"
_HYPHENATED = re.compile(r"-[A-Za-z0-9_-]{10}")
_UNDERSCORED = re.compile(r"_(?=[A-Za-z0-9_]{16})")
_DOTTED = re.compile(r"\.(?=[A-Za-z0-9_-]{16})")
_AMAZON = re.compile(r"A(?:KIA|SIA|BIA|CCA|Iza|KCp|TATT3)")
_BEFORE_DOT = (
    "SG",
    "hvs",
    "hvb",
    "hvr",
    "ya29",
    "dt0c01",
    "dp.pt",
    "dp.st",
    "dp.ct",
    "dp.scim",
    "dp.audit",
)
_BEFORE_UNDERSCORE = (
    # GitHub, Hugging Face, npm, Groq, Stripe
    *("ghp", "gho", "ghu", "ghs", "ghr", "github_pat", "hf", "api_org", "npm", "gsk"),
    *("sk_live", "sk_test", "rk_live", "rk_test", "whsec"),
    # Replicate, LangSmith, Pinecone, Supabase, PlanetScale, Prefect, Shopify, Shippo, Duffel
    *(
        "r8",
        "lsv2_pt",
        "lsv2_sk",
        "pcsk",
        "sbp",
        "sb_secret",
        "pscale_tkn",
        "pscale_pw",
        "pscale_oauth",
        "pnu",
    ),
    *(
        "shpat",
        "shpca",
        "shppa",
        "shpss",
        "shippo_live",
        "shippo_test",
        "duffel_live",
        "duffel_test",
    ),
    # DigitalOcean, Linear, Notion, Sentry, Docker, Figma, RubyGems, Grafana, Netlify, Fly, Tailscale
    *("dop_v1", "doo_v1", "dor_v1", "lin_api", "lin_oauth", "ntn", "secret", "sntrys", "sntryu"),
    *(
        "dckr_pat",
        "dckr_oat",
        "figd",
        "rubygems",
        "glsa",
        "glc",
        "nfp",
        "fo1",
        "tskey",
        "rdme",
        "sgp",
        "tfp",
    ),
)
_BEFORE_HYPHEN = (
    # OpenAI, Anthropic, OpenRouter and Langfuse share sk-
    *("sk", "xai", "pplx", "nvapi", "tvly", "fw", "pypi", "key", "GOCSPX"),
    *(
        "glpat",
        "gldt",
        "glrt",
        "glcbt",
        "glptt",
        "glft",
        "glimt",
        "glagent",
        "gloas",
        "glsoat",
        "glffct",
    ),
    *(
        "xoxa",
        "xoxb",
        "xoxe",
        "xoxo",
        "xoxp",
        "xoxr",
        "xoxs",
        "xapp",
        "tskey",
        "dnkey",
        "pul",
        "ico",
    ),
    *(
        "NRAK",
        "NRII",
        "PMAK",
        "HRKU",
        "sq0atp",
        "sq0csp",
        "xkeysib",
        "p8e",
        "AGE-SECRET-KEY",
        "fio",
        "FLWSECK",
    ),
)


def _either(words: tuple[str, ...]) -> str:
    return "|".join(map(re.escape, sorted(words, key=len, reverse=True)))


_KEY = re.compile(
    _START + r"(?:(?:AKIA|ASIA|ABIA|ACCA)[0-9A-Z]{16}(?![0-9A-Za-z])"
    r"|AIza[A-Za-z0-9_-]{35}"
    r"|LTAI[A-Za-z0-9]{20}"
    r"|dapi[a-f0-9]{32}"
    r"|AKCp[A-Za-z0-9]{60,}"
    r"|ATATT3[A-Za-z0-9_=-]{60,}"
    r"|SG\.[A-Za-z0-9_-]{16,64}\.[A-Za-z0-9_-]{16,64}"
    r"|hv[sbr]\.[A-Za-z0-9_-]{20,}"
    r"|ya29\.[A-Za-z0-9_-]{20,}"
    r"|dp\.(?:pt|st|ct|scim|audit)\.[A-Za-z0-9._-]{20,}"
    r"|dt0[a-z][0-9]{2}\.[A-Z0-9]{24}\.[A-Z0-9]{32,}"
    rf"|(?:{_either(_BEFORE_HYPHEN)})-(?=[A-Za-z_-]{{0,60}}[0-9])[A-Za-z0-9_-]{{16,}}"
    r"|xox[abeoprs]-[A-Za-z0-9-]{10,}"
    rf"|(?:{_either(_BEFORE_UNDERSCORE)})_(?=[A-Za-z0-9_]{{16}})[A-Za-z0-9_=.-]*[A-Za-z0-9_=-])"
)
_TELEGRAM = re.compile(r"(?<![0-9A-Za-z])[0-9]{8,10}:AA[A-Za-z0-9_-]{33}(?![A-Za-z0-9_-])")
_SLACK_HOOK = re.compile(
    r"hooks\.slack\.com/(?:services|workflows|triggers)/([A-Za-z0-9_/+-]{20,})"
)
_PRIVATE_KEY = re.compile(
    r"-----BEGIN [A-Z ]{0,20}PRIVATE KEY(?: BLOCK)?-----"
    r".*?(?:-----END [A-Z ]{0,20}PRIVATE KEY(?: BLOCK)?-----|\Z)",
    re.DOTALL,
)
_URL_PASSWORD = re.compile(r"://[^/\s:@\"'\\]{0,64}:([^/\s@\"'\\]{1,128})@")

_VALUE = (
    r"(?:(?P<q>\\{0,8}[\"'])(?P<quoted>(?:\\.|[^\\\n]){1,256}?)(?P=q)"
    r"|(?P<bare>(?!https?://)[^\s\"'\\,;&<>(){}\[\]]{4,256}))"
)
_SEPARATOR = re.compile(r"[:=]=?>?\s{0,3}")
_NAMES_OF_PASSWORDS = r"pass(?:word|wd|wort|phrase|code)|pwd|kennwort|contraseña|mot de passe|senha|wachtwoord|lösenord|hasło"
_LAST_WORDS = (
    *("password", "passwd", "passwort", "passphrase", "passcode", "pwd", "kennwort", "contraseña"),
    *("mot de passe", "senha", "wachtwoord", "lösenord", "hasło", "secret", "key", "token"),
)
"""What a name ends in that gives its value away."""
_SECRET_NAME = re.compile(
    rf"(?:(?P<any>{_NAMES_OF_PASSWORDS}|secret|(?:api|access|private|account|signing|secret)"
    r"[ _-]?key|(?:access|refresh|auth|api|session|csrf)[ _-]?token)|token)"
    r"(?:\\{0,8}[\"'])?\s{0,3}\Z",
    re.IGNORECASE,
)
_ASSIGNED = re.compile(_VALUE)
_ASSIGNED_TOKEN = re.compile(
    r"(?:\\{0,8}[\"'])?(?P<bare>(?=[^\s0-9]{0,64}[0-9])[A-Za-z0-9._~+/-]{16,})"
)
_SPOKEN = re.compile(
    rf"(?:{_NAMES_OF_PASSWORDS})\s{{1,3}}(?:is|was|ist|lautet|war|est|es|é|è|är|to)\s{{0,3}}:?\s{{0,3}}[\"'`]?"
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


def _has_prefixed_key(text: str) -> bool:
    # Each search runs from one literal to the next; a generator over words costs more than that.
    return (
        _AMAZON.search(text) is not None
        or "dapi" in text
        or "LTAI" in text
        or ("_" in text and _follows(text, _UNDERSCORED, _BEFORE_UNDERSCORE))
        or ("-" in text and _follows(text, _HYPHENATED, _BEFORE_HYPHEN))
        or ("." in text and _follows(text, _DOTTED, _BEFORE_DOT))
    )


def _follows(text: str, joint: re.Pattern[str], words: tuple[str, ...]) -> bool:
    # Most joints before something long are those of tool names, ids and dates.
    for match in joint.finditer(text):  # noqa: SIM110 - a generator costs more than the search
        if text.endswith(words, 0, match.start()):
            return True
    return False


def _has_assignment(lower: str) -> bool:
    return "token" in lower or "key" in lower or "secret" in lower or _is_spoken(lower)


def _is_spoken(lower: str) -> bool:
    return (
        "pwd" in lower
        or ("pass" in lower and ("passw" in lower or "passc" in lower or "passp" in lower))
        or "kennwort" in lower
        or "mot de p" in lower
        or "senha" in lower
        or "wachtw" in lower
        or (not lower.isascii() and ("contrase" in lower or "lösen" in lower or "hasło" in lower))
    )


def keys_possible(look: Glance) -> bool:
    """Say whether a key or password can stand in the text."""
    text, lower = look.text, look.lower
    # Without a separator a name can only be followed by "is" or "was".
    assigned = _has_assignment(lower) if ":" in text or "=" in text else _is_spoken(lower)
    return (
        assigned
        or _has_prefixed_key(text)
        or "PRIVATE KEY" in text
        or ":AA" in text
        or ("://" in text and ("@" in text or "hooks.slack" in text))
    )


def keys(look: Glance) -> Iterator[Extent]:
    """Find keys and passwords."""
    text = look.text
    if _has_prefixed_key(text):
        yield from (match.span() for match in _KEY.finditer(text))
    if "PRIVATE KEY" in text:
        yield from (match.span() for match in _PRIVATE_KEY.finditer(text))
    if "@" in text and "://" in text:
        yield from (match.span(1) for match in _URL_PASSWORD.finditer(text))
    if ":AA" in text:
        yield from (match.span() for match in _TELEGRAM.finditer(text))
    if "hooks.slack" in text:
        yield from (match.span(1) for match in _SLACK_HOOK.finditer(text))
    if _has_assignment(look.lower):
        yield from _assigned(text)
        if _is_spoken(look.lower):
            yield from (match.span("bare") for match in _SPOKEN.finditer(text))


def _assigned(text: str) -> Iterator[Extent]:
    for separator in _SEPARATOR.finditer(text):
        before = text[max(0, separator.start() - 32) : separator.start()]
        if not before.rstrip(" \t\n\"'\\").lower().endswith(_LAST_WORDS):
            continue
        name = _SECRET_NAME.search(before)
        if name is None:
            continue
        pattern = _ASSIGNED if name["any"] else _ASSIGNED_TOKEN
        value = pattern.match(text, separator.end())
        if value is not None:
            yield value.span("quoted" if name["any"] and value["quoted"] else "bare")


def tokens_possible(look: Glance) -> bool:
    """Say whether a token can stand in the text."""
    return "eyJ" in look.text or "bearer" in look.lower or "authorization" in look.lower


def tokens(look: Glance) -> Iterator[Extent]:
    """Find JSON Web Tokens and credentials of HTTP headers."""
    text = look.text
    yield from (match.span() for match in _JWT.finditer(text))
    for pattern in (_BEARER, _BASIC):
        yield from (match.span("bare") for match in pattern.finditer(text))
