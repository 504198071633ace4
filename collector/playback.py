"""Lay a recorded conversation out as the spans that a live agent would have sent.

With ids, as an agent framework does: a trace a turn, an ``invoke_agent`` root with its model
calls and tools below. Without, as a hand-written loop does: every model call its own trace,
tool results only in the history of the next call. Either way each call carries the whole
history, and spans come in the order in which they end. Tool calls that no message tells of, a
sub-agent's, come as spans with the last turn or call.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import msgspec
from opentelemetry.proto.common.v1.common_pb2 import KeyValue
from opentelemetry.proto.trace.v1.trace_pb2 import Span, Status

from collector import message_json
from collector.builder import turns_of
from collector.model import Conversation, Message, ToolCall, Turn
from collector.otlp_encode import flag, number, text, texts
from collector.replay_ids import Style, has_trailing, key_of, span_id, trace_id, variant_of
from collector.transcripts import calls_at

_END = "outrider.conversation.end"
_MS = 1_000_000
_TOOL_NS = 4 * _MS


class Step(msgspec.Struct, frozen=True, kw_only=True):
    """What one model call, its tools and perhaps the end of its turn send."""

    spans: tuple[Span, ...]
    share: float
    """Part of the conversation that this step covers, in (0, 1]; all steps sum to 1."""


def resource_of(conversation: Conversation, style: Style) -> dict[str, str]:
    """Return the resource attributes that the conversation's spans share."""
    who = conversation.identity
    said = {
        "service.name": who.agent or "replay",
        "service.version": who.agent_version,
        "deployment.environment.name": style.environment or who.environment,
        "outrider.variant": variant_of(conversation, style),
    }
    return {key: value for key, value in said.items() if value}


def steps(
    conversation: Conversation, style: Style, *, clock_ns: Callable[[], int]
) -> Iterator[Step]:
    """Yield the spans of a conversation, one model call at a time.

    The last span carries ``outrider.conversation.end``. Times start at the clock and only
    grow; durations are milliseconds, so that they stay close to it.
    """
    playback = _Playback(conversation, style, clock_ns)
    laid_out = playback.calls_only() if style.strip_ids else playback.turns()
    before = 0
    total = len(conversation.messages)
    for spans in laid_out:
        through = playback.played
        yield Step(spans=tuple(spans), share=(through - before) / total if total else 1.0)
        before = through


class _Playback:
    """Remember how far one conversation has been played."""

    def __init__(
        self, conversation: Conversation, style: Style, clock_ns: Callable[[], int]
    ) -> None:
        self._conversation = conversation
        self._strip_ids = style.strip_ids
        self._pair_id = conversation.identity.pair_id
        self._key = key_of(conversation, style)
        self._clock_ns = clock_ns
        self._cursor = 0
        self._history: list[str] = []
        self._history_size = 0
        self._calls = calls_at(conversation.messages)
        self._trailing = has_trailing(conversation.messages, self._calls)
        self._model = next((call.model for call in conversation.llm_calls if call.model), "")
        self._given = self._what_every_call_is_given()

    @property
    def played(self) -> int:
        """How many messages the spans so far have told of."""
        return len(self._history)

    def turns(self) -> Iterator[list[Span]]:
        """Lay out one trace a turn, with agent and tool spans."""
        messages = self._conversation.messages
        calls = set(self._calls)
        told = self._conversation.tool_calls
        answers = {c.answered_at: c for c in told if c.answered_at >= 0}
        turns = turns_of(messages) or [Turn(index=0, first_message=0, end_message=0)]
        for turn in turns:
            trace = trace_id(self._key, turn.index)
            root = span_id(trace, "root")
            started = self._now()
            spans: list[Span] = []
            called = False
            if turn.index == 0 and self._conversation.documents:
                spans.append(self._retrieval(trace, root))
            for index in range(turn.first_message, turn.end_message):
                message = messages[index]
                if index in calls:
                    if called:
                        yield spans
                        spans = []
                    called = True
                    spans.append(self._chat(trace, root, index))
                elif index in answers:
                    spans.append(self._tool(trace, root, f"tool {index}", answers[index]))
                self._add(message)
            if turn is turns[-1]:
                spans += self._untold(trace, root)
            spans.append(self._root(trace, root, started, last=turn is turns[-1]))
            yield spans

    def calls_only(self) -> Iterator[list[Span]]:
        """Lay out one trace a model call, joined by nothing but their history."""
        number = 0
        calls = set(self._calls)
        for index, message in enumerate(self._conversation.messages):
            if index not in calls:
                self._add(message)
                continue
            trace = trace_id(self._key, number)
            number += 1
            spans: list[Span] = []
            if number == 1 and self._conversation.documents:
                spans.append(self._retrieval(trace, span_id(trace, f"chat {index}")))
            spans.append(self._chat(trace, b"", index))
            # What was retrieved for a call happened inside it, where nothing else holds them together.
            spans[-1].start_time_unix_nano = spans[0].start_time_unix_nano
            if number == len(calls):
                spans[-1:-1] = self._untold(trace, spans[-1].span_id)
            if number == len(calls) and not self._trailing:
                spans[-1].attributes.append(flag(_END))
            self._add(message)
            yield spans
        if self._trailing:
            trace = trace_id(self._key, number)
            yield [self._root(trace, span_id(trace, "root"), self._now(), last=True)]

    def _chat(self, trace: bytes, parent: bytes, index: int) -> Span:
        message = self._conversation.messages[index]
        reason = "tool_call" if message.tool_requests else "stop"
        output = message_json.output_json(message, reason)
        own_id = span_id(trace, f"chat {index}")
        duration = 8 * _MS + min(len(output), 30_000) * 1_000
        attributes = [
            text("gen_ai.operation.name", "chat"),
            text("gen_ai.response.id", f"resp_{trace.hex()[:8]}{own_id.hex()}"),
            texts("gen_ai.response.finish_reasons", [reason]),
            number("gen_ai.usage.input_tokens", 1 + self._history_size // 4),
            number("gen_ai.usage.output_tokens", 1 + len(output) // 4),
            text("gen_ai.input.messages", self._history_json()),
            text("gen_ai.output.messages", output),
            *self._given,
            *self._who(),
        ]
        return self._span(
            f"chat {self._model}".rstrip(),
            (trace, own_id, parent),
            duration_ns=duration,
            kind=Span.SPAN_KIND_CLIENT,
            attributes=attributes,
        )

    def _untold(self, trace: bytes, parent: bytes) -> list[Span]:
        """Lay out the tool calls that only spans told of."""
        return [
            self._tool(trace, parent, f"untold {number}", call)
            for number, call in enumerate(self._conversation.tool_calls)
            if call.asked_at < 0
        ]

    def _tool(self, trace: bytes, parent: bytes, name: str, call: ToolCall) -> Span:
        attributes = [
            text("gen_ai.operation.name", "execute_tool"),
            text("gen_ai.tool.name", call.name),
            text("gen_ai.tool.type", "function"),
            *(
                [text("gen_ai.tool.call.arguments", message_json.arguments_json(call.arguments))]
                if call.arguments is not None or call.answered_at >= 0
                else []
            ),
            *self._who(),
        ]
        if call.result is not None or call.answered_at >= 0:
            attributes.append(text("gen_ai.tool.call.result", call.result or ""))
        if call.simulated:
            attributes.append(flag("outrider.tool.simulated"))
        if call.requestor == "user":
            attributes.append(text("outrider.tool.requestor", "user"))
        if call.id:
            attributes.append(text("gen_ai.tool.call.id", call.id))
        if call.is_error:
            attributes.append(text("error.type", "tool_error"))
        span = self._span(
            f"execute_tool {call.name}",
            (trace, span_id(trace, name), parent),
            duration_ns=_TOOL_NS,
            attributes=attributes,
        )
        if call.is_error is not None:
            code = Status.STATUS_CODE_ERROR if call.is_error else Status.STATUS_CODE_OK
            span.status.code = code
        return span

    def _retrieval(self, trace: bytes, parent: bytes) -> Span:
        documents = message_json.documents_json(self._conversation.documents)
        return self._span(
            "retrieval",
            (trace, span_id(trace, "retrieval"), parent),
            duration_ns=_TOOL_NS,
            kind=Span.SPAN_KIND_CLIENT,
            attributes=[
                text("gen_ai.operation.name", "retrieval"),
                text("gen_ai.retrieval.documents", documents),
                *self._who(),
            ],
        )

    def _root(self, trace: bytes, own_id: bytes, started: int, *, last: bool) -> Span:
        attributes = [text("gen_ai.operation.name", "invoke_agent"), *self._who()]
        if last and self._trailing:
            attributes.append(text("gen_ai.input.messages", self._history_json()))
        if last and (self._strip_ids or not self._calls):
            # Nothing else says these; without ids they are part of the scope as well.
            attributes += self._given
        if last:
            attributes.append(flag(_END))
        agent = self._conversation.identity.agent
        root = self._span(
            f"invoke_agent {agent}".rstrip(),
            (trace, own_id, b""),
            duration_ns=_MS,
            attributes=attributes,
        )
        root.start_time_unix_nano = started
        return root

    def _span(
        self,
        name: str,
        ids: tuple[bytes, bytes, bytes],
        *,
        duration_ns: int,
        attributes: list[KeyValue],
        kind: Span.SpanKind.ValueType = Span.SPAN_KIND_INTERNAL,
    ) -> Span:
        trace, own_id, parent = ids
        start = self._now()
        self._cursor = start + duration_ns
        return Span(
            trace_id=trace,
            span_id=own_id,
            parent_span_id=parent,
            name=name,
            kind=kind,
            start_time_unix_nano=start,
            end_time_unix_nano=self._cursor,
            attributes=attributes,
        )

    def _who(self) -> list[KeyValue]:
        pair = [text("outrider.pair.id", self._pair_id)] if self._pair_id else []
        if self._strip_ids:
            return pair
        who = self._conversation.identity
        said = {
            "gen_ai.conversation.id": self._conversation.id,
            "gen_ai.agent.name": who.agent,
            "gen_ai.agent.version": who.agent_version,
        }
        return [text(key, value) for key, value in said.items() if value] + pair

    def _what_every_call_is_given(self) -> list[KeyValue]:
        given: list[KeyValue] = []
        if self._model:
            given.append(text("gen_ai.request.model", self._model))
            given.append(text("gen_ai.response.model", self._model))
        if prompt := self._conversation.system_prompt:
            instructions = message_json.instructions_json(prompt)
            given.append(text("gen_ai.system_instructions", instructions))
            self._history_size += len(instructions)
        if self._conversation.tools:
            tools = message_json.tools_json(self._conversation.tools)
            given.append(text("gen_ai.tool.definitions", tools))
            self._history_size += len(tools)
        return given

    def _add(self, message: Message) -> None:
        said = message_json.message_json(message)
        self._history.append(said)
        self._history_size += len(said)

    def _history_json(self) -> str:
        return f"[{','.join(self._history)}]"

    def _now(self) -> int:
        self._cursor = max(self._cursor + _MS, self._clock_ns())
        return self._cursor
