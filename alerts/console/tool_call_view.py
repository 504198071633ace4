"""Lay one tool call out for a page: what was asked, what came back, and whether that was an error."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Literal

import msgspec

from alerts.console.conversation import Asked, Call, Said
from alerts.console.marks import Piece, Quote, find, missing, pieces_of
from collector.model import ToolCall
from scorers.rules.tool_outcome import outcome_of

State = Literal["ok", "error", "empty", "unknown"]
_GLANCE = 120
"""Characters of the arguments, and of an error, that show while it is folded."""


class CallView(msgspec.Struct, frozen=True, kw_only=True):
    """One tool call."""

    anchor: str
    """Id of its element; made of numbers of ours alone."""
    name: str
    call_id: str
    state: State
    glance: str
    """The arguments in one short line."""
    error: str
    """How the result begins, where it is an error."""
    arguments: list[Piece]
    result: list[Piece] | None
    """``None`` when it was never seen."""
    latency_s: float | None = None
    trace_id: str = ""
    span_id: str = ""
    answered_at: int = -1
    by_user: bool = False
    simulated: bool = False
    verdicts: list[int] = []
    """Numbers of the verdicts that are about it."""
    failing: bool = False
    """Whether one of these is a failing one."""
    astray: list[Quote] = []
    """Words that a verdict quotes and that do not stand in it."""


def target_names(calls: Sequence[Call]) -> list[str]:
    """Return the target that verdicts on each call carry: its id, numbered where it repeats."""
    taken: set[str] = set()
    repeats: dict[str, int] = {}
    names = []
    for call in calls:
        stem = call.call_id or f"call-{call.position}"
        name = stem
        while name in taken:
            repeats[stem] = repeats.get(stem, 1) + 1
            name = f"{stem}#{repeats[stem]}"
        if call.requestor != "user":
            taken.add(name)
        names.append(name)
    return names


def stored_view(
    call: Call, *, quotes: Sequence[Quote], about: Sequence[int], failing: bool, limit: int
) -> CallView:
    """Lay out a call of the episode itself."""
    latency = None
    if call.started_ns and call.ended_ns >= call.started_ns:
        latency = (call.ended_ns - call.started_ns) / 1e9
    return _view(
        f"c{call.position}",
        ToolCall(
            id=call.call_id,
            name=call.name,
            arguments=call.arguments,
            result=call.result,
            is_error=call.is_error,
            answered_at=call.answered_at,
            trace_id=call.trace_id,
            span_id=call.span_id,
            requestor="user" if call.requestor == "user" else "agent",
            simulated=call.simulated,
        ),
        latency_s=latency,
        cut=(
            max(0, call.argument_bytes - len(call.arguments.encode())),
            max(0, call.result_bytes - len((call.result or "").encode())),
        ),
        quotes=quotes,
        about=about,
        failing=failing,
        limit=limit,
    )


def told_view(
    request: Asked,
    answer: tuple[int, Said] | None,
    *,
    anchor: str,
    quotes: Sequence[Quote],
    limit: int,
) -> CallView:
    """Lay out a call that only the messages tell of, such as one of an earlier episode."""
    at, message = answer or (-1, None)
    return _view(
        anchor,
        ToolCall(
            id=request.id,
            name=request.name,
            arguments=json.dumps(request.arguments, ensure_ascii=False),
            result=None if message is None else message.text,
            is_error=None if message is None else message.is_error,
            answered_at=at,
        ),
        latency_s=None,
        cut=(0, 0),
        quotes=quotes,
        about=[quote.verdict for quote in quotes],
        failing=False,
        limit=limit,
    )


def _view(
    anchor: str,
    call: ToolCall,
    *,
    latency_s: float | None,
    cut: tuple[int, int],
    quotes: Sequence[Quote],
    about: Sequence[int],
    failing: bool,
    limit: int,
) -> CallView:
    written = call.arguments if isinstance(call.arguments, str) else ""
    arguments = legible(written, quotes)
    result = None if call.result is None else legible(call.result, quotes)
    state = outcome_of(call).kind
    first = next((line for line in (call.result or "").splitlines() if line.strip()), "")
    return CallView(
        anchor=anchor,
        name=call.name,
        call_id=call.id,
        state=state,
        glance=_short(" ".join(written.split())),
        error=_short(first.strip()) if state == "error" else "",
        arguments=_pieces(arguments, quotes, limit, cut[0]),
        result=None if result is None else _pieces(result, quotes, limit, cut[1]),
        latency_s=latency_s,
        trace_id=call.trace_id,
        span_id=call.span_id,
        answered_at=call.answered_at,
        by_user=call.requestor == "user",
        simulated=call.simulated,
        verdicts=sorted({*about, *(quote.verdict for quote in quotes)}),
        failing=failing,
        astray=missing(f"{arguments}\n{result or ''}", quotes),
    )


def legible(text: str, quotes: Sequence[Quote] = ()) -> str:
    """Indent JSON; text that is none, or in which a quote would get lost, stays as it is."""
    if text[:1] not in {"{", "["}:
        return text
    try:
        indented = json.dumps(json.loads(text), indent=2, ensure_ascii=False)
    except (ValueError, RecursionError):
        return text
    lost = any(find(text, q.text) and not find(indented, q.text) for q in quotes)
    return text if lost else indented


def _pieces(text: str, quotes: Sequence[Quote], limit: int, cut: int) -> list[Piece]:
    pieces = pieces_of(text, quotes, limit=limit)
    return [*pieces, Piece(text="", left_out=cut)] if cut else pieces


def _short(text: str) -> str:
    return text if len(text) <= _GLANCE else f"{text[:_GLANCE]}…"
