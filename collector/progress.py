"""Note on an open episode what its completion depends on, as its spans come in."""

from __future__ import annotations

from collector.model import Facts
from collector.realms import trace_of
from collector.talk import Held, OpenEpisode

CLOCK_SKEW_S = 3600.0
"""How far a sender's clock may be ahead of ours before its times are cut."""

_ACTIVE_ROLES = ("llm", "tool", "agent", "retriever")


def note(episode: OpenEpisode, held: Held, facts: Facts, now: float) -> None:
    """Keep what completion depends on, so that content can leave memory.

    A clock far ahead of ours must not make everything after it late.
    """
    latest = int((now + CLOCK_SKEW_S) * 1e9)
    episode.active |= facts.role in _ACTIVE_ROLES or bool(facts.conversation_id)
    episode.failed |= bool(facts.error)
    start = min(facts.start_ns, latest)
    episode.started_ns = min(episode.started_ns or start, start) or start
    episode.ended_ns = max(episode.ended_ns, min(facts.end_ns, latest), start)
    if trace := trace_of(facts):
        root_ended = not held.is_log and not facts.parent_id and facts.end_ns > 0
        episode.traces[trace] = episode.traces.get(trace, False) or root_ended
    # A copy of a call without its content says nothing about how the call ended.
    told = facts.role == "llm" and (facts.output or facts.finish_reason)
    if told and facts.start_ns >= episode.latest_call_ns:
        episode.latest_call_ns = facts.start_ns
        asked = bool(facts.output and facts.output[-1].tool_requests)
        episode.waits_for_tool = asked or facts.finish_reason == "tool_call"
