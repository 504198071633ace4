"""Put the message history of a conversation back together from its model calls.

Most producers repeat the whole history in every call, some send only what is new, some
drop or summarise the beginning, and an agent's inner agents have histories of their own.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

import msgspec

from collector.calls import ModelCall
from collector.cut_messages import joined
from collector.message_keys import MessageKeys, canonical
from collector.model import Facts, JsonValue, Message, ToolRequest

_OVERLAP_LIMIT = 400


class History:
    """Grow one message list from calls given in order of start.

    ``messages`` may start with the context of earlier episodes.
    """

    def __init__(self, keys: MessageKeys, context: Sequence[Message] = ()) -> None:
        self.keys = keys
        self.messages: list[Message] = list(context)
        self._chain = keys.chain(b"", self.messages)
        self._cut = False

    def _tip(self) -> bytes:
        return self._chain[-1] if self._chain else b""

    def extends(self, given: Sequence[Message]) -> bool:
        """Say whether ``given`` repeats everything known so far and perhaps adds to it."""
        tip = self._tip()
        return not tip or tip in self.keys.chain(b"", given)

    def add(self, given: Sequence[Message], reply: Sequence[Message], *, cut: bool = False) -> None:
        """Take in one call: what the model was given, and what it replied.

        ``cut`` says that something of it was cut short, or left out.
        """
        chain = self.keys.chain(b"", given)
        tip = self._tip()
        self._cut = self._cut or cut
        if not tip or tip in chain:
            self._set([*given, *reply])
        elif self._cut and (mended := joined(self.messages, given, reply, cut=cut)) is not None:
            self._set(mended)
        elif given and chain[-1] in self._chain:
            self._add_branch(self._chain.index(chain[-1]) + 1, reply)
        elif self._is_part_of(given) or self._is_alike(given):
            self._set([*given, *reply])
        else:
            self._set([*self.messages, *self._unknown(given), *reply])

    def _is_part_of(self, given: Sequence[Message]) -> bool:
        """Say whether ``given`` repeats everything in order, with more in between.

        So do results that stand behind each of several calls which were asked for at once.
        """
        if len(given) <= len(self.messages):
            return False
        rest = iter(self._atoms(given))
        return all(atom in rest for atom in self._atoms(self.messages))

    def append(self, messages: Sequence[Message]) -> None:
        """Take in what comes after everything known."""
        self._set([*self.messages, *messages])

    def _is_alike(self, given: Sequence[Message]) -> bool:
        """Say whether ``given`` repeats everything, though calls have other ids there.

        OpenAI's responses know a call by the id of an item, its history by another.
        """
        known = self.messages
        return len(given) >= len(known) and all(
            map(_is_same_but_for_ids, known, given[: len(known)])
        )

    def _set(self, messages: list[Message]) -> None:
        self.messages = messages
        self._chain = self.keys.chain(b"", messages)

    def _add_branch(self, position: int, reply: Sequence[Message]) -> None:
        """Append another reply to what only replies follow, unless it stands there.

        So does a reply that was asked for again, or that of the agent behind one that routes. What
        was given less than that is an aside.
        """
        following = self.messages[position:]
        if any(m.role != "assistant" for m in following):
            return
        atoms, known = self._atoms(reply), self._atoms(following)
        stands = any(known[at : at + len(atoms)] == atoms for at in range(len(known)))
        if atoms and not stands:
            self._set([*self.messages, *reply])

    def _unknown(self, given: Sequence[Message]) -> Sequence[Message]:
        """Return the messages of ``given`` after its overlap with what is known.

        That is its end; or its beginning, where the producer leaves out what the agent said.
        """
        if len(given) > _OVERLAP_LIMIT:
            return given
        same = self._common(given)
        if same and self._is_silent(same, given):
            return given[same:]
        known = [self.keys.atoms(m) for m in self.messages]
        fresh = [self.keys.atoms(m) for m in given]
        for start in range(len(fresh)):
            for position in range(max(0, len(known) - len(fresh) + start), len(known)):
                length = len(known) - position
                if known[position:] == fresh[start : start + length]:
                    return given[start + length :]
        return given

    def _common(self, given: Sequence[Message]) -> int:
        """Return how many messages both begin with."""
        count = 0
        for known, fresh in zip(self.messages, given, strict=False):
            if self.keys.atoms(known) != self.keys.atoms(fresh):
                break
            count += 1
        return count

    def _is_silent(self, same: int, given: Sequence[Message]) -> bool:
        """Say whether all that ``given`` leaves out are the agent's own words."""
        left_out = self.messages[same:]
        return all(m.role == "assistant" for m in left_out) and (
            same < len(given) and given[same].role != "assistant"
        )

    def _atoms(self, messages: Sequence[Message]) -> list[bytes]:
        return [atom for message in messages for atom in self.keys.atoms(message)]


def _is_same_but_for_ids(one: Message, other: Message) -> bool:
    return (one.role, one.text) == (other.role, other.text) and [
        (r.name, canonical(r.arguments)) for r in one.tool_requests
    ] == [(r.name, canonical(r.arguments)) for r in other.tool_requests]


def history_of(
    calls: Sequence[ModelCall],
    agents: Sequence[Facts],
    *,
    keys: MessageKeys,
    context: Sequence[Message] = (),
    retrievals: Sequence[Facts] = (),
) -> tuple[list[Message], list[ModelCall]]:
    """Return the conversation's messages and the calls that belong to inner agents.

    Agent spans fill in where no model call of their trace carried content, and add what
    came after the last call. What retrieval was asked for stands in where nobody else spoke.
    """
    history = History(keys, context)
    inner: list[ModelCall] = []
    covered: set[str] = set()
    outer: set[tuple[str, ...]] = set()
    last = calls[-1].content.trace_id if calls else ""
    for call in calls:
        content = call.content
        if not content.input and not content.output:
            continue
        covered.add(content.trace_id)
        if len(call.agents) > 1 and call.agents not in outer and not history.extends(content.input):
            inner.append(call)
            continue
        outer.add(call.agents)
        history.add(content.input, content.output, cut=content.truncated)
    _add_agents(history, agents, covered, last)
    if not history.messages:
        for retrieval in sorted(retrievals, key=lambda f: f.start_ns):
            history.add(retrieval.input, ())
    return history.messages, inner


def _add_agents(history: History, agents: Sequence[Facts], covered: set[str], last: str) -> None:
    """Add what only agents' own spans say; ``last`` is the trace of the last model call."""
    keys = history.keys
    for agent in sorted(agents, key=lambda f: f.start_ns):
        if not agent.input and not agent.output:
            continue
        if agent.trace_id not in covered or not history.messages:
            history.add(agent.input, agent.output)
        elif agent.input and history.extends(agent.input):
            reply = () if _already_said(history, agent, keys) else agent.output
            history.add(agent.input, reply)
        elif agent.trace_id == last and not agent.parent_id and _is_waiting(history.messages):
            history.append(_parting(agent.output))


def _is_waiting(messages: Sequence[Message]) -> bool:
    """Tell whether the last word is not the agent's, so that its reply was not recorded."""
    return not messages or messages[-1].role != "assistant" or bool(messages[-1].tool_requests)


def _parting(output: Sequence[Message]) -> list[Message]:
    """Return the last thing an agent said, where only its own span tells of it."""
    said = [m for m in output if m.role == "assistant" and m.text and not m.tool_requests]
    return said[-1:]


def _already_said(history: History, agent: Facts, keys: MessageKeys) -> bool:
    said = [keys.atoms(m) for m in history.messages[-len(agent.output) :]]
    return bool(agent.output) and said == [keys.atoms(m) for m in agent.output]


def with_results(
    messages: Sequence[Message], tools: Sequence[Facts], *, answered: set[str]
) -> list[Message]:
    """Insert the results that only spans carry behind the message that asked for them.

    ``answered`` are the ids of calls that have a result among the messages already. A span
    without an id answers the first open call of its name and arguments.
    """
    by_id = {
        f.tool.id: f
        for f in tools
        if f.tool is not None and f.tool.id and f.tool_result is not None
    }
    nameless = _Nameless(tools)
    errors = {f.tool.id for f in tools if f.tool is not None and f.tool.id and f.tool_is_error}
    out: list[Message] = []
    for following, message in enumerate(messages, 1):
        if message.role == "tool" and message.is_error is None and message.tool_call_id in errors:
            out.append(msgspec.structs.replace(message, is_error=True))
        else:
            out.append(message)
        if _is_answered_nameless(messages[following : following + 1]):
            continue
        for request in message.tool_requests:
            if request.id in answered or not request.id:
                continue
            fact = by_id.get(request.id) or nameless.take(request)
            if fact is not None:
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


def _is_answered_nameless(following: Sequence[Message]) -> bool:
    """Tell whether the next message is a result that does not say of which call."""
    return any(m.role == "tool" and not m.tool_call_id for m in following)


class _Nameless:
    """Results of spans that name no call, by tool and arguments, in order of time."""

    def __init__(self, tools: Sequence[Facts]) -> None:
        self._waiting: dict[object, deque[Facts]] = {}
        for fact in tools:
            if fact.tool is not None and not fact.tool.id and fact.tool_result is not None:
                key = _signature(fact.tool.name, fact.tool.arguments)
                self._waiting.setdefault(key, deque()).append(fact)

    def take(self, request: ToolRequest) -> Facts | None:
        """Return the first span that answers this request, once."""
        found = self._waiting.get(_signature(request.name, request.arguments))
        return found.popleft() if found else None


def _signature(name: str, arguments: JsonValue) -> object:
    return name, canonical(arguments)
