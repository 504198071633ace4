"""Do to records what the user decided about content and fields, before anything is looked for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from msgspec.structs import replace

from collector.contentless import (
    conversation_without_content,
    label_without_content,
    outcome_without_content,
    record_without_content,
    score_without_content,
    span_without_content,
)
from collector.field_rules import FieldRules, Found, replacing
from collector.hindsight import Label, Outcome
from collector.model import Conversation, Decided, Message, ScoreRecord, ToolCall, ToolRequest
from collector.telemetry import LogRecord, Span


class ContentPolicy:
    """Leave content out, or apply rules for fields; belongs to one redactor.

    What a rule took out of a field is also taken out of the texts of the same span, or of the
    same episode, that repeat it: messages, reasons and quotes.
    """

    def __init__(self, *, content: bool, rules: FieldRules | None) -> None:
        """Take what was decided.

        Args:
            content: Whether what was said is passed on at all.
            rules: A user's rules for fields.
        """
        self._content = content
        self._rules = rules

    @property
    def ruled(self) -> int:
        """Count the fields that a rule changed."""
        return self._rules.applied if self._rules else 0

    def span(self, span: Span) -> Span:
        """Return what may be passed on of a span."""
        if not self._content:
            span = span_without_content(span)
        if self._rules is None:
            return span
        rules, found = self._rules, Found()
        attributes = rules.mapping(span.attributes, "", found)
        events = tuple(
            replace(event, attributes=rules.mapping(event.attributes, "", found))
            for event in span.events
        )
        links = tuple(
            replace(link, attributes=rules.mapping(link.attributes, "", found))
            for link in span.links
        )
        resource = rules.mapping(span.resource, "", found)
        again = replacing(found)
        return replace(
            span,
            name=again(span.name),
            attributes=_each(attributes, again) if found else attributes,
            events=tuple(
                replace(e, name=again(e.name), attributes=_each(e.attributes, again))
                for e in events
            ),
            links=tuple(replace(link, attributes=_each(link.attributes, again)) for link in links),
            status_message=again(span.status_message),
            resource=resource,
        )

    def log_record(self, record: LogRecord) -> LogRecord:
        """Return what may be passed on of a log record."""
        if not self._content:
            record = record_without_content(record)
        if self._rules is None:
            return record
        rules, found = self._rules, Found()
        return replace(
            record,
            attributes=rules.mapping(record.attributes, "", found),
            body=rules.value(record.body, "body", found),
            resource=rules.mapping(record.resource, "", found),
        )

    def decided(self, decided: Decided) -> Decided:
        """Return what may be passed on of a decided episode."""
        found = Found()
        conversation = self._conversation(decided.conversation, found)
        again = replacing(found)
        scores = [self._score(score, again) for score in decided.scores]
        return replace(decided, conversation=conversation, scores=tuple(scores))

    def conversation(self, conversation: Conversation) -> Conversation:
        """Return what may be passed on of a conversation."""
        return self._conversation(conversation, Found())

    def score(self, score: ScoreRecord) -> ScoreRecord:
        """Return what may be passed on of a score."""
        return self._score(score, str)

    def outcome(self, outcome: Outcome) -> Outcome:
        """Return what may be passed on of an outcome."""
        return outcome if self._content else outcome_without_content(outcome)

    def label(self, label: Label) -> Label:
        """Return what may be passed on of a person's label."""
        return label if self._content else label_without_content(label)

    def _score(self, score: ScoreRecord, again: Callable[[str], str]) -> ScoreRecord:
        if not self._content:
            return score_without_content(score)
        if again is str:
            return score
        return replace(
            score,
            reason=again(score.reason),
            evidence=tuple(replace(item, quote=again(item.quote)) for item in score.evidence),
        )

    def _conversation(self, conversation: Conversation, found: Found) -> Conversation:
        rules = self._rules
        if rules is not None:
            calls = tuple(_call(call, rules, found) for call in conversation.tool_calls)
            messages = [_message(message, rules, found) for message in conversation.messages]
            again = replacing(found)
            conversation = replace(
                conversation,
                system_prompt=again(rules.text(conversation.system_prompt, "system_prompt", found)),
                tool_calls=tuple(
                    replace(call, result=again(call.result)) if call.result else call
                    for call in calls
                ),
                messages=tuple(replace(m, text=again(m.text)) for m in messages),
                documents=tuple(
                    replace(passage, text=again(rules.text(passage.text, "document", found)))
                    for passage in conversation.documents
                ),
            )
        return conversation if self._content else conversation_without_content(conversation)


def _call(call: ToolCall, rules: FieldRules, found: Found) -> ToolCall:
    return replace(
        call,
        arguments=rules.value(call.arguments, "arguments", found),
        result=None if call.result is None else rules.text(call.result, "result", found),
    )


def _message(message: Message, rules: FieldRules, found: Found) -> Message:
    requests: list[ToolRequest] = [
        replace(asked, arguments=rules.value(asked.arguments, "arguments", found))
        for asked in message.tool_requests
    ]
    path = "result" if message.role == "tool" else "content"
    return replace(
        message, text=rules.text(message.text, path, found), tool_requests=tuple(requests)
    )


def _each(value: Any, again: Callable[[str], str]) -> Any:
    """Put the new values into every text of a value."""
    if isinstance(value, str):
        return again(value)
    if isinstance(value, list):
        return [_each(item, again) for item in value]
    if isinstance(value, dict):
        return {key: _each(item, again) for key, item in value.items()}
    return value
