"""Prepare the requests that every system is sent, the same bytes for all."""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from typing import TypeAlias

import msgspec
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import InstrumentationScope
from opentelemetry.proto.trace.v1.trace_pb2 import ResourceSpans, ScopeSpans, Span

from bench.figures import quantile
from collector.otlp_encode import resource_proto

MAX_SPANS = 100
"""Spans in a request, at most."""
MAX_BYTES = 512 * 1024
"""A request is closed once it is this large."""

_SCOPE = InstrumentationScope(name="outrider.bench")


class Step(msgspec.Struct, frozen=True, kw_only=True):
    """Spans that one conversation exports at one time, with their resource."""

    resource: tuple[tuple[str, str], ...]
    spans: tuple[Span, ...]


Talk: TypeAlias = Iterator[Step]
"""One conversation, step by step."""


class Body(msgspec.Struct, frozen=True, kw_only=True):
    """One request."""

    data: bytes
    """An ``ExportTraceServiceRequest`` in protobuf."""
    spans: int


class Load(msgspec.Struct, frozen=True, kw_only=True):
    """All requests of one run."""

    name: str
    title: str
    """For people, in a few words."""
    story: str
    """What it is made of, in one sentence."""
    bodies: tuple[Body, ...]
    conversations: int
    span_bytes_mean: float
    span_bytes_p95: float

    @property
    def spans(self) -> int:
        """Spans in all requests."""
        return sum(body.spans for body in self.bodies)

    @property
    def size(self) -> int:
        """Bytes of all bodies."""
        return sum(len(body.data) for body in self.bodies)


def make_load(
    name: str,
    talks: Iterable[Talk],
    *,
    title: str,
    story: str,
    in_flight: int,
    seed: int,
    max_spans: int = MAX_SPANS,
) -> Load:
    """Lay conversations side by side, as an exporter sees them, and pack their spans.

    ``in_flight`` conversations go on at a time; which of them exports next is drawn.
    """
    packer = _Packer(max_spans)
    bodies: list[Body] = []
    sizes: list[float] = []
    conversations = 0
    for step, is_first in _in_turn(talks, in_flight, random.Random(seed)):  # noqa: S311 - repeatable
        conversations += is_first
        for span in step.spans:
            sizes.append(span.ByteSize())
            packer.add(step.resource, span)
            if packer.full:
                bodies.append(packer.close())
                packer = _Packer(max_spans)
    if packer.spans:
        bodies.append(packer.close())
    return Load(
        name=name,
        title=title,
        story=story,
        bodies=tuple(bodies),
        conversations=conversations,
        span_bytes_mean=sum(sizes) / max(1, len(sizes)),
        span_bytes_p95=quantile(sizes, 0.95),
    )


def _in_turn(
    talks: Iterable[Talk], in_flight: int, rng: random.Random
) -> Iterator[tuple[Step, bool]]:
    """Yield steps of several conversations mixed, each with whether it is its talk's first."""
    waiting = deque(talks)
    going: list[tuple[Talk, bool]] = []
    while waiting or going:
        while waiting and len(going) < in_flight:
            going.append((waiting.popleft(), True))
        place = rng.randrange(len(going))
        talk, is_first = going[place]
        step = next(talk, None)
        if step is None:
            going[place] = going[-1]
            going.pop()
            continue
        going[place] = (talk, False)
        yield step, is_first


class _Packer:
    """Gather spans, by resource, until they make a request."""

    def __init__(self, max_spans: int) -> None:
        self.spans = 0
        self._max_spans = max_spans
        self._size = 0
        self._by_resource: dict[tuple[tuple[str, str], ...], list[Span]] = {}

    @property
    def full(self) -> bool:
        return self.spans >= self._max_spans or self._size >= MAX_BYTES

    def add(self, resource: tuple[tuple[str, str], ...], span: Span) -> None:
        self.spans += 1
        self._size += span.ByteSize()
        self._by_resource.setdefault(resource, []).append(span)

    def close(self) -> Body:
        message = ExportTraceServiceRequest(
            resource_spans=[
                ResourceSpans(
                    resource=resource_proto(dict(resource)),
                    scope_spans=[ScopeSpans(scope=_SCOPE, spans=spans)],
                )
                for resource, spans in self._by_resource.items()
            ]
        )
        return Body(data=message.SerializeToString(), spans=self.spans)


def as_resource(attributes: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    """Return resource attributes in a form that can be a key."""
    return tuple(attributes.items())
