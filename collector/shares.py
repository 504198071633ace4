"""Put the log records of a call together, one message each, before its history is looked at.

A single record is no history: two customers who begin alike would be taken for one.
"""

from __future__ import annotations

from collections import OrderedDict

import msgspec

from collector.model import Facts, Identity, Message
from collector.realms import trace_of

MOST = 1_024
"""Calls whose records may still be on their way; of more, the oldest are no longer joined."""
MOST_BYTES = 32 * 1024 * 1024
"""What their messages may take together; over it the oldest are no longer joined either."""
_MESSAGE_BYTES = 512
"""What a message takes beside its text."""


class _Call(msgspec.Struct, kw_only=True):
    """What is known of a call so far."""

    identity: Identity | None = None
    """Of its records."""
    input: tuple[Message, ...] = ()
    output: tuple[Message, ...] = ()
    failed: bool = False
    size: int = 0
    """Bytes of its messages, about."""


class Shares:
    """Hold what the records of calls said, until their replies are known."""

    def __init__(self, *, most: int = MOST, most_bytes: int = MOST_BYTES) -> None:
        self._most = most
        self._most_bytes = most_bytes
        self._size = 0
        self._calls: OrderedDict[tuple[str, str], _Call] = OrderedDict()

    def __len__(self) -> int:
        """Return how many calls are held."""
        return len(self._calls)

    def whole(self, fact: Facts) -> Facts:
        """Return ``fact`` with what its call has said so far, once nothing is to follow.

        That is with its reply, or when its span says that it failed. Before, a share is
        returned without its content; whatever is no share of a call is returned as it is.
        """
        key = (trace_of(fact), fact.span_id)
        if fact.partial and fact.span_id:
            call = self._calls.setdefault(key, _Call())
            if call.output and (fact.input or fact.system_prompt):
                # The next call below the span that was the current one.
                call.input, call.output = (), ()
                self._resize(call, 0)
            call.identity = fact.identity
            call.input += fact.input
            call.output += fact.output
            self._resize(call, call.size + _size_of(*fact.input, *fact.output))
        elif fact.role == "llm" and not (fact.input or fact.output) and fact.error:
            call = self._calls.setdefault(key, _Call())
            call.failed = True
        else:
            known = self._calls.get(key)
            if known is not None and known.output:
                del self._calls[key]  # the span ends when all is said
                self._size -= known.size
            return fact
        self._bound()
        if call.identity is None or not (call.output or call.failed):
            return msgspec.structs.replace(fact, input=(), output=())
        # Records name no model, which is part of the scope of a history.
        return msgspec.structs.replace(
            fact, identity=call.identity, model="", input=call.input, output=call.output
        )

    def _resize(self, call: _Call, size: int) -> None:
        self._size += size - call.size
        call.size = size

    def _bound(self) -> None:
        while len(self._calls) > self._most or self._size > self._most_bytes:
            _, oldest = self._calls.popitem(last=False)
            self._size -= oldest.size


def _size_of(*messages: Message) -> int:
    return sum(_MESSAGE_BYTES + len(message.text) for message in messages)
