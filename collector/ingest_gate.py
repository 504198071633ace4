"""Redact requests before they are made durable, for sites where nothing raw may reach a disk."""

from __future__ import annotations

import re
from typing import Any

import msgspec

from collector.field_rules import APART
from collector.hindsight import Label, Outcome
from collector.journal_records import ConversationEnd, Entry
from collector.otlp import parse
from collector.otlp_records import logs_request, spans_request
from collector.redactor import Redactor
from collector.telemetry import Attributes, LogRecord, Span

_ID = re.compile(r"(?:^|[._-])id$|[a-z]Id$|session|thread")
"""Names of attributes by whose values records are joined."""
_END = msgspec.json.Decoder(ConversationEnd)
_OUTCOMES = msgspec.json.Decoder(list[Outcome])
_LABELS = msgspec.json.Decoder(list[Label])


class IngestGate:
    """Give back each request as the store may have it; what is joined by an id still is, by its alias."""

    def __init__(self, redactor: Redactor) -> None:
        """Take the gate that everything passes again later, which then finds nothing."""
        self._redactor = redactor

    def __call__(self, entry: Entry) -> Entry:
        """Return the entry with a redacted body; OTLP becomes protobuf, with its items in their order.

        Raises:
            PermanentError: The body cannot be read, which was checked before.
        """
        if entry.signal == "end":
            end = _END.decode(entry.body)
            text = self._redactor.text
            end = msgspec.structs.replace(
                end,
                conversation_id=self._redactor.id(end.conversation_id),
                tenant=text(end.tenant),
                environment=text(end.environment),
                variant=text(end.variant),
            )
            return _with(entry, msgspec.json.encode(end))
        if entry.signal == "outcomes":
            outcomes = map(self._redactor.outcome, _OUTCOMES.decode(entry.body))
            return _with(entry, msgspec.json.encode(list(outcomes)))
        if entry.signal == "labels":
            labels = map(self._redactor.label, _LABELS.decode(entry.body))
            return _with(entry, msgspec.json.encode(list(labels)))
        batch = parse(entry.signal, entry.encoding, entry.body)
        body = (
            spans_request(map(self._span, batch.spans()))
            if entry.signal == "traces"
            else logs_request(map(self._record, batch.logs()))
        )
        return msgspec.structs.replace(entry, body=body, encoding="proto")

    def _span(self, span: Span) -> Span:
        clean = self._redactor.span(span)
        return msgspec.structs.replace(
            clean, attributes=self._joined(clean.attributes, span.attributes)
        )

    def _record(self, record: LogRecord) -> LogRecord:
        clean = self._redactor.log_record(record)
        return msgspec.structs.replace(
            clean, attributes=self._joined(clean.attributes, record.attributes)
        )

    def _joined(self, clean: Attributes, raw: Attributes) -> Attributes:
        """Put an alias where an id was replaced: two conversations stay two."""
        ids: Attributes = {}
        for name, value in clean.items():
            was: Any = raw.get(name)
            if value is was or not isinstance(was, str) or not _ID.search(name):
                continue
            # It may have been taken for its name or by a rule, and look harmless by itself.
            if not APART.fullmatch(str(value)):
                ids[name] = self._redactor.alias(was)
        return {**clean, **ids} if ids else clean


def _with(entry: Entry, body: bytes) -> Entry:
    return msgspec.structs.replace(entry, body=body)
