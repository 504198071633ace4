"""Invent the load of small spans: runs of a delivery agent, four spans of 1 to 2 KB each."""

from __future__ import annotations

import random
import time
from collections.abc import Callable

import msgspec
from opentelemetry.proto.common.v1.common_pb2 import KeyValue
from opentelemetry.proto.trace.v1.trace_pb2 import Span

from bench.load import MAX_SPANS, Load, Step, Talk, as_resource, make_load
from collector.otlp_encode import flag, number, text, texts

IN_FLIGHT = 40
AGENT = "parcel-desk"
MODEL = "loom-large-1"
SYSTEM = (
    "You are the delivery desk of Fenwick & Daughters, a parcel service. Look every parcel up before"
    " you speak of it. Never promise a day that the depot has not confirmed."
)

_RESOURCE = as_resource(
    {
        "service.name": AGENT,
        "service.version": "3.2.0",
        "deployment.environment.name": "production",
    }
)
_PLACES = ("Aldmoor", "Brackwater", "Cinder Hill", "Dunmere", "Eastry Quay", "Fallow End")
_STATES = (
    "sorted at the depot",
    "on the van",
    "held for an address check",
    "left with a neighbour",
)
_THINGS = ("lamp", "set of plates", "winter coat", "bicycle pump", "box of seedlings", "desk chair")
_NAMES = (
    "Oda Lindqvist",
    "Piet Marais",
    "Salma Idris",
    "Joan Whitlock",
    "Ravi Menon",
    "Tove Hauge",
)
_REMARKS = (
    "I was at home the whole afternoon and nobody rang.",
    "The label was smudged, so I am not sure the house number can be read.",
    "It is a present and the birthday is on Friday.",
    "The last one was left in the rain, please not again.",
    "I can also pick it up myself if that is quicker.",
    "My neighbour at number nine takes parcels in for me.",
    "The app has shown the same line since Monday.",
    "There is a side gate with a code that the driver should know.",
)
_MS = 1_000_000


def small_spans(
    conversations: int,
    *,
    seed: int,
    name: str = "small",
    title: str = "Small spans",
    max_spans: int = MAX_SPANS,
    clock_ns: Callable[[], int] = time.time_ns,
) -> Load:
    """Invent a load; the same seed and clock give the same bytes."""
    rng = random.Random(seed)  # noqa: S311 - repeatable, not secret
    talks = [_talk(rng.getrandbits(64), clock_ns) for _ in range(conversations)]
    return make_load(
        name,
        talks,
        title=title,
        story=(
            "Invented runs of a delivery agent, seeded: model call, tool call, model call and the"
            f" agent's own span, each a trace of four; {IN_FLIGHT} in flight at a time."
        ),
        in_flight=IN_FLIGHT,
        seed=seed,
        max_spans=max_spans,
    )


def _talk(seed: int, clock_ns: Callable[[], int]) -> Talk:
    """Play one run: a question, a look-up, an answer."""
    rng = random.Random(seed)  # noqa: S311 - repeatable, not secret
    run = _Run(rng, clock_ns())
    parcel = f"FD{rng.randrange(10**9):09d}"
    name, thing, place = rng.choice(_NAMES), rng.choice(_THINGS), rng.choice(_PLACES)
    asked = (
        f"Hello, this is {name} from {place}. Where is my parcel {parcel}, the {thing}? "
        + " ".join(rng.sample(_REMARKS, 2))
    )
    call = f"call_{rng.getrandbits(64):016x}"
    arguments = {"parcel": parcel, "name": name, "with_history": True}
    scans = [
        {
            "at": f"2026-03-{day:02d}T{rng.randrange(24):02d}:{rng.randrange(60):02d}:00Z",
            "where": rng.choice(_PLACES),
            "state": rng.choice(_STATES),
            "by": f"scanner-{rng.randrange(500)}",
        }
        for day in (3, 4, 5)
    ]
    found = _json({"parcel": parcel, "item": thing, "to": name, "scans": scans})
    last = scans[-1]
    answer = (
        f"Thank you, {name}. Your {thing} with the number {parcel} was last seen in {last['where']}: it is"
        f" {last['state']}. The depot has not confirmed a day yet, so I cannot promise one; the next scan"
        " will show here as soon as it is made."
    )
    user = {"role": "user", "parts": [_text(asked)]}
    request = {"type": "tool_call", "id": call, "name": "track_parcel", "arguments": arguments}
    reply = {"role": "assistant", "parts": [_text(answer)], "finish_reason": "stop"}
    history = [
        user,
        {"role": "assistant", "parts": [request]},
        {"role": "tool", "parts": [{"type": "tool_call_response", "id": call, "response": found}]},
    ]
    first = [{"role": "assistant", "parts": [request], "finish_reason": "tool_call"}]
    yield run.step(
        run.chat([user], first, "tool_call"),
        run.tool(call, "track_parcel", _json(arguments), found),
    )
    yield run.step(run.chat(history, [reply], "stop"), run.root([user], [reply]))


class _Run:
    """Write the spans of one run."""

    def __init__(self, rng: random.Random, now_ns: int) -> None:
        self._rng = rng
        self._trace = rng.getrandbits(128).to_bytes(16, "big")
        self._root = self._id()
        self._began = self._now = now_ns
        self._who = [
            text("gen_ai.conversation.id", f"run-{self._trace.hex()}"),
            text("gen_ai.agent.name", AGENT),
            text("gen_ai.agent.version", "3.2.0"),
        ]

    def step(self, *spans: Span) -> Step:
        return Step(resource=_RESOURCE, spans=spans)

    def chat(self, given: object, made: object, reason: str) -> Span:
        attributes = [
            text("gen_ai.operation.name", "chat"),
            text("gen_ai.provider.name", "loom"),
            text("gen_ai.request.model", MODEL),
            text("gen_ai.response.model", MODEL),
            text("gen_ai.response.id", f"resp_{self._rng.getrandbits(96):024x}"),
            texts("gen_ai.response.finish_reasons", [reason]),
            number("gen_ai.usage.input_tokens", self._rng.randrange(180, 700)),
            number("gen_ai.usage.output_tokens", self._rng.randrange(20, 90)),
            text("gen_ai.system_instructions", _json([_text(SYSTEM)])),
            text("gen_ai.input.messages", _json(given)),
            text("gen_ai.output.messages", _json(made)),
        ]
        return self._span(f"chat {MODEL}", Span.SPAN_KIND_CLIENT, self._root, attributes)

    def tool(self, call: str, name: str, arguments: str, found: str) -> Span:
        attributes = [
            text("gen_ai.operation.name", "execute_tool"),
            text("gen_ai.tool.name", name),
            text("gen_ai.tool.type", "function"),
            text("gen_ai.tool.call.id", call),
            text(
                "gen_ai.tool.description",
                "Find a parcel by its number, and list every scan of it on the way to its door.",
            ),
            text("gen_ai.tool.call.arguments", arguments),
            text("gen_ai.tool.call.result", found),
        ]
        return self._span(f"execute_tool {name}", Span.SPAN_KIND_INTERNAL, self._root, attributes)

    def root(self, given: object, made: object) -> Span:
        attributes = [
            text("gen_ai.operation.name", "invoke_agent"),
            text("gen_ai.system_instructions", _json([_text(SYSTEM)])),
            text("gen_ai.input.messages", _json(given)),
            text("gen_ai.output.messages", _json(made)),
            flag("outrider.conversation.end"),
        ]
        span = self._span(f"invoke_agent {AGENT}", Span.SPAN_KIND_INTERNAL, b"", attributes)
        span.span_id = self._root
        span.start_time_unix_nano = self._began
        return span

    def _span(
        self, name: str, kind: Span.SpanKind.ValueType, parent: bytes, attributes: list[KeyValue]
    ) -> Span:
        start = self._now + _MS
        self._now = start + self._rng.randrange(2, 40) * _MS
        return Span(
            trace_id=self._trace,
            span_id=self._id(),
            parent_span_id=parent,
            name=name,
            kind=kind,
            start_time_unix_nano=start,
            end_time_unix_nano=self._now,
            attributes=[*attributes, *self._who],
        )

    def _id(self) -> bytes:
        return self._rng.getrandbits(64).to_bytes(8, "big")


def _text(content: str) -> dict[str, str]:
    return {"type": "text", "content": content}


def _json(value: object) -> str:
    return msgspec.json.encode(value).decode()
