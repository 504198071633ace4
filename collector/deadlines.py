"""Say when an open episode is over, and why."""

from __future__ import annotations

from collector.config import AssembleConfig
from collector.model import EndReason
from collector.talk import OpenEpisode, Talk


def deadline(config: AssembleConfig, talk: Talk, episode: OpenEpisode) -> tuple[float, EndReason]:
    """Return the second at which an episode is decided if nothing more comes, and the reason."""
    limit = episode.opened_s + config.max_episode
    reason: EndReason = "idle"
    if episode.end_s is not None:
        due, reason = max(episode.end_s, episode.last_s) + config.end_grace, "explicit"
    elif not episode.active:
        due = episode.last_s + config.lone_trace_timeout
    elif not talk.explicit and _is_over(episode):
        due, reason = episode.last_s + config.lone_trace_timeout, "lone_trace"
    else:
        due = episode.last_s + config.idle_timeout
    return (due, reason) if due <= limit else (limit, "truncated")


def _is_over(episode: OpenEpisode) -> bool:
    """Say whether every trace of an episode has ended and its last reply waits for no tool."""
    return bool(episode.traces) and all(episode.traces.values()) and not episode.waits_for_tool
