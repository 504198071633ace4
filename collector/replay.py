"""Turn recorded conversations into OTLP requests, and send them."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from typing import Literal

import msgspec
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import InstrumentationScope
from opentelemetry.proto.trace.v1.trace_pb2 import ResourceSpans, ScopeSpans, Span

from collector.errors import ConfigError
from collector.model import Conversation
from collector.otlp_encode import resource_proto
from collector.playback import Step, resource_of, steps
from collector.replay_client import Report, exit_status, send
from collector.replay_ids import Style, trace_ids
from collector.version import __version__

__all__ = ["Report", "Request", "exit_status", "plan", "send", "trace_ids"]

MAX_BYTES = 4 * 1024 * 1024
"""A request is closed at this size even when its batch is not full."""

_SCOPE = InstrumentationScope(name="outrider.replay", version=__version__)


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """One export request."""

    conversation_ids: tuple[str, ...]
    """Ids of the conversations it carries spans of."""
    body: bytes
    """An ``ExportTraceServiceRequest`` in protobuf."""
    signal: Literal["traces"] = "traces"
    spans: int
    share: float
    """How many conversations' worth of steps it carries; all requests sum to their number."""


def plan(
    conversations: Iterable[Conversation],
    *,
    clock: Callable[[], int],
    seed: str,
    strip_ids: bool = False,
    interleave: int = 1,
    batch: int = 50,
    variant: str = "",
    environment: str = "",
) -> Iterator[Request]:
    """Yield the requests that replay conversations, lazily.

    ``interleave`` conversations are in flight at a time, one model call of each in turn, and
    a request takes ``batch`` spans, so that one request carries several conversations.
    ``clock`` gives Unix nanoseconds. The same seed gives the same trace and span ids.

    Raises:
        ConfigError: ``interleave`` or ``batch`` is below 1.
    """
    if interleave < 1 or batch < 1:
        raise ConfigError("interleave and batch must be at least 1")
    style = Style(seed=seed, strip_ids=strip_ids, variant=variant, environment=environment)
    filling = _Filling()
    for conversation, step in _in_turn(conversations, style, interleave, clock):
        filling.share += step.share
        for span in step.spans:
            filling.add(conversation, resource_of(conversation, style), span)
            if filling.spans >= batch or filling.size >= MAX_BYTES:
                yield filling.close()
                filling = _Filling()
    if filling.spans:
        yield filling.close()


def _in_turn(
    conversations: Iterable[Conversation],
    style: Style,
    interleave: int,
    clock: Callable[[], int],
) -> Iterator[tuple[Conversation, Step]]:
    """Go round the conversations in flight, one step each; a finished one makes room."""
    waiting = iter(conversations)
    in_flight: deque[tuple[Conversation, Iterator[Step]]] = deque()
    while True:
        while len(in_flight) < interleave:
            conversation = next(waiting, None)
            if conversation is None:
                break
            in_flight.append((conversation, steps(conversation, style, clock_ns=clock)))
        if not in_flight:
            return
        conversation, playing = in_flight.popleft()
        step = next(playing, None)
        if step is not None:
            yield conversation, step
            in_flight.append((conversation, playing))


class _Filling:
    """Gather spans, by resource, until they make a request."""

    def __init__(self) -> None:
        self.spans = 0
        self.size = 0
        self.share = 0.0
        self._conversations: dict[str, None] = {}
        self._by_resource: dict[tuple[str, ...], tuple[dict[str, str], list[Span]]] = {}

    def add(self, conversation: Conversation, resource: dict[str, str], span: Span) -> None:
        """Take one span in."""
        self.spans += 1
        self.size += span.ByteSize()
        self._conversations[conversation.id] = None
        key = tuple(part for pair in resource.items() for part in pair)
        self._by_resource.setdefault(key, (resource, []))[1].append(span)

    def close(self) -> Request:
        """Encode what was gathered."""
        message = ExportTraceServiceRequest(
            resource_spans=[
                ResourceSpans(
                    resource=resource_proto(resource),
                    scope_spans=[ScopeSpans(scope=_SCOPE, spans=spans)],
                )
                for resource, spans in self._by_resource.values()
            ]
        )
        return Request(
            conversation_ids=tuple(self._conversations),
            body=message.SerializeToString(),
            spans=self.spans,
            share=self.share,
        )
