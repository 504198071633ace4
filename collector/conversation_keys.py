"""Name conversations by their ids, and tool calls by what they are; never across tenants."""

from __future__ import annotations

from functools import lru_cache

from collector.message_keys import canonical, digest
from collector.model import Facts, ToolRequest, Usage

_SEPARATOR = "\x1f"
_LONGEST = 512
"""Characters of an id, and of whose it is, whose key is remembered."""


def declared_key(fact: Facts) -> str:
    """Return the key that an explicit id gives; ids never cross tenant, environment or variant."""
    declared = fact.conversation_id or fact.thread_id
    if not declared:
        return ""
    who = fact.identity
    kind = "id" if fact.conversation_id else f"thread\x1f{who.agent}"
    words = (kind, who.tenant, who.environment, who.variant, declared)
    return _key_of(*words) if sum(map(len, words)) <= _LONGEST else _key_of.__wrapped__(*words)


@lru_cache(maxsize=4096)
def _key_of(*words: str) -> str:
    """Return the key of an explicit conversation; remembered, because each of its spans asks."""
    return f"id:{digest(_SEPARATOR.join(words).encode('utf-8', 'surrogatepass')).hex()}"


def tool_key(fact: Facts, request: ToolRequest) -> bytes:
    """Return the key of a tool call; only in its own scope does it join anything."""
    who = fact.identity
    scope = (who.tenant, who.agent, who.environment, who.variant, who.credential_hash)
    words = _SEPARATOR.join((*scope, request.id, request.name, ""))
    return digest(words.encode("utf-8", "surrogatepass") + canonical(request.arguments))


def call_key(fact: Facts, usage: Usage) -> tuple[str, str]:
    """Return the key by which copies of a model call are known, with words or without.

    Some servers draw response ids from a few hundred numbers; the tokens tell such calls apart.
    """
    return fact.identity.tenant, f"{fact.response_id}{_SEPARATOR}{usage.output}"
