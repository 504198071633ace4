"""Decide which conversation a span belongs to.

An explicit conversation id decides by itself and is never merged with another. Without
one, a span joins inside its scope only: by its parent or trace, by the response it
continues, by a message history that equals an open tip, by a tool call that waits for its
result. A tip that was continued already, or that two conversations share, starts a new
conversation: joining two people's conversations is worse than splitting one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Protocol, TypeVar

from collector.conversation_keys import call_key, declared_key, tool_key
from collector.message_keys import MessageKeys, digest
from collector.model import Facts, Message
from collector.realms import trace_of
from collector.shares import Shares
from collector.talk import Talk
from collector.twins import Twins, is_bare

_TIPS_PER_TALK = 8
_K = TypeVar("_K")
_Talks = dict[Talk, None]
"""Conversations in the order in which they came."""


class Remembered(Protocol):
    """What outlives memory: conversations whose episodes are all decided."""

    def talk(self, key: str) -> Talk | None:
        """Return a conversation that memory has let go, without open episode."""

    def key_of_tip(self, tip: bytes) -> str | None:
        """Return the key of the conversation whose history ends in ``tip``."""


class Stitcher:
    """Index the living conversations and place each span in one.

    ``count(method, result)`` is called once per placement; ``merged(source, target)`` when
    an anonymous conversation turns out to be part of another.
    """

    def __init__(
        self,
        *,
        keys: MessageKeys,
        remembered: Remembered,
        count: Callable[[str, str], None],
        merged: Callable[[Talk, Talk], None],
    ) -> None:
        self._keys = keys
        self._remembered = remembered
        self._count = count
        self._merged = merged
        self.talks: dict[str, Talk] = {}
        self._by_id: dict[str, _Talks] = {}
        self._by_trace: dict[str, _Talks] = {}
        self._loose: dict[str, Talk] = {}
        """The conversation without an id in each trace; there is one at most."""
        self._tips: dict[bytes, _Talks] = {}
        self._continued: dict[bytes, _Talks] = {}
        self._heads: dict[bytes, _Talks] = {}
        self._tools: dict[bytes, _Talks] = {}
        self._responses: dict[tuple[str, str], _Talks] = {}
        self._shares = Shares()
        self._twins = Twins()

    # --- looking up

    @property
    def is_empty(self) -> bool:
        """Return whether no index holds anything."""
        return not (
            self.talks
            or self._by_id
            or self._by_trace
            or self._loose
            or self._tips
            or self._continued
            or self._heads
            or self._tools
            or self._responses
        )

    def of_trace(self, trace_id: str) -> list[Talk]:
        """Return the conversations that a trace touches."""
        return list(self._by_trace.get(trace_id, ()))

    def knows_trace(self, trace_id: str) -> bool:
        """Say whether a trace touches any conversation in memory."""
        return trace_id in self._by_trace

    def _first_of_trace(self, trace_id: str) -> Talk | None:
        return next(iter(self._by_trace.get(trace_id, ())), None)

    def of_id(self, id: str) -> list[Talk]:
        """Return the conversations with this producer-given id, one per tenant and variant."""
        return [talk for talk in self._by_id.get(id, ()) if talk.explicit]

    @staticmethod
    def matches(talk: Talk, tenant: str, environment: str, variant: str) -> bool:
        """Say whether a conversation is one that these words mean; an empty word means any."""
        wanted = zip((tenant, environment, variant), talk.labels, strict=True)
        return all(not word or word == label for word, label in wanted)

    def place(self, fact: Facts, parent: Talk | None, *, key: str) -> Talk:
        """Return the conversation that ``fact`` belongs to, made if need be.

        ``parent`` is the conversation of its parent span, where that is known; ``key`` names
        what has neither a conversation id nor a trace.
        """
        fact = self._shares.whole(fact)
        declared = declared_key(fact)
        talk = self._explicit(declared, fact) if declared else self._anonymous(fact, parent, key)
        self._touch_trace(trace_of(fact), talk)
        if fact.response_id:
            response = (fact.identity.tenant, fact.response_id)
            if fact.input or fact.output:
                for copy in [t for t in self._responses.get(response, ()) if _is_bare(t)]:
                    self._merge(copy, talk)
            _index(self._responses, response, talk, talk.responses)
            if fact.usage is not None:
                self._name_copies(call_key(fact, fact.usage), talk)
        if fact.role == "llm" and not fact.partial and (fact.input or fact.output):
            twin = self.talks.get(self._twins.of_told(fact, talk.key))
            if twin is not None and _is_bare(twin):
                self._merge(twin, talk)
        if not talk.explicit and fact.role in ("llm", "agent") and (fact.input or fact.output):
            talk = self._remember_history(fact, talk)
        return talk

    def _name_copies(self, call: tuple[str, str], talk: Talk) -> None:
        """Take in the anonymous conversation that told of the same call before, as our proxy does."""
        others = [t for t in self._responses.get(call, ()) if not t.explicit]
        if talk.explicit and len(others) == 1:
            self._merge(others[0], talk)
        _index(self._responses, call, talk, talk.responses)

    def forget(self, talk: Talk) -> None:
        """Drop a conversation from every index; what is durable stays findable."""
        self.talks.pop(talk.key, None)
        _unindex(self._by_id, (talk.id,), talk)
        _unindex(self._by_trace, talk.traces, talk)
        for trace_id in talk.traces:
            if self._loose.get(trace_id) is talk:
                del self._loose[trace_id]
        _unindex(self._tips, talk.tips, talk)
        _unindex(self._continued, talk.continued, talk)
        _unindex(self._heads, talk.heads, talk)
        _unindex(self._tools, talk.pending_tools, talk)
        _unindex(self._responses, talk.responses, talk)

    def adopt(self, talk: Talk) -> None:
        """Index a conversation that was restored."""
        self.talks[talk.key] = talk
        _index(self._by_id, talk.id, talk)
        for trace_id in talk.traces:
            self._touch_trace(trace_id, talk)
        for tip in talk.tips:
            _index(self._tips, tip, talk)

    # --- explicit ids

    def _explicit(self, key: str, fact: Facts) -> Talk:
        talk = self.talks.get(key)
        if talk is None:
            talk = self._create(key, fact.conversation_id or fact.thread_id, explicit=True)
            who = fact.identity
            talk.labels = (who.tenant, who.environment, who.variant)
            self._count("id", "new")
        else:
            self._count("id", "joined")
        loose = self._loose.get(trace_of(fact))
        if loose is not None:
            self._merge(loose, talk)
        return talk

    def _touch_trace(self, trace_id: str, talk: Talk) -> None:
        if not trace_id:
            return  # a log record outside of any trace is no kin of another
        _index(self._by_trace, trace_id, talk, talk.traces)
        if not talk.explicit:
            self._loose[trace_id] = talk

    def _create(self, key: str, id: str, *, explicit: bool) -> Talk:
        talk = self._remembered.talk(key) or Talk(key=key, id=id, explicit=explicit)
        self.adopt(talk)
        return talk

    # --- without an id

    def _anonymous(self, fact: Facts, parent: Talk | None, key: str) -> Talk:
        near = parent
        if near is None:
            near = self._first_of_trace(trace_of(fact))
        if near is not None and near.explicit:
            self._count("trace", "joined")
            return near
        linked = self._linked(fact, near)
        if linked is not None:
            if near is not None and near is not linked and not self._merge(near, linked):
                return near
            return linked
        if near is not None:
            self._count("trace", "joined")
            return near
        own = _key_of_trace(trace_of(fact) or key)
        return self._create(own, fact.trace_id or key, explicit=False)

    def _linked(self, fact: Facts, near: Talk | None) -> Talk | None:
        """Return the one conversation that the fact's own content points to.

        ``near`` is where its trace stands; that a copy of the call stands there too says
        nothing new.
        """
        tenant = fact.identity.tenant
        for method, response_id in (
            ("previous_response", fact.previous_response_id),
            ("response", fact.response_id),
        ):
            talks = self._responses.get((tenant, response_id)) if response_id else None
            if talks and len(talks) == 1 and near not in talks:
                # A copy of the call in a trace of its own tells no history; the call may.
                if method == "response" and fact.input and all(map(_is_bare, talks)):
                    continue
                return self._single(talks, method)
        if is_bare(fact) and (near is None or _is_bare(near)):
            own = near.key if near is not None else _key_of_trace(trace_of(fact))
            return self.talks.get(self._twins.of_bare(fact, own))
        if fact.role in ("llm", "agent") and fact.input:
            talk = self._by_history(fact)
            return talk if talk is not None else self._by_answered_tool(fact)
        if fact.role == "tool" and fact.tool is not None and fact.tool.id:
            return self._single(self._tools.get(tool_key(fact, fact.tool)), "tool_call")
        return None

    def _by_history(self, fact: Facts) -> Talk | None:
        chain = self._keys.chain(self._scope(fact), fact.input)
        for key in reversed(chain):
            talks = self._tips.get(key)
            if talks:
                return self._single(talks, "history")
        last = _last_reply(fact.input)
        if last is None:
            self._count("history", "new")
            return None
        head = chain[last]
        if head in self._continued:
            self._count("history", "continued")
            return None
        remembered = self._remembered.key_of_tip(head)
        if remembered is None:
            self._count("history", "new")
            return None
        self._count("history", "joined")
        talk = self.talks.get(remembered) or self._create(remembered, "", explicit=False)
        _index(self._tips, head, talk, talk.tips)
        return talk

    def _by_answered_tool(self, fact: Facts) -> Talk | None:
        """Join by the results at the end of the input: they answer somebody's open calls."""
        last = _last_reply(fact.input)
        if last is None:
            return None
        for request in fact.input[last].tool_requests:
            if request.id:
                talk = self._single(self._tools.get(tool_key(fact, request)), "tool_call")
                if talk is not None:
                    return talk
        return None

    def _single(self, talks: _Talks | None, method: str) -> Talk | None:
        if not talks:
            return None
        self._count(method, "joined" if len(talks) == 1 else "tie")
        return next(iter(talks)) if len(talks) == 1 else None

    def _scope(self, fact: Facts) -> bytes:
        who = fact.identity
        # The system prompt and the tools may change between the calls of one conversation.
        version = who.agent_version or fact.model
        parts = (who.tenant, who.agent, version, who.environment, who.variant, who.credential_hash)
        return digest("\x1f".join(parts).encode("utf-8", "surrogatepass"))

    # --- what a call leaves behind

    def _remember_history(self, fact: Facts, talk: Talk) -> Talk:
        seed = self._scope(fact)
        before = self._keys.chain(seed, fact.input)
        after = self._keys.chain(before[-1] if before else seed, fact.output)
        tip = (after or before)[-1]
        for key in before:
            if key in talk.tips and key != tip:
                del talk.tips[key]
                _unindex(self._tips, (key,), talk)
                _index(self._continued, key, talk, talk.continued)
        if tip in talk.continued:
            return talk
        _index(self._tips, tip, talk, talk.tips)
        while len(talk.tips) > _TIPS_PER_TALK:
            oldest = next(iter(talk.tips))
            del talk.tips[oldest]
            _unindex(self._tips, (oldest,), talk)
        self._note_tools(fact, talk)
        self._note_head(fact, talk, before)
        return self._join_waiting(tip, talk)

    def _note_tools(self, fact: Facts, talk: Talk) -> None:
        for message in fact.output:
            for request in message.tool_requests:
                if request.id:
                    key = tool_key(fact, request)
                    _index(self._tools, key, talk, talk.pending_tools)
        last = _last_reply(fact.input)
        if last is not None:
            for request in fact.input[last].tool_requests:
                key = tool_key(fact, request)
                if talk.pending_tools.pop(key, False) is None:
                    _unindex(self._tools, (key,), talk)

    def _note_head(self, fact: Facts, talk: Talk, chain: list[bytes]) -> None:
        """Wait for the call that this one continues, when it was never seen."""
        last = _last_reply(fact.input)
        if last is None or len(talk.traces) > 1 or talk.number > 1:
            return
        head = chain[last]
        if head not in self._continued and head not in self._tips:
            _index(self._heads, head, talk, talk.heads)

    def _join_waiting(self, tip: bytes, talk: Talk) -> Talk:
        waiting = [other for other in self._heads.get(tip, ()) if other is not talk]
        if len(waiting) != 1 or len(self._tips.get(tip, ())) != 1:
            return talk
        later = waiting[0]
        if not self._merge(later, talk):
            return talk
        del talk.tips[tip]
        _unindex(self._tips, (tip,), talk)
        _index(self._continued, tip, talk, talk.continued)
        self._count("history", "joined_late")
        return talk

    def _merge(self, source: Talk, target: Talk) -> bool:
        """Make an anonymous conversation part of another, unless it was decided already."""
        if source.explicit or source.decided or source.number > 1 or source is target:
            return False
        self.forget(source)
        for trace_id in source.traces:
            self._touch_trace(trace_id, target)
        for response in source.responses:
            _index(self._responses, response, target, target.responses)
        if not target.explicit:
            for tip in source.tips:
                _index(self._tips, tip, target, target.tips)
            for key in source.continued:
                _index(self._continued, key, target, target.continued)
            for tool in source.pending_tools:
                _index(self._tools, tool, target, target.pending_tools)
        self._merged(source, target)
        return True


def _key_of_trace(name: str) -> str:
    return f"trace:{name}"


def _is_bare(talk: Talk) -> bool:
    """Say whether nothing was said in an anonymous conversation so far."""
    return not (talk.explicit or talk.tips or talk.continued)


def _last_reply(messages: tuple[Message, ...]) -> int | None:
    """Return the index of the last assistant message."""
    for index in range(len(messages) - 1, -1, -1):
        if messages[index].role == "assistant":
            return index
    return None


def _index(index: dict[_K, _Talks], key: _K, talk: Talk, own: dict[_K, None] | None = None) -> None:
    index.setdefault(key, {})[talk] = None
    if own is not None:
        own[key] = None


def _unindex(index: dict[_K, _Talks], keys: Iterable[_K], talk: Talk) -> None:
    for key in keys:
        talks = index.get(key)
        if talks is not None and talks.pop(talk, False) is None and not talks:
            del index[key]
