"""Replace secrets and personal data by ``[kind]`` before anything leaves the process."""

from __future__ import annotations

import re
import threading
from collections import Counter
from collections.abc import Mapping, Sequence
from operator import is_
from typing import Any

from msgspec.structs import replace

from collector.content_policy import ContentPolicy
from collector.field_rules import pseudonym
from collector.hindsight import Label, Outcome
from collector.hindsight_redaction import redacted_label, redacted_outcome
from collector.model import (
    AgentRun,
    Conversation,
    Decided,
    Document,
    Identity,
    LlmCall,
    Message,
    ScoreRecord,
    ToolCall,
    ToolDefinition,
    ToolRequest,
)
from collector.telemetry import AttributeValue, LogRecord, Span
from collector.value_redactor import ValueRedactor

MAX_SHARED = 1024
"""Resources, scopes and tool definitions that are remembered, of each so many."""
LONGEST_SCOPE = 512
"""Characters of a scope, or of an id, that is remembered."""
MAX_IDS = 16_384
"""Ids that are remembered."""
LONGEST_PROVIDER = 40
"""Characters of a provider's name; no word in one has twenty."""
_LONG_WORD = re.compile(r"[A-Za-z0-9_-]{20}")
_ALIAS = re.compile(r"id-[0-9a-f]{16}")


class Redactor:
    """Redact records; idempotent, never raises, and safe to use from several threads.

    Trace and span ids are never touched, because records are joined by them. An id that a
    producer chose and that gives somebody away is replaced by the same alias everywhere.

    Args:
        kinds: names of ``sensitive.KINDS``.
        patterns: a user's own kinds, name to regular expression.
        memo_bytes: budget of the memory of earlier texts.
        key: of the aliases; without one they are plain hashes.
        policy: what is done to records before; a user's rules for fields and for content.

    Raises:
        KeyError: a kind does not exist.
        re.error: a pattern is not a regular expression.
    """

    def __init__(
        self,
        kinds: Sequence[str],
        patterns: Mapping[str, str] | None = None,
        *,
        memo_bytes: int = 16 * 1024 * 1024,
        key: bytes = b"",
        policy: ContentPolicy | None = None,
    ) -> None:
        self._key = key
        self._policy = policy
        self._ids: dict[str, str] = {}
        self._values = ValueRedactor(kinds, patterns, memo_bytes=memo_bytes)
        self._text = self._values.text
        self._mapping = self._values.mapping
        self._lock = threading.RLock()
        self._same: dict[int, tuple[Any, Any]] = {}
        self._scopes: dict[tuple[str, str], tuple[str, str]] = {}

    @property
    def redactions(self) -> Counter[str]:
        """Replacements made of each kind; a remembered text's are not made again.

        ``field`` counts what a user's rules for fields changed.
        """
        with self._lock:
            ruled = self._policy.ruled if self._policy else 0
            return self._values.redactions + Counter(field=ruled)

    def text(self, text: str) -> str:
        """Return the text without anything sensitive; JSON stays JSON."""
        with self._lock:
            return self._text(text)

    def value(self, value: AttributeValue, name: str = "") -> AttributeValue:
        """Return the value in the same shape, every text in it redacted.

        The name of the field that holds it counts: ``password`` gives even ``hunter`` away.
        """
        with self._lock:
            clean: AttributeValue = self._values.value(value, name)
        return clean

    def id(self, id: str) -> str:
        """Return an id that says nothing about anybody: itself, else ``id-`` and 16 hex digits.

        An id in which anything would be redacted is hashed as a whole, so that two of them
        stay two, and one stays one wherever it stands.
        """
        known = self._ids.get(id)
        if known is None:
            plain = _ALIAS.fullmatch(id) or self.text(id) == id
            known = id if plain else self.alias(id)
            if len(self._ids) >= MAX_IDS:
                self._ids.clear()
            if len(id) <= LONGEST_SCOPE:
                self._ids[id] = known
        # The very same object where nothing was replaced, so that nothing is copied for it.
        return id if known == id else known

    def alias(self, text: str) -> str:
        """Return what stands for an id that must not be told, whatever is found in it."""
        return pseudonym(text, self._key)

    def span(self, span: Span) -> Span:
        """Return the span with all free text redacted; ids stay."""
        with self._lock:
            if self._policy:
                span = self._policy.span(span)
            text = self._text
            name, status = text(span.name), text(span.status_message)
            scope, version = self._scope(span.scope_name, span.scope_version)
            state = text(span.trace_state) if span.trace_state else ""
            attributes, resource = self._mapping(span.attributes), self._once(span.resource)
            if (
                not span.events
                and not span.links
                and name is span.name
                and status is span.status_message
                and scope == span.scope_name
                and version == span.scope_version
                and state == span.trace_state
                and attributes is span.attributes
                and resource is span.resource
            ):
                return span
            return replace(
                span,
                name=name,
                status_message=status,
                trace_state=state,
                attributes=attributes,
                events=tuple(
                    replace(
                        event, name=text(event.name), attributes=self._mapping(event.attributes)
                    )
                    for event in span.events
                ),
                links=tuple(
                    replace(
                        link,
                        trace_state=text(link.trace_state),
                        attributes=self._mapping(link.attributes),
                    )
                    for link in span.links
                ),
                scope_name=scope,
                scope_version=version,
                resource=resource,
            )

    def log_record(self, record: LogRecord) -> LogRecord:
        """Return the log record with all free text redacted; ids stay."""
        with self._lock:
            if self._policy:
                record = self._policy.log_record(record)
            scope, version = self._scope(record.scope_name, record.scope_version)
            return replace(
                record,
                event_name=self._text(record.event_name),
                body=self._values.value(record.body),
                attributes=self._mapping(record.attributes),
                scope_name=scope,
                scope_version=version,
                resource=self._once(record.resource),
            )

    def decided(self, decided: Decided) -> Decided:
        """Return all that is known of a decided episode, redacted.

        Content that is not kept stays as it is, because it is not copied either: only the
        conversation's id, identity and model calls, which its head shows, are redacted.
        """
        with self._lock:
            if self._policy:
                decided = self._policy.decided(decided)
            conversation = decided.conversation
            return replace(
                decided,
                conversation=(
                    self._conversation(conversation)
                    if decided.sampling.kept
                    else self._head(conversation)
                ),
                scores=tuple(map(self._score, decided.scores)),
                decisions=tuple(
                    replace(
                        record,
                        conversation_id=self.id(record.conversation_id),
                        reason=self._text(record.reason),
                    )
                    for record in decided.decisions
                ),
                observations=tuple(
                    replace(
                        seen,
                        conversation_id=self.id(seen.conversation_id),
                        identity=self.identity(seen.identity),
                    )
                    for seen in decided.observations
                ),
            )

    def conversation(self, conversation: Conversation) -> Conversation:
        """Return the conversation with everything that was said, asked and answered redacted."""
        with self._lock:
            if self._policy:
                conversation = self._policy.conversation(conversation)
            return self._conversation(conversation)

    def identity(self, who: Identity) -> Identity:
        """Return the identity with its labels redacted; hashes stay."""
        with self._lock:
            text = self._text
            return replace(
                who,
                agent=text(who.agent),
                agent_version=text(who.agent_version),
                environment=text(who.environment),
                variant=text(who.variant),
                tenant=text(who.tenant),
                # Pairs are joined by it.
                pair_id=self.id(who.pair_id),
                user_hash=self._keyed(who.user_hash),
            )

    def _keyed(self, digest: str) -> str:
        """Hash a plain hash under the key, or whoever lists all users can tell whose it is."""
        if not digest or not self._key:
            return digest
        return pseudonym(digest, self._key).removeprefix("id-")

    def score(self, score: ScoreRecord) -> ScoreRecord:
        """Return the score with its conversation's id, its reason and its quotes redacted."""
        with self._lock:
            return self._score(self._policy.score(score) if self._policy else score)

    def outcome(self, outcome: Outcome) -> Outcome:
        """Return the outcome with its text redacted; the name counts as its value's field."""
        with self._lock:
            return redacted_outcome(
                self._policy.outcome(outcome) if self._policy else outcome, self
            )

    def label(self, label: Label) -> Label:
        """Return the label with its text redacted; its author stays one person, under an alias."""
        with self._lock:
            return redacted_label(self._policy.label(label) if self._policy else label, self)

    def _score(self, score: ScoreRecord) -> ScoreRecord:
        return replace(
            score,
            conversation_id=self.id(score.conversation_id),
            target=self.id(score.target),
            reason=self._text(score.reason),
            evidence=tuple(
                replace(item, tool_call_id=self.id(item.tool_call_id), quote=self._text(item.quote))
                for item in score.evidence
            ),
        )

    def _conversation(self, conversation: Conversation) -> Conversation:
        return replace(
            self._head(conversation),
            system_prompt=self._text(conversation.system_prompt),
            tools=tuple(map(self._once, conversation.tools)),
            messages=tuple(map(self._message, conversation.messages)),
            tool_calls=tuple(map(self._tool_call, conversation.tool_calls)),
            documents=tuple(map(self._document, conversation.documents)),
            agents=tuple(map(self._agent_run, conversation.agents)),
        )

    def _agent_run(self, run: AgentRun) -> AgentRun:
        return replace(run, name=self._text(run.name), error=self._text(run.error))

    def _head(self, conversation: Conversation) -> Conversation:
        return replace(
            conversation,
            id=self.id(conversation.id),
            identity=self.identity(conversation.identity),
            llm_calls=tuple(map(self._llm_call, conversation.llm_calls)),
        )

    def _llm_call(self, call: LlmCall) -> LlmCall:
        text = self._text
        provider, model = self._provider(call.provider), text(call.model)
        response, error = text(call.response_id), text(call.error)
        if (
            provider is call.provider
            and model is call.model
            and response is call.response_id
            and error is call.error
        ):
            return call
        return replace(call, provider=provider, model=model, response_id=response, error=error)

    def _provider(self, name: str) -> str:
        """Return a provider's name; written small, a key is not known by its beginning any more."""
        clean = self._text(name)
        named = len(clean) <= LONGEST_PROVIDER and _LONG_WORD.search(clean) is None
        return clean if named else "other"

    def _tool_call(self, call: ToolCall) -> ToolCall:
        name, result = self._text(call.name), call.result
        arguments = self._values.value(call.arguments)
        if result is not None:
            result = self._text(result)
        known = self.id(call.id)
        same = known is call.id and name is call.name
        if same and arguments is call.arguments and result is call.result:
            return call
        return replace(call, id=known, name=name, arguments=arguments, result=result)

    def _document(self, document: Document) -> Document:
        return replace(document, id=self._text(document.id), text=self._text(document.text))

    def _message(self, message: Message) -> Message:
        text, tool, requests = self._text(message.text), message.tool_name, message.tool_requests
        if tool:
            tool = self._text(tool)
        if requests:
            safe = tuple(map(self._request, requests))
            requests = requests if all(map(is_, safe, requests)) else safe
        answered = self.id(message.tool_call_id)
        same = text is message.text and answered is message.tool_call_id
        if same and tool is message.tool_name and requests is message.tool_requests:
            return message
        return replace(
            message, text=text, tool_call_id=answered, tool_name=tool, tool_requests=requests
        )

    def _request(self, request: ToolRequest) -> ToolRequest:
        name, arguments = self._text(request.name), self._values.value(request.arguments)
        known = self.id(request.id)
        if known is request.id and name is request.name and arguments is request.arguments:
            return request
        return replace(request, id=known, name=name, arguments=arguments)

    def _tool(self, tool: ToolDefinition) -> ToolDefinition:
        return replace(
            tool,
            name=self._text(tool.name),
            description=self._text(tool.description),
            parameters=self._values.value(tool.parameters),
        )

    def _scope(self, name: str, version: str) -> tuple[str, str]:
        known = self._scopes.get((name, version))
        if known is None:
            known = (self._text(name), self._text(version))
            if len(self._scopes) >= MAX_SHARED:
                self._scopes.clear()
            if len(name) + len(version) <= LONGEST_SCOPE:
                self._scopes[name, version] = known
        return known

    def _once(self, shared: Any) -> Any:
        """Redact what many records share (a resource, a tool definition) once."""
        known = self._same.get(id(shared))
        if known is not None and known[0] is shared:
            return known[1]
        clean = self._tool(shared) if isinstance(shared, ToolDefinition) else self._mapping(shared)
        if len(self._same) >= MAX_SHARED:
            self._same.clear()
        self._same[id(shared)] = (shared, clean)
        return clean
