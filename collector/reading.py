"""Read journal entries into spans with their facts, for the first time or again."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Sequence

import msgspec

from collector.journal_records import Entry
from collector.lately import Lately
from collector.model import Facts, Identity
from collector.normalise import Normaliser, span_key
from collector.otlp import Batch, parse
from collector.realms import scoped
from collector.repeats import Repeats
from collector.talk import Held
from collector.telemetry import LogRecord, Span

SHARED_BYTES = 8 * 1024 * 1024
"""Of long texts that are remembered, so that spans which repeat them share one."""
LATELY_BYTES = 8 * 1024 * 1024
"""Of requests that were read again lately and are remembered decoded, which takes a few times as much."""
HELD_BYTES = 2048
"""Memory that a span with its facts takes beside its text, which stands there about twice."""

_ENDED = 1 << 48


def batch_of(entry: Entry) -> Batch:
    """Parse the body of a journal entry again; it was sound when it was acknowledged."""
    return parse("logs" if entry.signal == "logs" else "traces", entry.encoding, entry.body)


class Reader:
    """Give spans their facts, and give content back to spans that only have an index entry."""

    def __init__(
        self,
        normaliser: Normaliser,
        *,
        read: Callable[[Sequence[int]], list[Entry]],
        count: Callable[..., None],
    ) -> None:
        self._normaliser = normaliser
        self._lately = Lately(read, lambda entry: batch_of(entry).items(), limit=LATELY_BYTES)
        self._count = count
        self._repeats = Repeats(SHARED_BYTES)

    def held(
        self, entry: Entry, position: int, item: Span | LogRecord, *, again: bool = False
    ) -> Held | None:
        """Return a span or log record with its facts; ``None`` if it says nothing about an agent.

        ``again`` says that it was read, and counted, before.
        """
        # Before anything is read, so that what is remembered is known by identity.
        size = self._repeats.share(item.attributes)
        facts = self._facts(item, again=again)
        if facts is None:
            return None
        facts = _with_sender(facts, entry)
        return Held(
            key=key_of(item, entry.tenant),
            ref=(entry.id, position),
            size=2 * len(entry.body) // max(1, entry.items) + HELD_BYTES,
            richness=_richness(item, size),
            span_id=facts.span_id,
            parent_id=facts.parent_id,
            own_id=bool(facts.conversation_id),
            facts=facts,
            span=item if isinstance(item, Span) else None,
            is_log=isinstance(item, LogRecord),
        )

    def _facts(self, item: Span | LogRecord, *, again: bool) -> Facts | None:
        try:
            if isinstance(item, Span):
                return self._normaliser.span(item)
            return self._normaliser.log(item)
        except Exception as error:  # noqa: BLE001 - a span we cannot read is kept as a plain one
            if not again:
                self._count("normalise_errors_total", error=type(error).__name__)
            if not isinstance(item, Span):
                return None
            return Facts(
                trace_id=item.trace_id,
                span_id=item.span_id,
                parent_id=item.parent_id,
                role="other",
                dialect="",
                name=item.name,
                start_ns=item.start_ns,
                end_ns=item.end_ns,
                identity=Identity(),
            )

    def refill(self, held: Iterable[Held]) -> list[Held]:
        """Return the same spans with content, read again where it is not in memory.

        Spans whose request the journal no longer has are left out.
        """
        entries: dict[int, list[Held]] = {}
        full: list[Held] = []
        for item in held:
            if item.facts is None or (item.span is None and not item.is_log):
                entries.setdefault(item.ref[0], []).append(item)
            else:
                full.append(item)
        for entry, items in self._lately(sorted(entries)):
            for missing in entries[entry.id]:
                again = self.held(entry, missing.ref[1], items[missing.ref[1]], again=True)
                if again is not None:
                    full.append(again)
        return sorted(full, key=lambda h: h.ref)

    def spans(self, refs: Iterable[tuple[int, int]]) -> list[Span]:
        """Return the spans that stand at these places, without reading what they mean."""
        places: dict[int, list[int]] = {}
        for request, position in refs:
            places.setdefault(request, []).append(position)
        found: list[Span] = []
        for entry, items in self._lately(sorted(places)):
            found += _spans_at(items, sorted(places[entry.id]))
        return found

    def at(self, refs: Iterable[tuple[int, int]]) -> list[Held]:
        """Return the spans that stand at these places."""
        return self.refill(Held(key=b"", ref=(ref[0], ref[1]), size=0, richness=0) for ref in refs)


def _spans_at(items: Sequence[Span | LogRecord], positions: Iterable[int]) -> list[Span]:
    return [item for item in (items[n] for n in positions) if isinstance(item, Span)]


def key_of(item: Span | LogRecord, realm: str = "") -> bytes:
    """Return the 24 bytes by which a resend is recognised, within a realm.

    A span has ids of its own; a log record is known by everything it says.
    """
    trace_id = scoped(item.trace_id, realm)
    if isinstance(item, Span):
        return span_key(trace_id, item.span_id)
    said = (
        trace_id or realm,
        item.span_id,
        item.time_ns,
        item.event_name,
        item.body,
        sorted(item.attributes.items()),
    )
    # JSON, because MessagePack has no integers over 64 bits.
    return hashlib.blake2b(msgspec.json.encode(said), digest_size=24).digest()


def _richness(item: Span | LogRecord, size: int) -> int:
    """Order descriptions of one span: an ended one beats an open one, then the longer wins."""
    if isinstance(item, LogRecord):
        return 0
    size += 64 * len(item.events)
    return (_ENDED if item.end_ns else 0) + min(size, _ENDED - 1)


def _with_sender(facts: Facts, entry: Entry) -> Facts:
    """Let the tenant that the sender's token proves beat the one that a span claims."""
    if not entry.tenant and not entry.credential:
        return facts
    identity = msgspec.structs.replace(
        facts.identity,
        tenant=entry.tenant or facts.identity.tenant,
        credential_hash=entry.credential or facts.identity.credential_hash,
    )
    return msgspec.structs.replace(facts, identity=identity, realm=entry.tenant)
