"""Leave out what was said, and keep what is known about it: names, times, counts and verdicts.

What is kept is listed; whatever is not on a list is content. So a convention that nobody here
knows gives nothing away.
"""

from __future__ import annotations

from msgspec.structs import replace

from collector.hindsight import Label, Outcome
from collector.model import (
    Conversation,
    Document,
    Message,
    ScoreRecord,
    ToolCall,
    ToolDefinition,
    ToolRequest,
)
from collector.telemetry import Attributes, LogRecord, Span, SpanEvent

NAMES = frozenset(
    {
        *("gen_ai.operation.name", "gen_ai.system", "gen_ai.provider.name", "gen_ai.request.model"),
        *("gen_ai.response.model", "gen_ai.response.id", "gen_ai.response.finish_reasons"),
        *("gen_ai.output.type", "gen_ai.token.type", "gen_ai.request.encoding_formats"),
        *("gen_ai.conversation.id", "gen_ai.agent.id", "gen_ai.agent.name", "gen_ai.agent.version"),
        *("gen_ai.tool.name", "gen_ai.tool.type", "gen_ai.tool.call.id", "gen_ai.data_source.id"),
        *("openinference.span.kind", "llm.model_name", "llm.provider", "llm.system", "tool.name"),
        *(
            "llm.request.type",
            "traceloop.span.kind",
            "traceloop.entity.name",
            "traceloop.workflow.name",
        ),
        *("session.id", "thread.id", "error.type", "exception.type", "user_agent.original"),
        *(
            "server.address",
            "http.request.method",
            "http.route",
            "rpc.system",
            "rpc.method",
            "rpc.service",
        ),
        *("mcp.method.name", "mcp.session.id", "mcp.protocol.version", "network.transport"),
    }
)
"""Attributes whose text is kept."""
_NAME_STARTS = ("outrider.", "telemetry.", "otel.")
NUMBER_STARTS = (
    "gen_ai.",
    "llm.",
    "http.",
    "server.",
    "outrider.",
    "rpc.",
    "otel.",
    "mcp.",
    "network.",
)
"""Beginnings of the attributes whose numbers and truth values are kept."""
RESOURCE_STARTS = (
    *("service.", "telemetry.", "deployment.", "host.", "k8s.", "container.", "cloud.", "os."),
    *("process.runtime.", "faas.", "outrider."),
)
"""Beginnings of the resource attributes that are kept."""


def span_without_content(span: Span) -> Span:
    """Return the span with its times, names, numbers and status code."""
    return replace(
        span,
        status_message="",
        attributes=_attributes(span.attributes),
        events=tuple(
            SpanEvent(name=e.name, time_ns=e.time_ns, attributes=_attributes(e.attributes))
            for e in span.events
        ),
        links=tuple(replace(link, attributes={}) for link in span.links),
        resource={k: v for k, v in span.resource.items() if k.startswith(RESOURCE_STARTS)},
    )


def record_without_content(record: LogRecord) -> LogRecord:
    """Return the log record with its time and names; its body is content."""
    return replace(
        record,
        body=None,
        attributes=_attributes(record.attributes),
        resource={k: v for k, v in record.resource.items() if k.startswith(RESOURCE_STARTS)},
    )


def _attributes(attributes: Attributes) -> Attributes:
    return {
        key: value
        for key, value in attributes.items()
        if key in NAMES
        or key.startswith(_NAME_STARTS)
        or (isinstance(value, bool | int | float) and key.startswith(NUMBER_STARTS))
    }


def conversation_without_content(conversation: Conversation) -> Conversation:
    """Return the conversation with who spoke and which tools were called, and nothing of what."""
    return replace(
        conversation,
        system_prompt="",
        tools=tuple(ToolDefinition(name=tool.name) for tool in conversation.tools),
        messages=tuple(map(_message, conversation.messages)),
        tool_calls=tuple(map(_tool_call, conversation.tool_calls)),
        documents=tuple(Document(score=document.score) for document in conversation.documents),
        llm_calls=tuple(
            replace(call, error="error" if call.error else "") for call in conversation.llm_calls
        ),
        agents=tuple(
            replace(run, error="error" if run.error else "") for run in conversation.agents
        ),
    )


def _message(message: Message) -> Message:
    requests = tuple(ToolRequest(id=asked.id, name=asked.name) for asked in message.tool_requests)
    return replace(message, text="", tool_requests=requests)


def _tool_call(call: ToolCall) -> ToolCall:
    return replace(call, arguments=None, result=None if call.result is None else "")


def score_without_content(score: ScoreRecord) -> ScoreRecord:
    """Return the score with its verdict and where it looked; a skip's reason is a word of ours."""
    return replace(
        score,
        reason=score.reason if score.verdict == "skip" else "",
        evidence=tuple(replace(item, quote="") for item in score.evidence),
    )


def outcome_without_content(outcome: Outcome) -> Outcome:
    """Return the outcome; a text becomes an empty one."""
    return replace(outcome, value="") if isinstance(outcome.value, str) else outcome


def label_without_content(label: Label) -> Label:
    """Return the label without its comment."""
    return replace(label, comment="")
