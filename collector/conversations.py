"""Build the conversation of one episode from the facts that its spans gave."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from collector.agents import AgentTree
from collector.builder import conversation_of
from collector.calls import ModelCall, join_tools, llm_call, model_calls, tool_facts
from collector.history import history_of, with_results
from collector.message_keys import MessageKeys
from collector.model import (
    Conversation,
    Document,
    Episode,
    Facts,
    Identity,
    Message,
    ToolCall,
    ToolDefinition,
)


def derived_version(fact: Facts, keys: MessageKeys) -> str:
    """Return the declared version, else a hash over system prompt, tools and model."""
    if fact.identity.agent_version:
        return fact.identity.agent_version
    return keys.version(fact.system_prompt, fact.tools, fact.model)


class Built(msgspec.Struct, frozen=True, kw_only=True):
    """A conversation and what a later episode needs to know of it."""

    conversation: Conversation
    tip: bytes
    """Key of the whole message history, before results known only from spans were put in."""
    repeats: bool
    """Whether the producer repeats the whole history, so that nobody else must remember it."""


def build(
    facts: Sequence[Facts],
    *,
    id: str,
    explicit: bool,
    episode: Episode,
    keys: MessageKeys,
    context: Sequence[Message] = (),
    context_tip: bytes = b"",
) -> Built:
    """Build the conversation as of one episode.

    ``facts`` are the episode's, in any order. ``context`` are the messages of earlier
    episodes where they are still at hand, ``context_tip`` the key of their history: what
    comes after it is this episode's own.
    """
    calls = model_calls(facts)
    agents = [f for f in facts if f.role in ("agent", "chain")]
    tools = tool_facts(facts)
    tree = AgentTree(facts)
    retrievals = [f for f in facts if f.role == "retriever"]
    messages, inner = history_of(calls, agents, keys=keys, context=context, retrievals=retrievals)
    chain = keys.chain(b"", messages)
    first = chain.index(context_tip) + 1 if context_tip in chain else 0
    answered = {m.tool_call_id for m in messages if m.role == "tool"}
    named = [f for f in tools if f.tool is not None and f.tool.id]
    before = with_results(messages[:first], named, answered=answered)
    after = with_results(messages[first:], tools, answered=answered)
    conversation = conversation_of(
        [*before, *after],
        id=id,
        identity=_identity(facts, keys),
        explicit=explicit,
        episode=msgspec.structs.replace(episode, first_message=len(before)),
        system_prompt=_system_prompt([c.content for c in calls], agents),
        tools=_tools(facts),
        llm_calls=[llm_call(call, agent=tree.above(call.parent_id)) for call in calls],
        documents=_documents(facts),
        trace_ids=dict.fromkeys(f.trace_id for f in facts if f.trace_id),
        span_count=len({(f.trace_id, f.span_id) for f in facts}),
    )
    asked = [
        ToolCall(id=r.id, name=r.name, arguments=r.arguments)
        for call in inner
        for m in call.content.output
        for r in m.tool_requests
    ]
    joined = join_tools([*conversation.tool_calls, *asked], tools)
    return Built(
        conversation=msgspec.structs.replace(
            conversation,
            tool_calls=tuple(_with_agent(call, tree) for call in joined),
            agents=tuple(tree.runs()),
        ),
        tip=chain[-1] if chain else b"",
        repeats=_repeats(calls, chain, keys),
    )


def _with_agent(call: ToolCall, tree: AgentTree) -> ToolCall:
    agent = tree.above(call.span_id)
    return msgspec.structs.replace(call, agent=agent) if agent else call


def _repeats(calls: Sequence[ModelCall], chain: list[bytes], keys: MessageKeys) -> bool:
    if not calls or not chain:
        return True
    last = calls[-1].content
    return keys.chain(b"", (*last.input, *last.output))[-1:] == chain[-1:]


def _system_prompt(calls: Sequence[Facts], agents: Sequence[Facts]) -> str:
    """Return the first one; where a call failed, the agent's span may still tell it."""
    told = (f.system_prompt for f in (*calls, *agents))
    return next((prompt for prompt in told if prompt), "")


def _identity(facts: Sequence[Facts], keys: MessageKeys) -> Identity:
    """Take the outermost agent's identity, with the version that its first call shows."""
    ordered = sorted(facts, key=lambda f: f.start_ns)
    speaking = [f for f in ordered if f.role in ("agent", "llm")] or ordered
    first = speaking[0].identity
    version = first.agent_version
    if not version:
        call = next((f for f in ordered if f.role == "llm" and (f.system_prompt or f.model)), None)
        version = derived_version(call, keys) if call is not None else ""
    return msgspec.structs.replace(
        first,
        agent_version=version,
        user_hash=next((f.identity.user_hash for f in ordered if f.identity.user_hash), ""),
        pair_id=next((f.identity.pair_id for f in ordered if f.identity.pair_id), ""),
    )


def _tools(facts: Sequence[Facts]) -> list[ToolDefinition]:
    """Return every tool that was offered; what one definition leaves out another may say."""
    tools: dict[str, ToolDefinition] = {}
    seen: set[int] = set()
    for fact in facts:
        if id(fact.tools) in seen:
            continue
        seen.add(id(fact.tools))
        for tool in fact.tools:
            known = tools.get(tool.name)
            if known is None or (known.parameters is None and tool.parameters is not None):
                tools[tool.name] = tool
            elif tool.description and not known.description:
                tools[tool.name] = msgspec.structs.replace(known, description=tool.description)
    return list(tools.values())


def _documents(facts: Sequence[Facts]) -> list[Document]:
    """Return what was retrieved, in order; a passage that was found or ranked again once."""
    found: dict[tuple[str, str], Document] = {}
    nameless: list[Document] = []
    for fact in sorted(facts, key=lambda f: f.start_ns):
        for document in fact.documents:
            if document.text or document.id:
                found[document.text and document.id, document.text or document.id] = document
            else:
                nameless.append(document)
    return [*found.values(), *nameless]
