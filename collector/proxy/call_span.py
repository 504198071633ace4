"""Write one call as a span of the OTel GenAI convention, in an OTLP request of its own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, InstrumentationScope, KeyValue
from opentelemetry.proto.trace.v1.trace_pb2 import ResourceSpans, ScopeSpans, Span, Status

from collector.otlp_encode import flag, number, resource_proto, text, texts
from collector.proxy.about import About, keyed_hash
from collector.proxy.exchange import Exchange
from collector.proxy.recorder import Ending, Recorded

SCOPE = "outrider.proxy"
ABORTED = "outrider.stream.aborted"
"""Who left a call before it was over: ``client`` or ``upstream``."""
_LONGEST_ID = 512


def request_of(
    recorded: Recorded,
    exchange: Exchange,
    *,
    error: str,
    aborted: Ending | None,
    version: str,
    secret: bytes,
    random_bytes: Callable[[int], bytes],
) -> ExportTraceServiceRequest:
    """Write the span.

    Args:
        recorded: When it was, and whose.
        exchange: What was said.
        error: Kind of error; empty for none.
        aborted: Who left before the end; ``None`` when nobody did.
        version: Of the one who writes.
        secret: Key of the user's hash.
        random_bytes: Gives so many random bytes, for ids.
    """
    about = recorded.about
    model = exchange.model or exchange.request_model
    span = Span(
        trace_id=bytes.fromhex(about.trace_id) if about.trace_id else random_bytes(16),
        span_id=random_bytes(8),
        parent_span_id=bytes.fromhex(about.parent_id),
        name=f"{exchange.operation} {model}".rstrip(),
        kind=Span.SPAN_KIND_CLIENT,
        start_time_unix_nano=recorded.started_ns,
        end_time_unix_nano=max(recorded.ended_ns, recorded.started_ns),
        attributes=[
            *_call(recorded, exchange, model),
            *_content(exchange),
            *_who(about, exchange, secret),
        ],
    )
    if aborted is not None:
        span.attributes.append(text(ABORTED, aborted))
    if error:
        span.attributes.append(text("error.type", error))
        span.status.code = Status.STATUS_CODE_ERROR
    return ExportTraceServiceRequest(
        resource_spans=[
            ResourceSpans(
                resource=resource_proto(_resource(about)),
                scope_spans=[
                    ScopeSpans(
                        scope=InstrumentationScope(name=SCOPE, version=version), spans=[span]
                    )
                ],
            )
        ]
    )


def _call(recorded: Recorded, exchange: Exchange, model: str) -> list[KeyValue]:
    tokens = exchange.tokens
    said = {
        "gen_ai.operation.name": exchange.operation,
        "gen_ai.provider.name": recorded.about.provider,
        "gen_ai.request.model": exchange.request_model or model,
        "gen_ai.response.model": exchange.model,
        "gen_ai.response.id": exchange.response_id,
        "gen_ai.request.previous_response.id": exchange.previous_response_id,
        "server.address": recorded.about.server,
    }
    counted = {
        "gen_ai.usage.input_tokens": tokens.input,
        "gen_ai.usage.output_tokens": tokens.output,
        "gen_ai.usage.cache_read.input_tokens": tokens.cache_read,
        "gen_ai.usage.cache_creation.input_tokens": tokens.cache_write,
        "gen_ai.usage.reasoning.output_tokens": tokens.reasoning,
        "gen_ai.request.max_tokens": exchange.max_tokens,
        "http.response.status_code": recorded.status or None,
    }
    measured = {
        "gen_ai.request.temperature": exchange.temperature,
        "gen_ai.request.top_p": exchange.top_p,
        "gen_ai.response.time_to_first_chunk": (
            (recorded.first_byte_ns - recorded.started_ns) / 1e9
            if exchange.streamed and recorded.first_byte_ns
            else None
        ),
    }
    written = [text(key, value) for key, value in said.items() if value]
    written += [number(key, value) for key, value in counted.items() if value is not None]
    written += [
        KeyValue(key=key, value=AnyValue(double_value=value))
        for key, value in measured.items()
        if value is not None
    ]
    if exchange.finish_reasons:
        written.append(texts("gen_ai.response.finish_reasons", exchange.finish_reasons))
    if exchange.streamed:
        written.append(flag("gen_ai.request.stream"))
    return written


def _content(exchange: Exchange) -> list[KeyValue]:
    said = {
        "gen_ai.system_instructions": exchange.system,
        "gen_ai.input.messages": exchange.input,
        "gen_ai.output.messages": exchange.output,
        "gen_ai.tool.definitions": exchange.tools,
    }
    return [text(key, _json(value)) for key, value in said.items() if value]


def _who(about: About, exchange: Exchange, secret: bytes) -> list[KeyValue]:
    said = {
        "gen_ai.conversation.id": about.conversation_id or exchange.conversation_id[:_LONGEST_ID],
        "gen_ai.agent.name": about.agent if about.agent_said else "",
        "gen_ai.agent.version": about.agent_version if about.agent_said else "",
        "outrider.variant": about.variant,
        "outrider.pair.id": about.pair_id,
        "user.id": keyed_hash(secret, exchange.user),
    }
    written = [text(key, value) for key, value in said.items() if value]
    return [*written, flag("outrider.conversation.end")] if about.ends else written


def _resource(about: About) -> dict[str, str]:
    said = {
        "service.name": about.agent or about.provider,
        "service.version": about.agent_version,
        "deployment.environment.name": about.environment,
    }
    return {key: value for key, value in said.items() if value}


def _json(value: Any) -> str:
    return msgspec.json.encode(value).decode()
