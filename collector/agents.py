"""Keep the tree of agents: which agent ran which, and which made which call."""

from __future__ import annotations

from collections.abc import Sequence

from collector.model import AgentRun, Facts

PREFIXES = ("invoke_agent ", "agent run ", "agent_run ")
SUFFIXES = (".agent", ".run", " run", ".kickoff")


class AgentTree:
    """The agents of one conversation, found by walking each step of a deep trace once."""

    def __init__(self, facts: Sequence[Facts]) -> None:
        self._by_span = {f.span_id: f for f in facts if f.span_id}
        self._known: dict[str, str] = {"": ""}

    def above(self, span_id: str) -> str:
        """Return the nearest agent's span id from this span upwards; empty when there is none."""
        path: list[Facts] = []
        seen: set[str] = set()
        while span_id not in self._known and span_id not in seen:
            fact = self._by_span.get(span_id)
            if fact is None:
                break
            seen.add(span_id)
            path.append(fact)
            span_id = fact.parent_id
        agent = self._known.get(span_id, "")
        for fact in reversed(path):
            agent = fact.span_id if fact.role == "agent" else agent
            self._known[fact.span_id] = agent
        return agent

    def runs(self) -> list[AgentRun]:
        """Return every agent's run, in order of start."""
        found = [
            AgentRun(
                span_id=fact.span_id,
                parent=self.above(fact.parent_id),
                name=name_of(fact),
                trace_id=fact.trace_id,
                started_ns=fact.start_ns,
                ended_ns=fact.end_ns,
                error=fact.error,
            )
            for fact in self._by_span.values()
            if fact.role == "agent"
        ]
        return sorted(found, key=lambda run: run.started_ns)


def name_of(fact: Facts) -> str:
    """Return the agent's name, without the words that frameworks put around it in span names."""
    name = fact.name
    for prefix in PREFIXES:
        name = name.removeprefix(prefix)
    for suffix in SUFFIXES:
        name = name.removesuffix(suffix)
    return name or fact.identity.agent
