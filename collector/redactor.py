"""Replace secrets and personal data by ``[kind]`` before anything leaves the process."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from operator import is_
from typing import Any

import msgspec

from collector.glance import glance
from collector.growing import Growing
from collector.memo import Memo
from collector.model import Conversation, Identity, Message, ScoreRecord, ToolDefinition
from collector.replacer import Replacer
from collector.sensitive import KINDS, custom, name_kind
from collector.telemetry import AttributeValue, Span

SLICE_FROM = 512
"""JSON arrays from this length are redacted element by element, so that repeats are looked up."""
MAX_DEPTH = 48
"""Deeper JSON is redacted as text."""
MAX_FIELDS = 4096
LONGEST_FIELD = 256
"""Field names that are remembered: so many, and so long."""
_NUMBERS = range(10**6, 10**19)


class Redactor:
    """Redact text, values and records; idempotent, and one thread's own.

    A repeated text or message costs a look-up. Text that is JSON is redacted leaf by leaf
    and stays JSON. Ids (conversation, trace, span, tool call) are never touched, because
    records are joined by them.

    Args:
        kinds: names of ``sensitive.KINDS``.
        patterns: a user's own kinds, name to regular expression.
        memo_bytes: budget of the memory of earlier texts.

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
    ) -> None:
        own = {name: custom(name, pattern) for name, pattern in (patterns or {}).items()}
        self._names = frozenset(kinds)
        # "a@b.io" is the shortest thing that any shipped kind finds.
        self._shortest = 1 if own else 6
        self._replacer = Replacer([*(KINDS[name] for name in kinds), *own.values()])
        self._texts: Memo[str] = Memo(memo_bytes // 2)
        self._slices: Memo[bytes] = Memo(memo_bytes // 4)
        self._arrays: Memo[str] = Memo(memo_bytes // 8)
        self._histories: Growing[tuple[bool, list[bytes]]] = Growing(memo_bytes // 8)
        """Whether an array was clean as it came, and its elements redacted."""
        self._fields: dict[str, tuple[str, str]] = {}
        """Field name to the kind its value must be, and the name redacted where it has to be."""
        self._same: dict[int, tuple[Any, Any]] = {}
        self._json = msgspec.json.Decoder()
        self._array = msgspec.json.Decoder(list[msgspec.Raw])

    @property
    def redactions(self) -> Counter[str]:
        """Replacements made of each kind; a remembered text's are not made again."""
        return self._replacer.replacements

    def text(self, text: str) -> str:
        """Return the text without anything sensitive; JSON stays JSON."""
        if len(text) < self._shortest:
            return text
        if len(text) >= SLICE_FROM and text[0] == "[":
            sliced = self._array_text(text)
            if sliced is not None:
                return sliced
        return self._remembered(text)

    def value(self, value: AttributeValue, name: str = "") -> AttributeValue:
        """Return the value in the same shape, every text in it redacted.

        The name of the field that holds it counts: ``password`` gives even ``hunter`` away.
        """
        clean: AttributeValue = self._walk(value, name, 0)
        return clean

    def span(self, span: Span) -> Span:
        """Return the span with its name, status, attributes, events, links and resource redacted."""
        name, status = self.text(span.name), self.text(span.status_message)
        attributes, resource = self._mapping(span.attributes, 0), self._once(span.resource)
        if (
            not span.events
            and not span.links
            and name is span.name
            and status is span.status_message
            and attributes is span.attributes
            and resource is span.resource
        ):
            return span
        return msgspec.structs.replace(
            span,
            name=name,
            status_message=status,
            attributes=attributes,
            events=tuple(
                msgspec.structs.replace(
                    event,
                    name=self.text(event.name),
                    attributes=self._walk(event.attributes, "", 0),
                )
                for event in span.events
            ),
            links=tuple(
                msgspec.structs.replace(link, attributes=self._walk(link.attributes, "", 0))
                for link in span.links
            ),
            resource=resource,
        )

    def conversation(self, conversation: Conversation) -> Conversation:
        """Return the conversation with everything that was said, asked and answered redacted."""
        return msgspec.structs.replace(
            conversation,
            identity=self.identity(conversation.identity),
            system_prompt=self.text(conversation.system_prompt),
            tools=tuple(map(self._once, conversation.tools)),
            messages=tuple(map(self._message, conversation.messages)),
            tool_calls=tuple(
                msgspec.structs.replace(
                    call,
                    arguments=self._walk(call.arguments, "", 0),
                    result=None if call.result is None else self.text(call.result),
                )
                for call in conversation.tool_calls
            ),
            llm_calls=tuple(
                msgspec.structs.replace(call, error=self.text(call.error)) if call.error else call
                for call in conversation.llm_calls
            ),
            documents=tuple(
                msgspec.structs.replace(document, text=self.text(document.text))
                for document in conversation.documents
            ),
        )

    def identity(self, who: Identity) -> Identity:
        """Return the identity with its labels redacted; hashes and ids stay."""
        return msgspec.structs.replace(
            who,
            agent=self.text(who.agent),
            agent_version=self.text(who.agent_version),
            environment=self.text(who.environment),
            variant=self.text(who.variant),
            tenant=self.text(who.tenant),
        )

    def score(self, score: ScoreRecord) -> ScoreRecord:
        """Return the score with its reason and quotes redacted."""
        return msgspec.structs.replace(
            score,
            reason=self.text(score.reason),
            evidence=tuple(
                msgspec.structs.replace(item, quote=self.text(item.quote))
                for item in score.evidence
            ),
        )

    def _message(self, message: Message) -> Message:
        text = self.text(message.text)
        requests = message.tool_requests
        if requests:
            requests = tuple(
                msgspec.structs.replace(asked, arguments=self._walk(asked.arguments, "", 0))
                for asked in requests
            )
        elif text is message.text:
            return message
        return msgspec.structs.replace(message, text=text, tool_requests=requests)

    def _tool(self, tool: ToolDefinition) -> ToolDefinition:
        return msgspec.structs.replace(
            tool,
            description=self.text(tool.description),
            parameters=self._walk(tool.parameters, "", 0),
        )

    def _once(self, shared: Any) -> Any:
        """Redact what many records share (a resource, a tool definition) once."""
        known = self._same.get(id(shared))
        if known is not None and known[0] is shared:
            return known[1]
        if isinstance(shared, ToolDefinition):
            clean: Any = self._tool(shared)
        else:
            clean = self._walk(shared, "", 0)
        if len(self._same) >= 1024:
            self._same.clear()
        self._same[id(shared)] = (shared, clean)
        return clean

    def _remembered(self, text: str) -> str:
        clean = self._texts.get(text)
        if clean is None:
            clean = self._fresh(text)
            self._texts.put(text, clean)
        return text if clean == text else clean

    def _fresh(self, text: str) -> str:
        look = glance(text)
        if not self._replacer.possible(look):
            return text
        if text.startswith(("[", "{")):
            try:
                value = self._json.decode(text)
            except (msgspec.DecodeError, RecursionError, UnicodeEncodeError):
                return self._replacer.replaced(text, look)
            clean = self._walk(value, "", 0)
            return text if clean is value else msgspec.json.encode(clean).decode()
        return self._replacer.replaced(text, look)

    def _array_text(self, text: str) -> str | None:
        """Redact a JSON array element by element; ``None`` where it is not one."""
        known, rest = self._histories.split(text)
        if known is None:
            clean = self._arrays.get(text)
            if clean is not None:
                return text if clean == text else clean
        pure, before = known or (True, [])
        try:
            pieces = [bytes(raw) for raw in self._array.decode(rest)]
        except (msgspec.DecodeError, RecursionError, UnicodeEncodeError):
            return None
        if not pieces:
            return None
        cleaned = [self._slices.get(piece) or self._slice(piece) for piece in pieces]
        pure = pure and cleaned == pieces
        cleaned = before + cleaned
        self._histories.keep(text, (pure, cleaned))
        clean = text if pure else (b"[" + b",".join(cleaned) + b"]").decode()
        if known is None:
            # A history that grew will grow on and not come again.
            self._arrays.put(text, clean)
        return clean

    def _slice(self, piece: bytes) -> bytes:
        # A message is taken apart at once: its text comes again in other places by itself.
        value = self._json.decode(piece)
        walked = self._walk(value, "", 0)
        clean = piece if walked is value else msgspec.json.encode(walked)
        self._slices.put(piece, clean)
        return clean

    def _walk(self, value: Any, name: str, depth: int) -> Any:
        """Return the value redacted; the very same object where nothing had to be replaced."""
        clean = value
        if isinstance(value, str):
            clean = self._leaf(value, name)
        elif isinstance(value, (dict, list)) and depth >= MAX_DEPTH:
            clean = self._replacer.replaced(
                text := msgspec.json.encode(value).decode(), glance(text)
            )
        elif isinstance(value, dict):
            clean = self._mapping(value, depth)
        elif isinstance(value, list):
            items = [self._walk(item, name, depth + 1) for item in value]
            clean = value if all(map(is_, items, value)) else items
        elif isinstance(value, bytes):
            text = value.decode("utf-8", "surrogateescape")
            safe = self.text(text)
            clean = value if safe is text else safe.encode("utf-8", "surrogateescape")
        elif type(value) is int and value in _NUMBERS:
            # A card or phone number may come as a JSON number.
            text = str(value)
            safe = self._leaf(text, name)
            clean = value if safe == text else safe
        return clean

    def _mapping(self, value: dict[str, Any], depth: int) -> dict[str, Any]:
        fields, shortest, texts = self._fields, self._shortest, self._texts.young
        changed: dict[str, Any] = {}
        renamed = False
        for key, item in value.items():
            kind, safe_key = fields.get(key) or self._field(key)
            renamed = renamed or safe_key != ""
            if type(item) is not str:
                new: Any = self._walk(item, key, depth + 1)
            elif kind:
                new = self._leaf(item, key)
            elif len(item) < shortest:
                continue
            elif len(item) < SLICE_FROM and item in texts:
                # What was seen a moment ago, without a call.
                new = texts[item]
                if new == item:
                    continue
            else:
                new = self.text(item)
            if new is not item:
                changed[key] = new
        if not renamed:
            return {**value, **changed} if changed else value
        return self._renamed(value | changed)

    def _renamed(self, value: dict[str, Any]) -> dict[str, Any]:
        clean: dict[str, Any] = {}
        for key, item in value.items():
            safe_key = self._field(key)[1] or key
            while safe_key in clean:
                safe_key += "_"
            clean[safe_key] = item
        return clean

    def _leaf(self, text: str, name: str) -> str:
        kind = (self._fields.get(name) or self._field(name))[0] if name else ""
        if not kind and len(text) < self._shortest:
            return text
        if not kind or not text or self._replacer.is_placeholder(text):
            return self.text(text)
        if kind == "phone" and not 7 <= sum(map(str.isdigit, text)) <= 15:
            clean = self.text(text)
            # What is left may have as few digits as a phone number.
            return clean if clean == text else self._leaf(clean, name)
        self.redactions[kind] += 1
        return f"[{kind}]"

    def _field(self, name: str) -> tuple[str, str]:
        known = self._fields.get(name)
        if known is None:
            kind, safe = name_kind(name), self.text(name)
            known = (kind if kind in self._names else "", "" if safe is name else safe)
            if len(self._fields) >= MAX_FIELDS:
                self._fields.clear()
            if len(name) <= LONGEST_FIELD:
                self._fields[name] = known
        return known
