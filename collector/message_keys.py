"""Hash messages so that the same words from two producers have the same key.

The key of a history is a chain of 16-byte digests over its atoms: a text, a tool request
or a tool result. How atoms are grouped into messages does not matter, so a reply that one
producer reports as one message and another as several still has one key.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from operator import is_

import msgspec

from collector.model import JsonValue, Message, ToolDefinition

_ENCODER = msgspec.json.Encoder(order="sorted")
_SEPARATOR = b"\x1f"
_DIGITS = re.compile(r"\d+")
_VERSIONS = 500
"""Prompts with their tools and model whose version is remembered."""
_ENTRY = 400
"""Bytes an entry takes beside the text."""
_CHAINS = 2_000
"""Histories whose keys are remembered."""


def canonical(value: JsonValue) -> bytes:
    """Spell a JSON value one way: keys sorted, no white space; a JSON string is opened first."""
    if isinstance(value, str):
        stripped = value.strip()
        if stripped[:1] in ("{", "["):
            try:
                return _ENCODER.encode(msgspec.json.decode(stripped))
            except (msgspec.DecodeError, RecursionError):
                return _utf8(stripped)
        return _utf8(stripped)
    return _ENCODER.encode(value)


def digest(data: bytes) -> bytes:
    """Return 16 bytes that stand for ``data``."""
    return hashlib.blake2b(data, digest_size=16).digest()


class MessageKeys:
    """Remember the atoms of messages and the digests of tool lists, by identity.

    The normaliser hands out one object for repeated history, so a history that grows by one
    message costs one hash a message and no new canonical form.
    """

    def __init__(self, *, limit: int = 32 * 1024 * 1024) -> None:
        self._limit = limit
        """Bytes of text kept alive, roughly; over it everything is forgotten at once."""
        self._size = 0
        self._atoms: dict[int, tuple[Message, tuple[bytes, ...]]] = {}
        self._tools: dict[int, tuple[tuple[ToolDefinition, ...], bytes]] = {}
        self._versions: dict[tuple[str, bytes, str], str] = {}
        self._chains: dict[tuple[bytes, int], tuple[Sequence[Message], list[bytes]]] = {}
        """By seed and first message: the last history that began so, and its keys."""

    def atoms(self, message: Message) -> tuple[bytes, ...]:
        """Return one digest per thing the message says, in order."""
        known = self._atoms.get(id(message))
        if known is not None:
            return known[1]
        self._size += _ENTRY + len(message.text)
        if self._size > self._limit:
            self._atoms.clear()
            self._chains.clear()
            self._size = _ENTRY + len(message.text)
        atoms = tuple(digest(atom) for atom in _atoms(message))
        # The message is kept beside its atoms so that its id cannot be given to another object.
        self._atoms[id(message)] = (message, atoms)
        return atoms

    def chain(self, seed: bytes, messages: Sequence[Message]) -> list[bytes]:
        """Return the key of every prefix: item ``i`` stands for ``messages[: i + 1]``.

        The list may be handed out again and is not to be changed.
        """
        if not messages:
            return []
        place = (seed, id(messages[0]))
        known, keys = self._chains.get(place, ((), []))
        same = _shared(known, messages)
        if same == len(messages):
            return keys if same == len(keys) else keys[:same]
        keys = keys[:same]
        key = keys[-1] if keys else seed
        for message in messages[same:] if same else messages:
            for atom in self.atoms(message):
                key = digest(key + atom)
            keys.append(key)
        if len(self._chains) >= _CHAINS:
            self._chains.clear()
        # The messages are kept beside their keys so that no id is given to another object.
        self._chains[place] = (tuple(messages), keys)
        return keys

    def version(self, prompt: str, tools: tuple[ToolDefinition, ...], model: str) -> str:
        """Return 12 hex digits for what makes an agent's version.

        Digits in the prompt count as one, so that a prompt that tells the time is one version.
        """
        place = (prompt, self.tools(tools), model)
        known = self._versions.get(place)
        if known is None:
            parts = (_utf8(_DIGITS.sub("0", prompt)), place[1], _utf8(model))
            known = digest(_SEPARATOR.join(parts)).hex()[:12]
            if len(self._versions) >= _VERSIONS:
                self._versions.clear()
            self._versions[place] = known
        return known

    def tools(self, tools: tuple[ToolDefinition, ...]) -> bytes:
        """Return one digest for a list of tool definitions."""
        if not tools:
            return b""
        known = self._tools.get(id(tools))
        if known is not None:
            return known[1]
        if len(self._tools) >= 1_000:
            self._tools.clear()
        key = digest(b"".join(_ENCODER.encode(tool) for tool in tools))
        self._tools[id(tools)] = (tools, key)
        return key


def _shared(one: Sequence[Message], other: Sequence[Message]) -> int:
    """Count the messages that two histories begin with alike, the very same objects."""
    length = min(len(one), len(other))
    if all(map(is_, one, other)):
        return length
    return next(n for n in range(length) if one[n] is not other[n])


def _atoms(message: Message) -> list[bytes]:
    text = message.text.strip()
    if message.role == "tool":
        return [_SEPARATOR.join((b"r", _utf8(message.tool_call_id), canonical(text)))]
    atoms = [_SEPARATOR.join((message.role[0].encode(), _utf8(text)))] if text else []
    atoms.extend(
        _SEPARATOR.join((b"c", _utf8(r.id), _utf8(r.name), canonical(r.arguments)))
        for r in message.tool_requests
    )
    return atoms


def _utf8(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")
