"""Put the message history of a conversation back together from its model calls.

Most producers repeat the whole history in every call, some send only what is new, some
drop or summarise the beginning, and an agent's inner agents have histories of their own.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from collector.calls import ModelCall
from collector.message_keys import MessageKeys
from collector.model import Facts, Message

_OVERLAP_LIMIT = 400


class History:
    """Grow one message list from calls given in order of start.

    ``messages`` may start with the context of earlier episodes.
    """

    def __init__(self, keys: MessageKeys, context: Sequence[Message] = ()) -> None:
        self._keys = keys
        self.messages: list[Message] = list(context)
        self._chain = keys.chain(b"", self.messages)

    def _tip(self) -> bytes:
        return self._chain[-1] if self._chain else b""

    def extends(self, given: Sequence[Message]) -> bool:
        """Say whether ``given`` repeats everything known so far and perhaps adds to it."""
        tip = self._tip()
        return not tip or tip in self._keys.chain(b"", given)

    def add(self, given: Sequence[Message], reply: Sequence[Message]) -> None:
        """Take in one call: what the model was given, and what it replied."""
        chain = self._keys.chain(b"", given)
        tip = self._tip()
        if not tip or tip in chain:
            self._set([*given, *reply])
        elif given and chain[-1] in self._chain:
            self._add_branch(self._chain.index(chain[-1]) + 1, reply)
        else:
            self._set([*self.messages, *self._unknown(given), *reply])

    def _set(self, messages: list[Message]) -> None:
        self.messages = messages
        self._chain = self._keys.chain(b"", messages)

    def _add_branch(self, position: int, reply: Sequence[Message]) -> None:
        """Append the reply of a call that was given less than is known, unless it stands there."""
        atoms = self._atoms(reply)
        following = self._atoms(self.messages[position:])
        if atoms and following[: len(atoms)] != atoms and position == len(self.messages):
            self._set([*self.messages, *reply])

    def _unknown(self, given: Sequence[Message]) -> Sequence[Message]:
        """Return the messages of ``given`` after its overlap with the end of what is known."""
        if len(given) > _OVERLAP_LIMIT:
            return given
        known = [self._keys.atoms(m) for m in self.messages]
        fresh = [self._keys.atoms(m) for m in given]
        for start in range(len(fresh)):
            for position in range(max(0, len(known) - len(fresh) + start), len(known)):
                length = len(known) - position
                if known[position:] == fresh[start : start + length]:
                    return given[start + length :]
        return given

    def _atoms(self, messages: Sequence[Message]) -> list[bytes]:
        return [atom for message in messages for atom in self._keys.atoms(message)]


def history_of(
    calls: Sequence[ModelCall],
    agents: Sequence[Facts],
    *,
    keys: MessageKeys,
    context: Sequence[Message] = (),
) -> tuple[list[Message], list[ModelCall]]:
    """Return the conversation's messages and the calls that belong to inner agents.

    Agent spans fill in where no model call of their trace carried content, and add what
    came after the last call.
    """
    history = History(keys, context)
    inner: list[ModelCall] = []
    covered: set[str] = set()
    for call in calls:
        content = call.content
        if not content.input and not content.output:
            continue
        covered.add(content.trace_id)
        if len(call.agents) > 1 and not history.extends(content.input):
            inner.append(call)
            continue
        history.add(content.input, content.output)
    for agent in sorted(agents, key=lambda f: f.start_ns):
        if not agent.input and not agent.output:
            continue
        if agent.trace_id not in covered or not history.messages:
            history.add(agent.input, agent.output)
        elif agent.input and history.extends(agent.input):
            reply = () if _already_said(history, agent, keys) else agent.output
            history.add(agent.input, reply)
    return history.messages, inner


def _already_said(history: History, agent: Facts, keys: MessageKeys) -> bool:
    said = [keys.atoms(m) for m in history.messages[-len(agent.output) :]]
    return bool(agent.output) and said == [keys.atoms(m) for m in agent.output]


def with_results(
    messages: Sequence[Message], tools: Sequence[Facts], *, answered: set[str]
) -> list[Message]:
    """Insert the results that only spans carry behind the message that asked for them.

    ``answered`` are the ids of calls that have a result among the messages already.
    """
    results = {
        f.tool.id: f
        for f in tools
        if f.tool is not None and f.tool.id and f.tool_result is not None
    }
    errors = {f.tool.id for f in tools if f.tool is not None and f.tool.id and f.tool_is_error}
    out: list[Message] = []
    for message in messages:
        if message.role == "tool" and message.is_error is None and message.tool_call_id in errors:
            out.append(msgspec.structs.replace(message, is_error=True))
        else:
            out.append(message)
        for request in message.tool_requests:
            fact = results.get(request.id)
            if fact is not None and request.id not in answered:
                out.append(
                    Message(
                        role="tool",
                        text=fact.tool_result or "",
                        tool_call_id=request.id,
                        tool_name=request.name,
                        is_error=fact.tool_is_error,
                    )
                )
    return out
