"""Name the traces and spans of a replay, the same ones for the same seed."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import msgspec

from collector.builder import turns_of
from collector.model import Conversation, Message
from collector.transcripts import calls_at


class Style(msgspec.Struct, frozen=True, kw_only=True):
    """How conversations are laid out as spans."""

    seed: str
    """Ids are a function of this, the variant and the conversation's id."""
    strip_ids: bool = False
    variant: str = ""
    """Replaces the recorded one."""
    environment: str = ""
    """Replaces the recorded one."""


def trace_ids(
    conversation: Conversation, *, seed: str, strip_ids: bool = False, variant: str = ""
) -> list[str]:
    """List the traces that a replay of the conversation sends, in order, as hex.

    With ids there is one a turn; without, one a model call and one for what no call tells.
    """
    style = Style(seed=seed, strip_ids=strip_ids, variant=variant)
    key = key_of(conversation, style)
    if strip_ids:
        calls = calls_at(conversation.messages)
        count = len(calls) + has_trailing(conversation.messages, calls)
    else:
        count = max(1, len(turns_of(conversation.messages)))
    return [trace_id(key, number).hex() for number in range(count)]


def has_trailing(messages: Sequence[Message], calls: Sequence[int]) -> bool:
    """Tell whether something was said that no model call's input or output carries."""
    return not calls or calls[-1] + 1 < len(messages)


def variant_of(conversation: Conversation, style: Style) -> str:
    """Return the variant that the replay reports."""
    return style.variant or conversation.identity.variant


def key_of(conversation: Conversation, style: Style) -> bytes:
    """Return the 16 bytes from which the conversation's ids are derived."""
    parts = (style.seed, variant_of(conversation, style), conversation.id)
    joined = "\x1f".join(parts).encode("utf-8", "surrogatepass")
    return hashlib.blake2b(joined, digest_size=16).digest()


def trace_id(key: bytes, number: int) -> bytes:
    """Derive the id of one trace."""
    return hashlib.blake2b(b"%d" % number, digest_size=16, key=key).digest()


def span_id(trace: bytes, name: str) -> bytes:
    """Derive the id of one span; ``name`` is unique inside the trace."""
    return hashlib.blake2b(name.encode(), digest_size=8, key=trace).digest()
