"""Tell of conversations as an instrumented agent does: with the OpenTelemetry SDK's spans.

The spans follow the GenAI conventions: a trace a turn, ``invoke_agent`` at its root, below it
a ``chat`` span for each call of the model, with the whole history, and an ``execute_tool`` span
for each run of a tool.
"""

from __future__ import annotations

import random
from collections.abc import Callable

from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import SpanLimits, SpanProcessor, TracerProvider
from opentelemetry.sdk.trace.id_generator import IdGenerator
from opentelemetry.sdk.trace.sampling import ALWAYS_ON
from opentelemetry.trace import Span, SpanKind, Status, StatusCode, Tracer, set_span_in_context
from opentelemetry.util.types import AttributeValue

from collector import message_json
from collector.demo.dialogue import ModelCall, Played, ToolRun
from collector.demo.instructions import INSTRUCTIONS
from collector.demo.story import Event
from collector.demo.tool_list import TOOLS

AGENT = "pinewick-support"
MODEL = "larch-medium-2"
PROVIDER = "larch"
END = "outrider.conversation.end"

GIVEN: dict[str, AttributeValue] = {
    "gen_ai.operation.name": "chat",
    "gen_ai.provider.name": PROVIDER,
    "gen_ai.request.model": MODEL,
    "gen_ai.response.model": f"{MODEL}-0926",
    "gen_ai.request.temperature": 0.2,
    "gen_ai.system_instructions": message_json.instructions_json(INSTRUCTIONS),
    "gen_ai.tool.definitions": message_json.tools_json(TOOLS),
}
"""What every call of the model is given."""


class SeededIds(IdGenerator):
    """Draw the ids of traces and spans from a source of chance, never zero."""

    def __init__(self, rng: random.Random) -> None:
        self._rng = rng

    def generate_trace_id(self) -> int:
        """Return 128 bits."""
        return self._rng.randrange(1, 1 << 128)

    def generate_span_id(self) -> int:
        """Return 64 bits."""
        return self._rng.randrange(1, 1 << 64)


class Tracers:
    """Hold a tracer for each version of the agent: every deployment has its own resource."""

    def __init__(self, processor: SpanProcessor, rng: random.Random) -> None:
        """Send spans to a processor, which the caller closes; ids are drawn from ``rng``."""
        self._processor = processor
        self._ids = SeededIds(rng)
        self._tracers: dict[str, Tracer] = {}

    def __call__(self, version: str) -> Tracer:
        """Return the tracer of a version."""
        if version not in self._tracers:
            resource = Resource(
                {
                    "service.name": f"{AGENT}-agent",
                    "service.version": version,
                    "service.namespace": "pinewick",
                    "deployment.environment.name": "production",
                }
            )
            provider = TracerProvider(
                sampler=ALWAYS_ON,
                resource=resource,
                id_generator=self._ids,
                shutdown_on_exit=False,
                # Whatever limits the surroundings set, half a history would be of no use.
                span_limits=SpanLimits(
                    max_span_attributes=128, max_span_attribute_length=SpanLimits.UNSET
                ),
            )
            provider.add_span_processor(self._processor)
            self._tracers[version] = provider.get_tracer("pinewick.support", version)
        return self._tracers[version]


class Telling:
    """Turn events, in order, into spans; a turn's root is open while its steps are told."""

    def __init__(self, tracer_of: Callable[[str], Tracer], rng: random.Random) -> None:
        self._tracer_of = tracer_of
        self._rng = rng
        self._roots: dict[str, Span] = {}
        self._histories: dict[str, list[str]] = {}

    def tell(self, event: Event) -> None:
        """Start or end the spans of one event."""
        played = event.conversation
        if event.begins:
            self._begin(event)
        elif isinstance(event.step, ModelCall):
            self._chat(played, event.step)
        elif isinstance(event.step, ToolRun):
            self._tool(played, event.step)
        else:
            root = self._roots.pop(played.id)
            if event.last:
                root.set_attribute(END, value=True)
                del self._histories[played.id]
            root.end(event.at_ns)

    def _begin(self, event: Event) -> None:
        played = event.conversation
        if event.turn == 0:
            self._histories[played.id] = [message_json.message_json(m) for m in played.messages]
        self._roots[played.id] = self._tracer_of(played.agent_version).start_span(
            f"invoke_agent {AGENT}",
            start_time=event.at_ns,
            attributes={
                **_who(played),
                "gen_ai.operation.name": "invoke_agent",
                "gen_ai.provider.name": PROVIDER,
                "user.id": played.user,
            },
        )

    def _chat(self, played: Played, call: ModelCall) -> None:
        reply = played.messages[call.reply]
        reason = "tool_call" if reply.tool_requests else "stop"
        history = ",".join(self._histories[played.id][: call.given])
        self._span(
            played,
            f"chat {MODEL}",
            call,
            kind=SpanKind.CLIENT,
            attributes={
                **GIVEN,
                **_who(played),
                "gen_ai.response.id": f"resp_{self._rng.getrandbits(96):024x}",
                "gen_ai.response.finish_reasons": (reason,),
                "gen_ai.usage.input_tokens": call.input_tokens,
                "gen_ai.usage.cache_read.input_tokens": call.cached_tokens,
                "gen_ai.usage.output_tokens": call.output_tokens,
                "gen_ai.input.messages": f"[{history}]",
                "gen_ai.output.messages": message_json.output_json(reply, reason),
            },
        )

    def _tool(self, played: Played, run: ToolRun) -> None:
        request = run.request
        attributes: dict[str, AttributeValue] = {
            **_who(played),
            "gen_ai.operation.name": "execute_tool",
            "gen_ai.tool.name": request.name,
            "gen_ai.tool.type": "function",
            "gen_ai.tool.call.id": request.id,
            "gen_ai.tool.call.arguments": message_json.arguments_json(request.arguments),
            "gen_ai.tool.call.result": run.result,
        }
        if run.error:
            attributes["error.type"] = run.error
        self._span(
            played,
            f"execute_tool {request.name}",
            run,
            kind=SpanKind.INTERNAL,
            attributes=attributes,
        )

    def _span(
        self,
        played: Played,
        name: str,
        step: ModelCall | ToolRun,
        *,
        kind: SpanKind,
        attributes: dict[str, AttributeValue],
    ) -> None:
        span = self._tracer_of(played.agent_version).start_span(
            name,
            context=set_span_in_context(self._roots[played.id]),
            kind=kind,
            attributes=attributes,
            start_time=step.started_ns,
        )
        if "error.type" in attributes:
            span.set_status(Status(StatusCode.ERROR, str(attributes["error.type"])))
        span.end(step.ended_ns)


def _who(played: Played) -> dict[str, AttributeValue]:
    return {
        "gen_ai.conversation.id": played.id,
        "gen_ai.agent.name": AGENT,
        "gen_ai.agent.version": played.agent_version,
    }
