"""Replace secrets and personal data by ``[kind]`` before anything leaves the process."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from operator import is_
from typing import Any

import msgspec

from collector.glance import glance
from collector.memo import Memo
from collector.model import Conversation, Identity, Message, ScoreRecord, ToolDefinition
from collector.replacer import Replacer
from collector.sensitive import KINDS, custom, name_kind
from collector.telemetry import AttributeValue, Span

SLICE_FROM = 512
"""JSON arrays from this length are redacted element by element, so that repeats are looked up."""
MAX_DEPTH = 48
"""Deeper JSON is redacted as text."""
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
        self._slices: Memo[bytes] = Memo(memo_bytes // 2)
        self._name_kinds: dict[str, str] = {}
        self._same: dict[int, tuple[Any, Any]] = {}
        self._json = msgspec.json.Decoder()
        self._array = msgspec.json.Decoder(list[msgspec.Raw])

    @property
    def redactions(self) -> Counter[str]:
        """Replacements made of each kind; a remembered text's are not made again."""
        return self._replacer.replacements

    def text(self, text: str) -> str:
        """Return the text without anything sensitive; JSON stays JSON."""
        if len(text) >= SLICE_FROM and text[0] == "[":
            sliced = self._sliced(text)
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
        return msgspec.structs.replace(
            span,
            name=self.text(span.name),
            status_message=self.text(span.status_message),
            attributes=self._walk(span.attributes, "", 0),
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
            resource=self._once(span.resource),
        )

    def conversation(self, conversation: Conversation) -> Conversation:
        """Return the conversation with everything that was said, asked and answered redacted."""
        return msgspec.structs.replace(
            conversation,
            identity=self.identity(conversation.identity),
            system_prompt=self.text(conversation.system_prompt),
            tools=self._once(conversation.tools),
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
        """Redact what many records share (a resource, tool definitions) once."""
        known = self._same.get(id(shared))
        if known is not None and known[0] is shared:
            return known[1]
        if isinstance(shared, tuple):
            clean: Any = tuple(map(self._tool, shared))
        else:
            clean = self._walk(shared, "", 0)
        if len(self._same) >= 256:
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
            except (msgspec.DecodeError, RecursionError):
                return self._replacer.replaced(text, look)
            clean = self._walk(value, "", 0)
            return text if clean is value else msgspec.json.encode(clean).decode()
        return self._replacer.replaced(text, look)

    def _sliced(self, text: str) -> str | None:
        """Redact a JSON array element by element; ``None`` where it is not one."""
        try:
            pieces = [bytes(raw) for raw in self._array.decode(text)]
        except (msgspec.DecodeError, RecursionError):
            return None
        cleaned = [self._slices.get(piece) or self._slice(piece) for piece in pieces]
        if cleaned == pieces:
            return text
        return (b"[" + b",".join(cleaned) + b"]").decode()

    def _slice(self, piece: bytes) -> bytes:
        clean = piece
        if self._replacer.possible(glance(piece.decode())):
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
        clean: dict[str, Any] = {}
        same = True
        for key, item in value.items():
            new = self._walk(item, key, depth + 1)
            safe_key = key if len(key) < self._shortest else self._remembered(key)
            same = same and new is item and safe_key is key
            while safe_key in clean:
                safe_key += "_"
            clean[safe_key] = new
        return value if same else clean

    def _leaf(self, text: str, name: str) -> str:
        kind = self._kind_of(name) if name else ""
        if not kind and len(text) < self._shortest:
            return text
        if not kind or not text or self._replacer.is_placeholder(text):
            return self.text(text)
        if kind == "phone" and not 7 <= sum(map(str.isdigit, text)) <= 15:
            return self.text(text)
        self.redactions[kind] += 1
        return f"[{kind}]"

    def _kind_of(self, name: str) -> str:
        kind = self._name_kinds.get(name)
        if kind is None:
            kind = name_kind(name)
            kind = kind if kind in self._names else ""
            if len(self._name_kinds) >= 4096:
                self._name_kinds.clear()
            self._name_kinds[name] = kind
        return kind
