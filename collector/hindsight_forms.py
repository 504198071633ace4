"""Read outcomes and labels as people and scripts write them in JSON, and say what is wrong."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Iterator
from datetime import datetime
from typing import Annotated, Generic, Literal, TypeVar

import msgspec
from msgspec import Meta

from collector.errors import MalformedError, OversizedError
from collector.hindsight import (
    LONGEST_COMMENT,
    LONGEST_ID,
    LONGEST_NAME,
    LONGEST_TEXT,
    About,
    Label,
    Outcome,
)
from collector.loose_json import BYTE_ORDER_MARK, whole_characters

MOST = 10_000
"""Outcomes or labels in one request."""

AHEAD_NS = 24 * 3_600 * 1_000_000_000
"""By how much a time may lie in the future: the newest word holds, so one of 2099 would hold for ever."""

_COMMAS = 64 * MOST
"""More of them in a body mean a list of millions of nothings, which is not taken apart."""
_LATEST_S = 4_102_444_799
_EPISODES = 4_294_967_295

_Id = Annotated[str, Meta(max_length=LONGEST_ID)]
_Name = Annotated[str, Meta(max_length=LONGEST_NAME)]
_Named = Annotated[str, Meta(pattern=r"\S", max_length=LONGEST_NAME)]
_Text = Annotated[str, Meta(max_length=LONGEST_TEXT)]
_Count = Annotated[int, Meta(ge=0, le=_EPISODES)]
_Trace = Annotated[str, Meta(pattern=r"^(?:[0-9a-f]{32})?\Z")]
_Span = Annotated[str, Meta(pattern=r"^(?:[0-9a-f]{16})?\Z")]
_Time = str | float | None

_HINTS = {
    "conversation_id": f"a text of 1 to {LONGEST_ID} characters",
    "trace_id": "32 lowercase hex digits",
    "span_id": "16 lowercase hex digits",
    "episode": f"a whole number from 1 to {_EPISODES}",
    "value": f"true, false, a finite number, or a text of at most {LONGEST_TEXT} characters",
    "score": "a finite number",
    "verdict": '"pass" or "fail"',
    "turn": "a whole number, counted from 0",
    "call_id": f"a tool call's id, of at most {LONGEST_ID} characters",
    "id": f"a text of at most {LONGEST_ID} characters",
    "comment": f"a text of at most {LONGEST_COMMENT} characters",
    "at": 'a time with its zone, such as "2026-03-01T12:00:00Z", or Unix seconds',
    "name": f"a text of 1 to {LONGEST_NAME} characters",
    "scorer": f"a text of 1 to {LONGEST_NAME} characters",
}
_WORD = f"a text of at most {LONGEST_NAME} characters"

_PLACE = re.compile(r" - at `\$\.(\w+)`$")
_FIELD = re.compile(r"field `([^`]*)`")


class _About(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What an outcome or a label is about."""

    conversation_id: _Id = ""
    trace_id: _Trace = ""
    span_id: _Span = ""
    episode: _Count = 0
    tenant: _Name = ""
    environment: _Name = ""
    variant: _Name = ""


class OutcomeForm(_About, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """An outcome as it is written."""

    name: _Named
    value: bool | float | _Text
    source: _Name = ""
    call_id: _Id = ""
    tool: _Name = ""
    id: _Id = ""
    at: _Time = None


class LabelForm(_About, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A label as it is written."""

    scorer: _Named
    verdict: Literal["pass", "fail"] | None = None
    value: float | None = None
    category: _Name = ""
    turn: _Count | None = None
    call_id: _Id = ""
    author: _Name = ""
    source: _Name = ""
    comment: Annotated[str, Meta(max_length=LONGEST_COMMENT)] = ""
    id: _Id = ""
    at: _Time = None


_Form = TypeVar("_Form", OutcomeForm, LabelForm)
_Record = TypeVar("_Record", Outcome, Label)


class Fault(msgspec.Struct, frozen=True, kw_only=True):
    """Why one of a list cannot be used."""

    index: int
    """Counted from 0."""
    error: str
    """Names the key and what it must be."""


class Read(msgspec.Struct, Generic[_Record], frozen=True, kw_only=True):
    """What stands in one request."""

    records: list[_Record]
    """Those that can be used."""
    faults: list[Fault]
    alone: bool
    """Whether it was one and not a list."""


def outcomes(body: bytes, *, lines: bool, now_ns: int) -> Read[Outcome]:
    """Read the body of a request that tells outcomes.

    Args:
        body: An object or a list of them; with ``lines``, one object a line.
        lines: Whether it is JSON lines.
        now_ns: Present Unix time in nanoseconds.

    Raises:
        MalformedError: It is no JSON of that form.
        OversizedError: There are more than ``MOST``.
    """
    return _read(body, lines, lambda raw: _outcome(_form(raw, OutcomeForm), now_ns))


def labels(body: bytes, *, lines: bool, now_ns: int) -> Read[Label]:
    """Read the body of a request that tells labels; see ``outcomes``."""
    return _read(body, lines, lambda raw: _label(_form(raw, LabelForm), now_ns))


def _read(body: bytes, lines: bool, record: Callable[[bytes], _Record]) -> Read[_Record]:
    body = whole_characters(body.removeprefix(BYTE_ORDER_MARK))
    alone = not lines and body.lstrip()[:1] != b"["
    if alone:
        return Read(records=[record(body)], faults=[], alone=True)
    records: list[_Record] = []
    faults: list[Fault] = []
    for index, raw in enumerate(_lines(body) if lines else _items(body)):
        if index >= MOST:
            raise OversizedError(f"a request holds at most {MOST} of them; send several")
        try:
            records.append(record(raw))
        except MalformedError as error:
            faults.append(Fault(index=index, error=str(error)))
    return Read(records=records, faults=faults, alone=False)


def _items(body: bytes) -> Iterator[bytes]:
    if body.count(b",") > _COMMAS:
        raise OversizedError(f"a request holds at most {MOST} of them; send several")
    try:
        return map(bytes, msgspec.json.decode(body, type=list[msgspec.Raw]))
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError) as error:
        raise MalformedError(_not_json(error)) from None


def _lines(body: bytes) -> Iterator[bytes]:
    return (line for line in body.splitlines() if line.strip())


def _not_json(error: Exception) -> str:
    return f"the body must be a JSON object or a list of them: {str(error) or type(error).__name__}"


def _form(raw: bytes, kind: type[_Form]) -> _Form:
    try:
        return msgspec.json.decode(raw, type=kind)
    except msgspec.ValidationError as error:
        raise MalformedError(_advice(str(error), kind)) from None
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError) as error:
        raise MalformedError(_not_json(error)) from None


def _advice(message: str, kind: type[OutcomeForm | LabelForm]) -> str:
    """Say which key is wrong and what it must be."""
    place, field = _PLACE.search(message), _FIELD.search(message)
    if place is not None:
        return f"{place[1]}: must be {_hint(place[1], kind)}"
    if field is None:
        return "each must be a JSON object"
    key = field[1]
    if "missing" in message:
        return f"{key}: is missing; it must be {_hint(key, kind)}"
    keys = kind.__struct_fields__
    near = difflib.get_close_matches(key, keys, 1)
    fix = f"did you mean {near[0]}?" if near else f"the keys are {', '.join(keys)}"
    return f"{key[:LONGEST_NAME]}: is not a key; {fix}"


def _hint(key: str, kind: type[OutcomeForm | LabelForm]) -> str:
    return _HINTS.get("score" if key == "value" and kind is LabelForm else key, _WORD)


def _outcome(form: OutcomeForm, now_ns: int) -> Outcome:
    return Outcome(
        about=_about(form),
        name=form.name,
        value=form.value,
        source=form.source,
        call_id=form.call_id,
        tool=form.tool,
        id=form.id,
        at_ns=_time(form.at, now_ns),
    )


def _label(form: LabelForm, now_ns: int) -> Label:
    if form.verdict is None and form.value is None and not form.category:
        raise MalformedError(
            f"verdict: is missing; it must be {_HINTS['verdict']}, unless there is a value or a category"
        )
    if form.turn is not None and form.call_id:
        raise MalformedError("turn: a label is on a turn or on a call; leave out turn or call_id")
    of_turn = form.turn is not None
    return Label(
        about=_about(form),
        scorer=form.scorer,
        verdict=form.verdict or "",
        value=form.value,
        category=form.category,
        level="turn" if of_turn else "tool_call" if form.call_id else "conversation",
        target=str(form.turn) if of_turn else form.call_id,
        author=form.author,
        source=form.source,
        comment=form.comment,
        id=form.id,
        at_ns=_time(form.at, now_ns),
    )


def _about(form: OutcomeForm | LabelForm) -> About:
    if not form.conversation_id and not form.trace_id:
        raise MalformedError(
            f"conversation_id: is missing; it must be {_HINTS['conversation_id']}, unless there is a trace_id"
        )
    return About(
        conversation_id=form.conversation_id,
        trace_id=form.trace_id,
        span_id=form.span_id,
        episode=form.episode,
        tenant=form.tenant,
        environment=form.environment,
        variant=form.variant,
    )


def _time(at: str | float | None, now_ns: int) -> int | None:
    """Return Unix nanoseconds."""
    if at is None:
        return None
    if isinstance(at, str):
        try:
            when = datetime.fromisoformat(at)
            seconds = when.timestamp() if when.tzinfo is not None else -1.0
        except (ValueError, OverflowError):
            seconds = -1.0
    else:
        seconds = at
    if not 0 <= seconds <= _LATEST_S:
        raise MalformedError(f"at: must be {_HINTS['at']}")
    # Microseconds are what a float of this size can tell.
    found = round(seconds * 1_000_000) * 1_000
    if found > now_ns + AHEAD_NS:
        raise MalformedError("at: must not lie in the future")
    return found
