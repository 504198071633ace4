"""Choose the conversations that are stored in full, and say how likely each was.

The choice is a threshold on a hash of the conversation id, as OpenTelemetry's consistent
probability sampling draws it: a 56-bit random value R is kept if R >= (1 - p) * 2^56. So all
episodes of a conversation agree, a lower rate keeps a subset of what a higher one keeps,
and whoever samples the stored rows again by the same R can tell the joint probability.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from hashlib import blake2b
from typing import TypeAlias

from collector.config import SampleConfig
from collector.model import Conversation, Sampling, ScoreRecord
from collector.totals import SeriesKey

AgentVersion: TypeAlias = tuple[str, str]
"""Agent and its version."""

_BITS = 56


def randomness(id: str) -> int:
    """Return the 56-bit R of a conversation, the same in every process and release."""
    return int.from_bytes(blake2b(id.encode("utf-8", "surrogatepass"), digest_size=7).digest())


def trace_randomness(trace_id: str) -> int:
    """Return the 56-bit R of a trace: the last 14 hex digits of its id (W3C trace context 2)."""
    return int(trace_id[-14:], 16)


def threshold(rate: float) -> int:
    """Return T: a value R is kept where R >= T. A rate of 0 keeps nothing, of 1 everything."""
    return (1 << _BITS) - round(rate * (1 << _BITS))


def versions_in(totals: Mapping[SeriesKey, float]) -> dict[AgentVersion, int]:
    """Return how many episodes each agent version had."""
    versions: dict[AgentVersion, int] = {}
    for (name, pairs), value in totals.items():
        if name == "episodes_total":
            labels = dict(pairs)
            key = (labels.get("agent", ""), labels.get("agent_version", ""))
            versions[key] = versions.get(key, 0) + int(value)
    return versions


MAX_VERSIONS = 50_000
"""Agent versions that are told apart; a version that changes with every call is none."""


class Sampler:
    """Decide about episodes and plain traces.

    Args:
        config: rates and always-keep rules.
        seen_versions: episodes decided so far by agent version, from the totals of earlier
            runs, so that a restart does not make every version new again.
    """

    def __init__(
        self, config: SampleConfig, *, seen_versions: Mapping[AgentVersion, int] | None = None
    ) -> None:
        self._config = config
        self._threshold = threshold(config.rate)
        self._plain_threshold = threshold(config.plain_trace_rate)
        self._seen: dict[AgentVersion, int] = dict(seen_versions or {})

    def decide(
        self, conversation: Conversation, scores: Iterable[ScoreRecord], *, had_error: bool
    ) -> Sampling:
        """Decide whether an episode's content is kept.

        A rule's find is kept with probability 1, because it would have been kept whatever
        its hash; everything else with the configured rate. Each call counts one episode of
        its agent version, revisions too, so call it once per decision.

        Args:
            conversation: the episode.
            scores: its verdicts.
            had_error: whether a span of it failed.
        """
        version = (conversation.identity.agent, conversation.identity.agent_version)
        room = len(self._seen) < MAX_VERSIONS
        before = self._seen.get(version, 0 if room else self._config.keep_new_version)
        if before < self._config.keep_new_version:
            self._seen[version] = before + 1
        rule = self._rule(list(scores), before, had_error=had_error)
        if rule:
            return Sampling(kept=True, probability=1.0, rule=rule)
        kept = randomness(conversation.id) >= self._threshold
        # A row that was not kept still says how likely it was; 0 would divide by nothing.
        return Sampling(kept=kept, probability=self._config.rate or 2.0**-_BITS, rule="hash")

    def keep_trace(self, trace_id: str) -> bool:
        """Decide whether a trace without any model or tool call is stored."""
        return trace_randomness(trace_id) >= self._plain_threshold

    def _rule(self, scores: list[ScoreRecord], before: int, *, had_error: bool) -> str:
        config = self._config
        if config.keep_failing and any(score.verdict == "fail" for score in scores):
            return "failing"
        if config.keep_errors and (had_error or any(s.verdict == "failure" for s in scores)):
            return "error"
        if before < config.keep_new_version:
            return "new_version"
        return ""
