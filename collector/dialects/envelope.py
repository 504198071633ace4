"""Read what spans say in every convention: who spoke, in which conversation, how it ended."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from functools import lru_cache
from typing import Any

from collector.dialects.attributes import Keys, attributes_of, decoded, first, is_true, plain, text
from collector.dialects.mending import any_cut
from collector.model import FactRole, Facts, Identity
from collector.telemetry import Attributes, Span

END = "outrider.conversation.end"
VARIANT: Keys = ("outrider.variant",)
PAIR: Keys = ("outrider.pair.id",)
TENANT: Keys = ("outrider.tenant",)
SIMULATED = "outrider.tool.simulated"
REQUESTOR = "outrider.tool.requestor"
AGENT: Keys = (
    "gen_ai.agent.name",
    "agent.name",
    "agent_name",
    "ai.telemetry.functionId",
    "lk.agent_name",
)
VERSION: Keys = ("gen_ai.agent.version",)
SERVICE: Keys = ("service.name",)
SERVICE_VERSION: Keys = ("service.version",)
ENVIRONMENT: Keys = ("deployment.environment.name", "deployment.environment")
USER: Keys = (
    "user.id",
    "langfuse.user.id",
    "traceloop.association.properties.user_id",
    "ai.telemetry.metadata.userId",
    "langsmith.metadata.user_id",
    "enduser.id",
)
LONGEST = 1024
"""Characters of the words of an identity that is remembered."""
IDENTIFYING = frozenset(
    (*AGENT, *VERSION, *ENVIRONMENT, *VARIANT, *TENANT, *PAIR, *USER),
)
CONVERSATION: Keys = (
    "langfuse.session.id",
    "gen_ai.conversation.id",
    "session.id",
    "traceloop.association.properties.session_id",
    "traceloop.association.properties.conversation_id",
    "traceloop.association.properties.thread_id",
    "langsmith.metadata.session_id",
    "langsmith.metadata.thread_id",
    "langsmith.metadata.conversation_id",
    "ai.telemetry.metadata.sessionId",
    "ai.telemetry.metadata.conversationId",
    "ai.telemetry.metadata.threadId",
    "ai.telemetry.metadata.chatId",
    "langfuse.observation.metadata.thread_id",
    "langfuse.observation.metadata.session_id",
    "langfuse.observation.metadata.conversation_id",
    "gcp.vertex.agent.session_id",
    "conversation.id",
    "lk.room_sid",
)
"""A session may hold several conversations, so the conversation's own id goes before it."""
METADATA = "metadata"
"""OpenInference's JSON object of whatever the program knows; it may name the conversation."""
IN_METADATA: Keys = ("session_id", "thread_id", "conversation_id")
SESSION: Keys = ("session.id",)
"""Looked up on the resource when the span names no conversation."""


def identity_of(attributes: Attributes, resource: Attributes) -> Identity:
    """Say who spoke: the span's own word goes before its resource's."""
    agent = text(resource, AGENT) or text(resource, SERVICE)
    version = text(resource, VERSION) or text(resource, SERVICE_VERSION)
    environment = text(resource, ENVIRONMENT)
    variant = text(resource, VARIANT) or "production"
    tenant, pair, user = text(resource, TENANT), text(resource, PAIR), ""
    if not IDENTIFYING.isdisjoint(attributes):
        agent = text(attributes, AGENT) or agent
        version = text(attributes, VERSION) or version
        environment = text(attributes, ENVIRONMENT) or environment
        variant = text(attributes, VARIANT) or variant
        tenant = text(attributes, TENANT) or tenant
        pair = text(attributes, PAIR) or pair
        user = text(attributes, USER)
    words = (agent, version, environment, variant, tenant, pair, user)
    return _identity(words) if sum(map(len, words)) <= LONGEST else _identity.__wrapped__(words)


@lru_cache(maxsize=1024)
def _identity(words: tuple[str, ...]) -> Identity:
    """Build an identity, or return the one that was built of the same words."""
    agent, version, environment, variant, tenant, pair, user = words
    return Identity(
        agent=agent,
        agent_version=version,
        environment=environment,
        variant=variant,
        tenant=tenant,
        pair_id=pair,
        user_hash=hashlib.sha256(user.encode(errors="replace")).hexdigest()[:16] if user else "",
    )


def conversation_of(attributes: Attributes, resource: Attributes) -> str:
    """Return the id the producer gave the conversation; empty when it gave none."""
    found = text(attributes, CONVERSATION)
    if not found and METADATA in attributes:
        found = text(attributes_of(decoded(attributes[METADATA])), IN_METADATA)
    return found or text(resource, SESSION)


def ends(attributes: Attributes, event_names: Iterable[str] = ()) -> bool:
    """Tell whether the producer says that the conversation is over."""
    return is_true(attributes.get(END)) or END in event_names


def error_of(span: Span) -> str:
    """Return the kind of error, else the status message, else ``error``; empty when it is none."""
    kind = plain(span.attributes.get("error.type"))
    if not kind and span.status_code != 2:
        return ""
    for event in span.events:
        if not kind and event.name == "exception":
            kind = plain(event.attributes.get("exception.type"))
    return kind or span.status_message or "error"


def facts(span: Span, *, role: FactRole, dialect: str, **found: Any) -> Facts:
    """Put what a dialect found into the envelope of its span."""
    attributes = span.attributes
    return Facts(
        trace_id=span.trace_id,
        span_id=span.span_id,
        parent_id=span.parent_id,
        role=role,
        dialect=dialect,
        name=span.name,
        start_ns=span.start_ns,
        end_ns=span.end_ns,
        error=error_of(span),
        identity=identity_of(attributes, span.resource),
        conversation_id=conversation_of(attributes, span.resource),
        ends_conversation=ends(attributes, [event.name for event in span.events]),
        simulated=is_true(attributes.get(SIMULATED)),
        user_side=first(attributes, (REQUESTOR,)) == "user",
        truncated=is_truncated(span),
        **found,
    )


def is_truncated(span: Span) -> bool:
    """Tell whether something of the span was cut or left out before it came here."""
    if span.dropped_attributes > 0 or any_cut(span.attributes):
        return True
    return bool(span.events) and any(any_cut(event.attributes) for event in span.events)
