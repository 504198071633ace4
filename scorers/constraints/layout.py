"""Check the form of a reply: lists, sections, titles, JSON, how it begins and ends."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import jsonschema_rs

from scorers.constraints.constraint import Kind, Kinds, miscounted

_BULLET = re.compile(r"^[ \t]*(?:\*(?!\*)|-)[^\n]*$", re.MULTILINE)
_PLACEHOLDER = re.compile(r"\[[^\n\]]*\]")
_LIGHT = re.compile(r"\*[^\n*]*\*")
_STRONG = re.compile(r"\*\*[^\n*]*\*\*")
_TITLE = re.compile(r"<<[^\n]+>>")
_FENCE = re.compile(r"\A\s*```(?:json)?\s*\n?(.*?)\n?```\s*\Z", re.DOTALL | re.IGNORECASE)
_MARKDOWN = re.compile(
    r"^\s{0,3}(?:#{1,6}\s|```|>\s|(?:[-*_]\s?){3,}$|\|.*\|\s*$)|\*\*[^\n*]+\*\*|\[[^\n\]]+\]\([^\n)]+\)|`[^`\n]+`",
    re.MULTILINE,
)
_ANSWERS = ("My answer is yes.", "My answer is no.", "My answer is maybe.")
_APART = "******"
_MAX_JSON = 200_000


def _bullets(reply: str, num_bullets: int, relation: str = "exactly") -> str:
    return miscounted(len(_BULLET.findall(reply)), relation, num_bullets, "bullet points")


def _placeholders(reply: str, num_placeholders: int) -> str:
    found = len(_PLACEHOLDER.findall(reply))
    return miscounted(found, "at least", num_placeholders, "placeholders")


def _highlights(reply: str, num_highlights: int) -> str:
    marked = [*_LIGHT.findall(reply), *_STRONG.findall(reply)]
    found = sum(1 for one in marked if one.strip("*").strip())
    return miscounted(found, "at least", num_highlights, "highlighted parts")


def _sections(reply: str, section_spliter: str, num_sections: int) -> str:
    found = len(re.findall(re.escape(section_spliter) + r"\s?\d+", reply))
    return miscounted(found, "at least", num_sections, "sections")


def _postscript(reply: str, postscript_marker: str) -> str:
    letters = [one for one in postscript_marker.lower() if one.isalnum()]
    loose = r"\.?\s?".join(map(re.escape, letters))
    return "" if re.search(loose, reply.lower()) else f"it has no {postscript_marker}"


def _title(reply: str) -> str:
    found = _TITLE.findall(reply)
    return "" if any(one.strip("<>").strip() for one in found) else "it has no <<title>>"


def _json(reply: str) -> str:
    return "" if _parsed(reply) is not None else "it is not JSON"


def _json_schema(reply: str, schema: dict[str, Any]) -> str:
    value = _parsed(reply)
    if value is None:
        return "it is not JSON"
    validator = _validator(json.dumps(schema, sort_keys=True))
    wrong = next(iter(validator.iter_errors(value[0])), None)
    return f"its JSON does not fit: {str(wrong.message)[:120]}" if wrong else ""


def _options(reply: str, options: Sequence[str] = _ANSWERS) -> str:
    return "" if any(one in reply for one in options) else "it says none of the allowed answers"


def _two(reply: str) -> str:
    parts = [one.strip() for one in reply.split(_APART)]
    inner = parts[1 if not parts[0] else 0 : -1 if len(parts) > 1 and not parts[-1] else None]
    if len(inner) != 2 or not all(inner):
        return f"it holds {sum(map(bool, inner))} answers"
    return "its two answers are the same" if inner[0] == inner[1] else ""


def _repeats(reply: str, prompt_to_repeat: str) -> str:
    same = reply.strip().lower().startswith(prompt_to_repeat.strip().lower())
    return "" if same else "it does not begin with the request"


def _begins(reply: str, start_phrase: str) -> str:
    same = reply.strip().strip('"*').lower().startswith(start_phrase.strip().lower())
    return "" if same else f"it begins with {reply.strip()[:40]!r}"


def _ends(reply: str, end_phrase: str) -> str:
    same = reply.strip().strip('"').lower().endswith(end_phrase.strip().lower())
    return "" if same else f"it ends with {reply.strip()[-40:]!r}"


def _quoted(reply: str) -> str:
    text = reply.strip()
    whole = len(text) > 1 and text[0] == text[-1] == '"'
    return "" if whole else "it is not in double quotation marks"


def _plain(reply: str) -> str:
    found = _MARKDOWN.search(reply)
    return f"it has {found[0].strip()[:40]!r}" if found else ""


def _parsed(reply: str) -> tuple[Any] | None:
    """Return the JSON value of a reply, in one fence or none; ``None`` when it is no JSON."""
    fenced = _FENCE.match(reply[:_MAX_JSON])
    try:
        return (json.loads(fenced[1] if fenced else reply[:_MAX_JSON]),)
    except (ValueError, RecursionError):
        return None


@lru_cache(maxsize=64)
def _validator(schema: str) -> Any:
    return jsonschema_rs.validator_for(json.loads(schema))


KINDS: Kinds = {
    "detectable_format:number_bullet_lists": Kind(
        check=_bullets,
        wording=lambda num_bullets, relation="exactly": (
            f"have {relation} {num_bullets} bullet points"
        ),
        about="It has `relation` `num_bullets` bullet points (`*` or `-`).",
    ),
    "detectable_content:number_placeholders": Kind(
        check=_placeholders,
        wording=lambda num_placeholders: f"have at least {num_placeholders} [placeholders]",
        about="It has at least `num_placeholders` placeholders in square brackets.",
    ),
    "detectable_format:number_highlighted_sections": Kind(
        check=_highlights,
        wording=lambda num_highlights: f"have at least {num_highlights} *highlighted* parts",
        about="It has at least `num_highlights` parts between asterisks.",
    ),
    "detectable_format:multiple_sections": Kind(
        check=_sections,
        wording=lambda section_spliter, num_sections: (
            f'have at least {num_sections} parts headed "{section_spliter}"'
        ),
        about="It has at least `num_sections` headings of `section_spliter` with a number.",
    ),
    "detectable_content:postscript": Kind(
        check=_postscript,
        wording=lambda postscript_marker: f"have a postscript {postscript_marker}",
        about="`postscript_marker` stands in it, spaces aside.",
    ),
    "detectable_format:title": Kind(
        check=_title, wording=lambda: "have a <<title>>", about="It has a title like `<<this>>`."
    ),
    "detectable_format:json_format": Kind(
        check=_json, wording=lambda: "be JSON", about="All of it is JSON, in one fence or none."
    ),
    "detectable_format:json_schema": Kind(
        check=_json_schema,
        wording=lambda schema: "be JSON of the schema",  # noqa: ARG005 - called by name
        about="All of it is JSON that `schema` (JSON Schema) allows.",
    ),
    "detectable_format:no_markdown": Kind(
        check=_plain,
        wording=lambda: "have no Markdown",
        about="It has no heading, emphasis, link, code, table or rule of Markdown.",
    ),
    "detectable_format:constrained_response": Kind(
        check=_options,
        wording=lambda options=_ANSWERS: f"say one of {len(options)} answers",
        about="One of `options` stands in it; without them, IFEval's three.",
    ),
    "combination:two_responses": Kind(
        check=_two,
        wording=lambda: f"hold two answers, `{_APART}` between",
        about=f"`{_APART}` cuts it into two answers that differ.",
    ),
    "combination:repeat_prompt": Kind(
        check=_repeats,
        wording=lambda prompt_to_repeat: "begin with the request",  # noqa: ARG005 - called by name
        about="It begins with `prompt_to_repeat`.",
    ),
    "startend:start_checker": Kind(
        check=_begins,
        wording=lambda start_phrase: f'begin with "{start_phrase}"',
        about="It begins with `start_phrase`.",
    ),
    "startend:end_checker": Kind(
        check=_ends,
        wording=lambda end_phrase: f'end with "{end_phrase}"',
        about="It ends with `end_phrase`.",
    ),
    "startend:quotation": Kind(
        check=_quoted,
        wording=lambda: "be in double quotation marks",
        about="It begins and ends with a double quotation mark.",
    ),
}
"""The kinds by name; those that IFEval has bear its names."""
