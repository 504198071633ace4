"""Put a secret into every field that a producer can fill, and look for it afterwards."""

from __future__ import annotations

import json
import re
from typing import Any

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import Span

from collector.hindsight import About, Label, Outcome
from tests.e2e.otlp import answered, asked, logs, pairs, record, said, span, traces

SECRETS = {
    "email": "mia.planted@example.com",
    "phone": "+44 20 7946 0958",
    "card": "4111 1111 1111 1111",
    "iban": "DE89 3704 0044 0532 0130 00",
    "national_id": "536-90-4399",
    "key": "sk-ant-api03-PlAnTeD123456789012345",
    "token": "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJQbEFuVGVEIn0.PlAnTeDsignature0123",
    "private_key": "-----BEGIN PRIVATE KEY-----\nPlAnTeDPlAnTeDPlAnTeD\n-----END PRIVATE KEY-----",
}
"""One of each kind, none of which needs a word beside it to be known."""


def traces_of(secret: str) -> re.Pattern[str]:
    """Match what is left of a secret that got through: as it was, or with other separators."""
    parts = [part for part in re.split(r"[ \n-]+", secret) if part]
    loose = r"(?:[ -]|\\+n|\n)*".join(map(re.escape, parts))
    return re.compile(loose, re.IGNORECASE)


def left_over(text: str) -> list[str]:
    """Name the kinds whose secret stands in a text."""
    return [kind for kind, secret in SECRETS.items() if traces_of(secret).search(text)]


def planted(secret: str, *, trace: str) -> bytes:
    """Write a conversation in which every text that a producer chooses has the secret in it.

    It ends in a claim that no call stands behind and a call that fails its schema, so that
    scorers have something to say and to quote.
    """
    spoken = [
        said("user", f"I am {secret}. Refund it, or let me speak to a real person {secret}"),
        asked(f"find {secret}", f"call {secret}", who=secret, **{secret: 1}),
        answered(f"call {secret}", json.dumps({"found": secret, "error": f"no {secret}"})),
    ]
    schema = {"type": "object", "required": [secret], "properties": {"who": {"const": secret}}}
    chat: dict[str, Any] = {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": secret,
        "gen_ai.request.model": secret,
        "gen_ai.response.id": secret,
        "gen_ai.conversation.id": secret,
        "gen_ai.agent.name": secret,
        "gen_ai.agent.version": secret,
        "gen_ai.agent.id": secret,
        "outrider.pair.id": secret,
        "outrider.tenant": secret,
        "user.id": secret,
        "session.id": secret,
        "error.type": secret,
        "gen_ai.system_instructions": [{"type": "text", "content": f"Be kind to {secret}"}],
        "gen_ai.input.messages": spoken,
        "gen_ai.output.messages": [said("assistant", f"I have refunded {secret} to you.")],
        "gen_ai.tool.definitions": [
            {
                "type": "function",
                "name": f"find {secret}",
                "description": secret,
                "parameters": schema,
            }
        ],
        "list": [secret, {"deep": [secret]}],
        "huge": "[1e400," + "9" * 5_000 + f",{json.dumps(secret)}]",
        "twice": f'{{"a":{json.dumps(secret)},"a":1}}',
        f"key of {secret}": 1,
    }
    first = span(f"chat {secret}", trace=trace, failed=True, **chat)
    first.trace_state = f"vendor={secret}"
    first.status.message = f"no {secret}"
    first.attributes.add(key="raw").value.bytes_value = b"[\xff " + secret.encode()
    first.events.append(
        Span.Event(
            name=f"exception {secret}",
            attributes=pairs(
                {
                    "exception.type": secret,
                    "exception.message": f"no user {secret}",
                    "exception.stacktrace": f'File "x.py"\n  raise Oops("{secret}")',
                }
            ),
        )
    )
    first.links.append(Span.Link(trace_id=b"1" * 16, span_id=b"2" * 8, trace_state=f"v={secret}"))
    executed: dict[str, Any] = {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.conversation.id": secret,
        "gen_ai.agent.name": secret,
        "outrider.tenant": secret,
        "gen_ai.tool.name": f"find {secret}",
        "gen_ai.tool.call.id": f"call {secret}",
        "gen_ai.tool.call.arguments": json.dumps({"who": secret}),
        "gen_ai.tool.call.result": json.dumps({"found": secret}),
    }
    retrieved: dict[str, Any] = {
        "openinference.span.kind": "RETRIEVER",
        "input.value": secret,
        "retrieval.documents.0.document.id": secret,
        "retrieval.documents.0.document.content": f"about {secret}",
        "llm.input_messages.0.message.tool_calls.0.tool_call.function.arguments": json.dumps(
            {"inner": json.dumps({"who": secret})}
        ),
        "retrieval.documents.0.document.metadata": json.dumps({"owner": secret}),
    }
    above = f"chat {secret}"
    tool = span(f"execute_tool {secret}", trace=trace, parent=above, at=0.2, **executed)
    retrieval = span(f"retrieve {secret}", trace=trace, parent=above, at=0.1, **retrieved)
    request = ExportTraceServiceRequest.FromString(traces(first, tool, retrieval, service=secret))
    resource = request.resource_spans[0]
    resource.resource.attributes.extend(
        pairs({"deployment.environment.name": secret, "host.name": secret})
    )
    resource.scope_spans[0].scope.name = resource.scope_spans[0].scope.version = secret
    return request.SerializeToString()


def planted_logs(secret: str, *, trace: str) -> bytes:
    """Write log records about the same call, and one of no kind that anybody knows."""
    return logs(
        record(
            "gen_ai.choice",
            trace=trace,
            under=f"chat {secret}",
            at=0.5,
            message={"role": "assistant", "content": f"Bye {secret}"},
        ),
        record(f"odd {secret}", trace=trace, at=0.6, note=secret),
        service=secret,
    )


def planted_words(secret: str) -> tuple[list[Outcome], list[Label]]:
    """Write an outcome and a label with the secret in every text."""
    about = About(conversation_id=secret, tenant=secret, environment=secret, variant=secret)
    outcome = Outcome(
        about=about,
        name=f"refund {secret}",
        value=f"to {secret}",
        source=secret,
        call_id=f"call {secret}",
        tool=f"find {secret}",
        id=secret,
    )
    label = Label(
        about=about,
        scorer=f"kind {secret}",
        verdict="fail",
        category=secret,
        level="tool_call",
        target=f"call {secret}",
        author=secret,
        source=secret,
        comment=f"rude to {secret}",
        id=secret,
    )
    return [outcome], [label]
