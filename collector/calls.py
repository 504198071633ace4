"""Find the model calls and tool calls behind many spans.

One model call arrives as two to four spans: an SDK's own inside an instrumentor's, the
provider's, a proxy's. The same response id, or a model span under a model span, is one call; so
is one beside another, within its time, that says no word.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Sequence
from typing import Protocol

import msgspec

from collector.merging import merge
from collector.message_keys import canonical
from collector.model import Facts, JsonValue, LlmCall, ToolCall, Usage
from collector.twins import paired


class ModelCall(msgspec.Struct, frozen=True, kw_only=True):
    """All facts about one model call."""

    facts: tuple[Facts, ...]
    content: Facts
    """The facts with the richest content."""
    agents: tuple[str, ...]
    """Ids of the two nearest agent and tool spans above it."""
    parent_id: str = ""
    """Parent of its outermost span."""
    task: Facts | None = None
    """What the span around it tells of its reply."""

    @property
    def start_ns(self) -> int:
        """Return when the outermost span began."""
        return min(f.start_ns for f in self.facts)


def model_calls(facts: Sequence[Facts]) -> list[ModelCall]:
    """Group the model facts of one conversation into calls, ordered by start."""
    by_span = {f.span_id: f for f in facts if f.span_id}
    leader: dict[int, int] = {}
    by_response: dict[tuple[str, str], int] = {}
    position = {id(f): n for n, f in enumerate(facts)}

    def root(n: int) -> int:
        while leader.get(n, n) != n:
            n = leader[n]
        return n

    models = [n for n, f in enumerate(facts) if f.role == "llm"]
    for n in models:
        leader.setdefault(n, n)
        fact = facts[n]
        above = by_span.get(fact.parent_id)
        if above is not None and above.role == "llm":
            outer = position[id(above)]
            leader.setdefault(outer, outer)
            leader[root(n)] = root(outer)
        if fact.response_id:
            first = by_response.setdefault((fact.identity.tenant, fact.response_id), n)
            if not _are_two(facts[first], fact):
                leader[root(n)] = root(first)
    groups: dict[int, list[Facts]] = {}
    for n in models:
        groups.setdefault(root(n), []).append(facts[n])
    kin = _Kin(by_span)
    calls = [_model_call(group, kin) for group in paired(groups.values())]
    return sorted(calls, key=lambda call: call.start_ns)


def _are_two(one: Facts, other: Facts) -> bool:
    """Tell whether spans that share a response's id are two calls.

    They are where one came after the other, each with words of its own: Azure's agents give
    the id of the whole run.
    """
    apart = min(one.end_ns, other.end_ns) <= max(one.start_ns, other.start_ns)
    ended = bool(one.end_ns and other.end_ns)
    return ended and apart and bool(one.output and other.output) and one.output != other.output


def _model_call(group: list[Facts], kin: _Kin) -> ModelCall:
    ids = {f.span_id for f in group}
    outer = next((f for f in group if f.parent_id not in ids), group[0])
    content = max(group, key=_content)
    task = kin.task(outer.parent_id, content)
    if task is not None and not any(m.text or m.tool_requests for m in content.output):
        content = msgspec.structs.replace(content, output=task.output)
    return ModelCall(
        facts=tuple(group),
        content=content,
        agents=kin.above(outer.parent_id),
        parent_id=outer.parent_id,
        task=task,
    )


class _Kin:
    """Find the agents above a span, walking each step of a deep trace once."""

    def __init__(self, by_span: dict[str, Facts]) -> None:
        self._by_span = by_span
        self._known: dict[str, tuple[str, ...]] = {"": ()}

    def task(self, span_id: str, call: Facts) -> Facts | None:
        """Return a span around a call that tells of the call's own reply."""
        task = self._by_span.get(span_id)
        if task is None or task.role != "chain" or task.usage is None or call.usage is None:
            return None
        one, other = task.usage, call.usage
        same = (one.input, one.output) == (other.input, other.output)
        return (
            task
            if same and task.response_id in ("", call.response_id or task.response_id)
            else None
        )

    def above(self, span_id: str) -> tuple[str, ...]:
        """Return the two nearest agent and tool spans from this span upwards."""
        path: list[Facts] = []
        seen: set[str] = set()
        while span_id not in self._known and span_id not in seen:
            fact = self._by_span.get(span_id)
            if fact is None:
                break
            seen.add(span_id)
            path.append(fact)
            span_id = fact.parent_id
        agents = self._known.get(span_id, ())
        for fact in reversed(path):
            if fact.role in ("agent", "tool"):
                agents = (fact.span_id, *agents)[:2]
            self._known[fact.span_id] = agents
        return agents


def _content(fact: Facts) -> tuple[int, int]:
    return (bool(fact.input) + bool(fact.output), len(fact.input) + len(fact.output))


def llm_call(call: ModelCall, *, agent: str = "") -> LlmCall:
    """Sum a call up: the richest content, usage counted once, the outermost times."""
    facts = call.facts
    return LlmCall(
        span_ids=tuple(f.span_id for f in facts if f.span_id),
        trace_id=facts[0].trace_id,
        provider=_first(f.provider for f in facts),
        model=_first(f.model for f in facts),
        response_id=_first(f.response_id for f in facts),
        usage=_usage([*facts, call.task] if call.task else facts),
        cost_usd=next((f.cost_usd for f in facts if f.cost_usd is not None), None),
        started_ns=call.start_ns,
        ended_ns=max(f.end_ns for f in facts),
        finish_reason=call.content.finish_reason
        or next((f.finish_reason for f in (*facts, call.task) if f and f.finish_reason), ""),
        first_token_s=next((f.first_token_s for f in facts if f.first_token_s is not None), None),
        error=_first(f.error for f in facts),
        has_input=any(f.input for f in facts),
        has_output=any(f.output for f in facts),
        truncated=call.content.truncated,
        agent=agent,
    )


def _usage(facts: Sequence[Facts]) -> Usage | None:
    """Take the count of the innermost span that has one, which is nearest to the wire.

    What wraps a client may count a stream's first tokens twice, or not see its last ones.
    """
    counted = [(f.usage, f.start_ns) for f in facts if f.usage is not None]
    if not counted:
        return None
    best, _ = max(counted, key=lambda c: (bool(c[0].input and c[0].output), c[1], _size(c[0])))
    said = [usage for usage, _ in counted]
    return msgspec.structs.replace(
        best,
        cache_read=best.cache_read or max(u.cache_read for u in said),
        cache_write=best.cache_write or max(u.cache_write for u in said),
        reasoning=best.reasoning or max(u.reasoning for u in said),
    )


def _size(usage: Usage) -> int:
    return usage.input + usage.output


def _first(values: Iterable[str]) -> str:
    return next((value for value in values if value), "")


def tool_facts(facts: Sequence[Facts]) -> list[Facts]:
    """Return one fact per tool execution; a client span inside a tool span is the same one."""
    by_span = {f.span_id: f for f in facts if f.span_id}
    tools = []
    for fact in facts:
        if fact.role != "tool" or fact.tool is None:
            continue
        above = by_span.get(fact.parent_id)
        if (
            above is not None
            and above.role == "tool"
            and above.tool is not None
            and above.tool.name == fact.tool.name
        ):
            continue
        tools.append(fact)
    return _once(sorted(tools, key=lambda f: f.start_ns))


def _once(tools: list[Facts]) -> list[Facts]:
    """Join a tool's span with the log record that tells of the same call by its id."""
    found: list[Facts] = []
    by_call: dict[tuple[str, str], int] = {}
    for fact in tools:
        key = (fact.tool.id, fact.tool.name) if fact.tool else ("", "")
        place = by_call.get(key)
        if key[0] and place is not None and _are_one(found[place], fact):
            spans = (found[place], fact) if found[place].span_id else (fact, found[place])
            found[place] = merge(*spans)
        else:
            by_call[key] = len(found)
            found.append(fact)
    return found


def _are_one(one: Facts, other: Facts) -> bool:
    """Tell whether two facts about a call's id are its span and its record, or its two ends.

    Voice frameworks tell of a call and of its result in a span each.
    """
    if bool(one.span_id) != bool(other.span_id):
        return True
    later = other.tool.arguments if other.tool else None
    return one.tool_result is None and other.tool_result is not None and later is None


def join_tools(calls: Sequence[ToolCall], facts: Sequence[Facts]) -> list[ToolCall]:
    """Give each call from the history its span, and append the calls only a span told of.

    A span joins by id and name; without an id by name and arguments in order of time; else
    by name in order of time.
    """
    joined = list(calls)
    unmatched = [fact for fact in facts if fact.tool is not None]
    free = set(range(len(joined)))
    for key_of_call, key_of_fact in _MATCHES:
        waiting: dict[object, deque[int]] = {}
        for position in sorted(free):
            key = key_of_call(joined[position])
            if key is not None:
                waiting.setdefault(key, deque()).append(position)
        rest = []
        for fact in unmatched:
            found = waiting.get(key_of_fact(fact.tool)) if fact.tool is not None else None
            if found:
                position = found.popleft()
                free.remove(position)
                joined[position] = _with_span(joined[position], fact)
            else:
                rest.append(fact)
        unmatched = rest
    joined.extend(_from_span(fact) for fact in unmatched)
    return joined


class _Asked(Protocol):
    """What a call and a span's request have in common."""

    @property
    def id(self) -> str:
        """Return the call's id."""

    @property
    def name(self) -> str:
        """Return the tool's name."""

    @property
    def arguments(self) -> JsonValue:
        """Return the arguments."""


def _by_id(asked: _Asked) -> object:
    return (asked.id, asked.name) if asked.id else None


def _by_arguments(asked: _Asked) -> object:
    # A call without arguments is written as nothing, or as an empty object.
    return (asked.name, canonical(asked.arguments or None))


def _by_arguments_without_id(asked: _Asked) -> object:
    return None if asked.id else _by_arguments(asked)


def _by_name(asked: _Asked) -> object:
    return asked.name


def _by_name_without_id(asked: _Asked) -> object:
    return None if asked.id else asked.name


def _by_name_if_vague(asked: _Asked) -> object:
    """Only a span that names neither id nor arguments joins by its name alone."""
    return None if asked.id or isinstance(asked.arguments, dict) else asked.name


_MATCHES: tuple[tuple[Callable[[_Asked], object], Callable[[_Asked], object]], ...] = (
    (_by_id, _by_id),
    (_by_arguments_without_id, _by_arguments),
    (_by_arguments, _by_arguments_without_id),
    (_by_name, _by_name_if_vague),
    (_by_name_without_id, _by_name),
)
"""How a call and a span are compared, surest first; ``None`` never matches."""


def _with_span(call: ToolCall, fact: Facts) -> ToolCall:
    tool = fact.tool
    return msgspec.structs.replace(
        call,
        id=call.id or (tool.id if tool else ""),
        arguments=tool.arguments if tool and call.arguments is None else call.arguments,
        span_id=fact.span_id,
        trace_id=fact.trace_id,
        started_ns=fact.start_ns,
        ended_ns=fact.end_ns,
        result=fact.tool_result if call.result is None else call.result,
        is_error=fact.tool_is_error if call.is_error is None else call.is_error,
        requestor="user" if fact.user_side else call.requestor,
        simulated=fact.simulated,
        truncated=fact.truncated,
    )


def _from_span(fact: Facts) -> ToolCall:
    tool = fact.tool
    return ToolCall(
        id=tool.id if tool else "",
        name=tool.name if tool else fact.name,
        arguments=tool.arguments if tool else None,
        result=fact.tool_result,
        is_error=fact.tool_is_error,
        span_id=fact.span_id,
        trace_id=fact.trace_id,
        started_ns=fact.start_ns,
        ended_ns=fact.end_ns,
        requestor="user" if fact.user_side else "agent",
        simulated=fact.simulated,
        truncated=fact.truncated,
    )
