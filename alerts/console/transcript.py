"""Lay a conversation out for a page: its verdicts, its messages with their calls, its figures."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence

import msgspec

from alerts.console.conversation import Call, Said, Told, Verdict
from alerts.console.hindsight import LabelTold, Place, by_place
from alerts.console.marks import Piece, Quote, missing, pieces_of
from alerts.console.tool_call_view import CallView, stored_view, target_names, told_view
from collector.model import Evidence, LlmCall

WINDOW = 200
"""Messages on one page."""
_TEXT = 20_000
"""Characters of one text."""
_LEAST = 400
"""The same once the page is full."""
_PAGE = 1_200_000
"""Characters of all texts, about."""
_CALLS = 60
"""Calls shown of one message."""
_NUMBERED = 200
"""Verdicts listed one by one; what is alike beyond that is counted."""
_LLM_CALLS = 200

_ORDER = {"fail": 0, "failure": 1, "pass": 2, "skip": 3}


class Pointer(msgspec.Struct, frozen=True, kw_only=True):
    """Where a verdict looked."""

    label: str
    first: int
    """First message of the page on which it stands."""
    anchor: str
    quote: str = ""


class VerdictView(msgspec.Struct, frozen=True, kw_only=True):
    """One verdict; several that are alike are one with a count."""

    number: int
    scorer: str
    scorer_version: str
    verdict: str
    level: str
    target: str
    value: float | None
    reason: str
    times: int = 1
    pointers: list[Pointer] = []


class MessageView(msgspec.Struct, frozen=True, kw_only=True):
    """One message with the calls it asked for."""

    index: int
    role: str
    pieces: list[Piece]
    calls: list[CallView]
    calls_left_out: int = 0
    tool_name: str = ""
    verdicts: list[int] = []
    astray: list[Quote] = []
    """Words that a verdict quotes and that do not stand here."""


class Transcript(msgspec.Struct, frozen=True, kw_only=True):
    """A page of one conversation."""

    told: Told
    verdicts: list[VerdictView]
    failing: frozenset[int]
    """Numbers of the failing verdicts."""
    counts: dict[str, int]
    """Verdicts by name, all of them."""
    labels: dict[Place, list[LabelTold]]
    """What people say, by scorer, level and target."""
    labels_alone: list[LabelTold]
    """Labels with which no verdict is listed."""
    context: list[MessageView]
    """Messages of earlier episodes."""
    messages: list[MessageView]
    spans_only: list[CallView]
    """Calls that no message tells of."""
    first: int
    end: int
    """The messages ``first`` to before ``end`` are on this page."""
    llm_calls: Sequence[LlmCall] = ()


class _Budget:
    """Give each text its room, and less when the page is full."""

    def __init__(self) -> None:
        self._left = _PAGE

    def limit(self) -> int:
        return max(_LEAST, min(_TEXT, self._left))

    def spend(self, pieces: Iterable[Piece] | None) -> None:
        self._left -= sum(len(piece.text) for piece in pieces or ())


def transcript(told: Told, *, first: int = 0) -> Transcript:
    """Lay out one page that begins at the message ``first``."""
    first = min(first, max(0, len(told.messages) - 1))
    numbered = _numbered(told.verdicts)
    layout = _Layout(told, numbered)
    end = min(len(told.messages), first + WINDOW)
    views = layout.messages(first, end)
    start = told.head.first_message
    verdicts = [layout.verdict(number, verdict) for number, verdict in numbered]
    verdicts += _alike(told.verdicts, {id(verdict) for _, verdict in numbered})
    places = {(view.scorer, view.level, view.target) for view in verdicts}
    labels = by_place(told.labels)
    return Transcript(
        told=told,
        verdicts=verdicts,
        labels=labels,
        labels_alone=[label for place in labels if place not in places for label in labels[place]],
        failing=layout.failing,
        counts=dict(Counter(verdict.verdict for verdict in told.verdicts)),
        context=[view for view in views if view.index < start],
        messages=[view for view in views if view.index >= start],
        spans_only=layout.spans_only() if end == len(told.messages) else [],
        first=first,
        end=end,
        llm_calls=told.llm_calls[:_LLM_CALLS],
    )


def _numbered(verdicts: Sequence[Verdict]) -> list[tuple[int, Verdict]]:
    """Number the verdicts that are listed one by one: failing ones first."""
    singles = [v for v in verdicts if v.verdict == "fail" or v.evidence]
    singles.sort(key=lambda v: _ORDER.get(v.verdict, 9))
    return list(enumerate(singles[:_NUMBERED], start=1))


def _alike(verdicts: Sequence[Verdict], listed: set[int]) -> list[VerdictView]:
    """Count the rest by scorer, verdict and reason."""
    groups: dict[tuple[str, ...], list[Verdict]] = defaultdict(list)
    for verdict in verdicts:
        if id(verdict) not in listed:
            key = (verdict.verdict, verdict.scorer, verdict.scorer_version, verdict.reason)
            groups[key].append(verdict)
    ordered = sorted(groups.items(), key=lambda item: (_ORDER.get(item[0][0], 9), item[0][1]))
    return [
        VerdictView(
            number=0,
            scorer=group[0].scorer,
            scorer_version=group[0].scorer_version,
            verdict=group[0].verdict,
            level=group[0].level,
            target=group[0].target if len(group) == 1 else "",
            value=group[0].value if len(group) == 1 else None,
            reason=group[0].reason,
            times=len(group),
        )
        for _, group in ordered[:_NUMBERED]
    ]


class _Layout:
    """Know which calls belong to which message, and which words to which verdict."""

    def __init__(self, told: Told, numbered: Sequence[tuple[int, Verdict]]) -> None:
        self._told = told
        self._budget = _Budget()
        self.failing = frozenset(n for n, verdict in numbered if verdict.verdict == "fail")
        self._calls: dict[int, list[Call]] = defaultdict(list)
        self._answered: dict[int, Call] = {}
        self._by_name: dict[str, Call] = {}
        for call, name in zip(told.tool_calls, target_names(told.tool_calls), strict=True):
            self._calls[call.asked_at].append(call)
            self._answered[call.answered_at] = call
            self._by_name[name] = call
            self._by_name.setdefault(call.call_id, call)
        self._on_message: dict[int, list[Quote]] = defaultdict(list)
        self._on_call: dict[int, list[Quote]] = defaultdict(list)
        self._about: dict[int, set[int]] = defaultdict(set)
        self._pointers: dict[int, list[Pointer]] = defaultdict(list)
        for number, verdict in numbered:
            self._place(number, verdict)

    def _place(self, number: int, verdict: Verdict) -> None:
        target = self._by_name.get(verdict.target) if verdict.level == "tool_call" else None
        if target is not None:
            self._about[target.position].add(number)
        for item in verdict.evidence[:20]:
            self._point(number, item)
        if target is not None and not self._pointers[number]:
            self._pointers[number].append(self._to_call(target, ""))

    def _point(self, number: int, item: Evidence) -> None:
        quote = Quote(verdict=number, text=item.quote)
        call = self._by_name.get(item.tool_call_id) if item.tool_call_id else None
        inside = 0 <= item.message < len(self._told.messages)
        if inside and not self._told.messages[item.message].tool_requests:
            call = self._answered.get(item.message, call)
        elif inside and call is None and missing(self._told.messages[item.message].text, [quote]):
            # Words that the message does not say may stand in what it asked a tool for.
            call = next(
                (c for c in self._calls[item.message] if item.quote and item.quote in c.arguments),
                None,
            )
        if call is not None:
            self._on_call[call.position].append(quote)
            self._pointers[number].append(self._to_call(call, item.quote))
        elif inside:
            self._on_message[item.message].append(quote)
            self._pointers[number].append(
                Pointer(
                    label=f"message {item.message}",
                    first=_page_of(item.message),
                    anchor=f"m{item.message}",
                    quote=item.quote,
                )
            )
        elif item.quote:
            self._pointers[number].append(Pointer(label="", first=0, anchor="", quote=item.quote))

    def _to_call(self, call: Call, quote: str) -> Pointer:
        first = _page_of(call.asked_at if call.asked_at >= 0 else len(self._told.messages) - 1)
        return Pointer(
            label=f"call {call.position + 1} ({call.name})",
            first=first,
            anchor=f"c{call.position}",
            quote=quote,
        )

    def verdict(self, number: int, verdict: Verdict) -> VerdictView:
        """Give a verdict with the places it points to."""
        return VerdictView(
            number=number,
            scorer=verdict.scorer,
            scorer_version=verdict.scorer_version,
            verdict=verdict.verdict,
            level=verdict.level,
            target=verdict.target,
            value=verdict.value,
            reason=verdict.reason,
            pointers=self._pointers[number],
        )

    def messages(self, first: int, end: int) -> list[MessageView]:
        """Lay out some messages; results stand with the call that they answer."""
        messages = self._told.messages
        answers = _answers(messages, self._answered)
        views = []
        for index in range(first, end):
            message = messages[index]
            if index in self._answered or index in answers.taken:
                continue
            quotes = self._on_message[index][:50]
            pieces = pieces_of(message.text, quotes, limit=self._budget.limit())
            self._budget.spend(pieces)
            stored = self._calls[index]
            calls = (
                [self._stored(call) for call in stored[:_CALLS]]
                if stored
                else self._told_only(index, message, answers.by_request)
            )
            views.append(
                MessageView(
                    index=index,
                    role=message.role,
                    pieces=pieces if message.text else [],
                    calls=calls,
                    calls_left_out=max(0, len(stored or message.tool_requests) - _CALLS),
                    tool_name=message.tool_name,
                    verdicts=sorted({quote.verdict for quote in quotes}),
                    astray=missing(message.text, quotes),
                )
            )
        return views

    def spans_only(self) -> list[CallView]:
        """Lay out the calls that no message tells of."""
        return [self._stored(call) for call in self._calls[-1][:_CALLS]]

    def _stored(self, call: Call) -> CallView:
        quotes = self._on_call[call.position][:50]
        about = self._about[call.position] | {quote.verdict for quote in quotes}
        view = stored_view(
            call,
            quotes=quotes,
            about=sorted(about),
            failing=bool(about & self.failing),
            limit=self._budget.limit(),
        )
        self._budget.spend(view.arguments)
        self._budget.spend(view.result)
        return view

    def _told_only(
        self, index: int, message: Said, answers: Mapping[tuple[int, int], int]
    ) -> list[CallView]:
        views = []
        for place, request in enumerate(message.tool_requests[:_CALLS]):
            at = answers.get((index, place))
            view = told_view(
                request,
                None if at is None else (at, self._told.messages[at]),
                anchor=f"m{index}-{place}",
                quotes=[] if at is None else self._on_message[at][:50],
                limit=self._budget.limit(),
            )
            self._budget.spend(view.arguments)
            self._budget.spend(view.result)
            views.append(view)
        return views


class _Answers(msgspec.Struct, frozen=True, kw_only=True):
    """Which tool message answers which request, where the stored calls do not say."""

    by_request: dict[tuple[int, int], int]
    taken: set[int]


def _answers(messages: Sequence[Said], known: Mapping[int, Call]) -> _Answers:
    waiting: dict[str, list[tuple[int, int]]] = defaultdict(list)
    by_request: dict[tuple[int, int], int] = {}
    asked = {call.asked_at for call in known.values()}
    for index, message in enumerate(messages):
        if index not in asked:
            for place, request in enumerate(message.tool_requests):
                waiting[request.id].append((index, place))
        if message.role == "tool" and index not in known and waiting[message.tool_call_id]:
            by_request[waiting[message.tool_call_id].pop(0)] = index
    return _Answers(by_request=by_request, taken=set(by_request.values()))


def _page_of(message: int) -> int:
    return max(0, message) // WINDOW * WINDOW
