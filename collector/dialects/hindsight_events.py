"""Read outcomes and labels out of log events.

Labels are OpenTelemetry's ``gen_ai.evaluation.result``, whoever evaluated; outcomes are our own
``outrider.outcome``, since the GenAI conventions have no event for what turned out to be true.
"""

from __future__ import annotations

import msgspec

from collector.dialects.attributes import as_number, plain, text
from collector.dialects.envelope import ENVIRONMENT, SERVICE, TENANT, VARIANT, conversation_of
from collector.dialects.mending import MARK
from collector.hindsight import (
    LONGEST_COMMENT,
    LONGEST_ID,
    LONGEST_NAME,
    LONGEST_TEXT,
    About,
    Label,
    Outcome,
)
from collector.model import Level
from collector.telemetry import Attributes, LogRecord

OUTCOME = "outrider.outcome"
LABEL = "gen_ai.evaluation.result"

_PASSED = frozenset({"pass", "passed"})
_FAILED = frozenset({"fail", "failed"})
_TRUTHS = {"true": True, "false": False}
_LEVELS: dict[str, Level] = {"turn": "turn", "tool_call": "tool_call"}


def is_hindsight(record: LogRecord) -> bool:
    """Say whether an event is one of these."""
    return record.event_name in (OUTCOME, LABEL)


def told(record: LogRecord) -> Outcome | Label | None:
    """Read an event; ``None`` when it lacks what it takes: a conversation, a name or a value."""
    found = record.attributes
    if isinstance(record.body, dict):
        # The convention has attributes; some SDKs still put them into the body.
        found = {**record.body, **found}
    about = About(
        conversation_id=conversation_of(found, record.resource),
        trace_id=record.trace_id,
        span_id=record.span_id,
        tenant=text(found, TENANT),
        environment=text(found, ENVIRONMENT),
        variant=text(found, VARIANT),
    )
    if not about.conversation_id and not about.trace_id:
        return None
    read = _outcome if record.event_name == OUTCOME else _label
    made = read(record, about, found)
    return made if made is not None and _fits(made) else None


def _outcome(record: LogRecord, about: About, found: Attributes) -> Outcome | None:
    value = found.get("outrider.outcome.value")
    if isinstance(value, str):
        # Some SDKs write a boolean as text.
        value = _TRUTHS.get(value.lower(), _within(value, LONGEST_TEXT))
    elif not isinstance(value, bool):
        value = as_number(value)
    name = text(found, ("outrider.outcome.name",))
    if value is None or not name:
        return None
    return Outcome(
        about=about,
        name=name,
        value=value,
        source=text(found, ("outrider.outcome.source",)) or text(record.resource, SERVICE),
        call_id=text(found, ("gen_ai.tool.call.id",)),
        tool=text(found, ("gen_ai.tool.name",)),
        id=text(found, ("outrider.outcome.id",)),
        at_ns=record.time_ns or None,
    )


def _label(record: LogRecord, about: About, found: Attributes) -> Label | None:
    scorer = text(found, ("gen_ai.evaluation.name",))
    said = plain(found.get("gen_ai.evaluation.score.label"))
    value = as_number(found.get("gen_ai.evaluation.score.value"))
    word = said.strip().lower()
    if not scorer or (not word and value is None):
        return None
    level = _LEVELS.get(text(found, ("outrider.score.level",)), "conversation")
    return Label(
        about=about,
        scorer=scorer,
        verdict="pass" if word in _PASSED else "fail" if word in _FAILED else "",
        value=value,
        category="" if word in _PASSED | _FAILED else said,
        level=level,
        target=text(found, ("outrider.score.target",)) if level != "conversation" else "",
        author=text(found, ("outrider.label.author",)),
        source=text(found, ("outrider.label.source",)) or text(record.resource, SERVICE),
        comment=_within(plain(found.get("gen_ai.evaluation.explanation")), LONGEST_COMMENT),
        id=text(found, ("outrider.label.id",)),
        at_ns=record.time_ns or None,
    )


def _within(words: str, longest: int) -> str:
    return words if len(words) <= longest else words[: longest - len(MARK)] + MARK


def _fits(made: Outcome | Label) -> bool:
    """Say whether names and ids are as long as they may be, and all text can be written down."""
    about = made.about
    ids, names = [about.conversation_id, made.id], [about.tenant, about.environment, about.variant]
    if isinstance(made, Outcome):
        ids.append(made.call_id)
        names += [made.name, made.tool, made.source]
    else:
        ids.append(made.target)
        names += [made.scorer, made.category, made.author, made.source]
    try:
        msgspec.json.encode(made)
    except UnicodeEncodeError:
        return False  # a lone surrogate
    return max(map(len, ids)) <= LONGEST_ID and max(map(len, names)) <= LONGEST_NAME
