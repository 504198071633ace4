"""Turn a decided episode into what its metrics rise by."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence

from alerts.labels import Labels
from alerts.metrics import CATALOGUE
from collector.model import Conversation, Decided, LlmCall, ScoreRecord, ToolCall
from collector.totals import Deltas, SeriesKey, add, observe, series
from scorers.rules.looping import looping, wasted_by_looping
from scorers.rules.tool_error_kind import error_kind
from scorers.rules.tool_outcome import outcome_of
from scorers.rules.unneeded_call import redundant_calls

_TOKEN_CHARS = 4
_ERROR_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_.]{0,63}")


class QualityMeter:
    """Count each first verdict, each correction and each call of an episode once.

    Pure but for the labels it admits, so that the rises can be committed together with
    what they count.
    """

    def __init__(self, labels: Labels) -> None:
        self._labels = labels
        self.exemplars: dict[SeriesKey, str] = {}
        """The trace of the last stored verdict of each ``scores_total`` series."""

    def deltas(
        self,
        decided: Decided,
        first: Sequence[ScoreRecord],
        revised: Sequence[tuple[ScoreRecord, ScoreRecord]],
    ) -> Deltas:
        """Return what the totals rise by.

        Args:
            decided: the episode; only its first decision (revision 0) counts the episode, its
                calls and its ledger rows.
            first: verdicts on targets that had none before.
            revised: (earlier, later) verdicts on one target.
        """
        deltas: Deltas = {}
        who = self._who(decided.conversation)
        for alike in _grouped(first):
            self._verdict(deltas, who, alike, stored=decided.sampling.kept)
        for earlier, later in revised:
            if earlier.verdict != later.verdict:
                # "from" is a keyword of the language, so these labels come as a mapping.
                ends = {"from": earlier.verdict, "to": later.verdict}
                scorer = self._labels.admit("scorer", later.scorer)
                add(deltas, "score_revisions_total", 1.0, scorer=scorer, **ends)
        if decided.complete and decided.revision == 0:
            add(deltas, "episodes_total", 1.0, **who)
            self._ledger(deltas, decided)
            self._loops(deltas, who["agent"], decided)
            self._calls(deltas, who["agent"], decided.conversation)
        return deltas

    def _who(self, conversation: Conversation) -> dict[str, str]:
        identity, admit = conversation.identity, self._labels.admit
        return {
            "agent": admit("agent", identity.agent),
            "agent_version": admit("agent_version", identity.agent_version),
            "environment": admit("environment", identity.environment),
            "variant": admit("variant", identity.variant),
        }

    def _verdict(
        self, deltas: Deltas, who: dict[str, str], alike: list[ScoreRecord], *, stored: bool
    ) -> None:
        """Count verdicts of one scorer that say the same."""
        score, amount = alike[0], len(alike)
        scorer = self._labels.admit("scorer", score.scorer)
        if score.verdict == "failure":
            error = self._labels.admit("error", error_name(score.reason))
            add(deltas, "score_failures_total", amount, scorer=scorer, error=error)
        if score.verdict not in ("pass", "fail"):
            return
        version = self._labels.admit("scorer_version", score.scorer_version)
        labels = {**who, "scorer": scorer, "scorer_version": version}
        add(deltas, "scores_total", amount, **labels, verdict=score.verdict)
        trace_id = next((s.trace_id for s in reversed(alike) if s.trace_id), "")
        if stored and trace_id:
            self.exemplars[series("scores_total", **labels, verdict=score.verdict)] = trace_id
        if score.value is not None:
            bounds = CATALOGUE["score_value"].buckets
            observe(deltas, "score_value", score.value, bounds, amount, **labels)

    def _ledger(self, deltas: Deltas, decided: Decided) -> None:
        for row in decided.decisions:
            reason = self._labels.admit("reason", row.reason)
            scorer = self._labels.admit("scorer", row.scorer)
            add(deltas, "decisions_total", 1.0, scorer=scorer, decision=row.decision, reason=reason)

    def _loops(self, deltas: Deltas, agent: str, decided: Decided) -> None:
        if not any(s.scorer == looping.name and s.verdict == "fail" for s in decided.scores):
            return
        waste = wasted_by_looping(decided.conversation)
        if waste.tokens:
            add(deltas, "loop_tokens_total", waste.tokens, agent=agent)
        if waste.cost_usd:
            add(deltas, "loop_cost_usd_total", waste.cost_usd, agent=agent)

    def _calls(self, deltas: Deltas, agent: str, conversation: Conversation) -> None:
        # Neither what the user ran nor what nobody ran says how the agent's tools do.
        tool_calls = [
            c for c in conversation.tool_calls if c.requestor != "user" and not c.simulated
        ]
        llm_calls = conversation.llm_calls
        self._tool_calls(deltas, agent, tool_calls)
        for name, amount in redundant_calls(conversation).items():
            tool = self._labels.admit("tool", name)
            add(deltas, "tool_calls_redundant_total", amount, agent=agent, tool=tool)
        self._llm_calls(deltas, agent, llm_calls)
        for kind, seen in (
            ("arguments", [call.arguments is not None for call in tool_calls]),
            ("result", [call.result is not None for call in tool_calls]),
            ("input", [call.has_input for call in llm_calls]),
            ("output", [call.has_output for call in llm_calls]),
        ):
            if seen:
                # Written with 0 too, so that a ratio of the two is 0 and not absent.
                add(deltas, "content_expected_total", len(seen), agent=agent, kind=kind)
                add(deltas, "content_seen_total", sum(seen), agent=agent, kind=kind)

    def _tool_calls(self, deltas: Deltas, agent: str, calls: Sequence[ToolCall]) -> None:
        bounds = CATALOGUE["tool_call_duration_seconds"].buckets
        outcomes = Counter((call.name, tool_outcome(call)) for call in calls)
        tools = {name: self._labels.admit("tool", name) for name, _ in outcomes}
        for (name, outcome), amount in outcomes.items():
            labels = {"agent": agent, "tool": tools[name], "outcome": outcome}
            add(deltas, "tool_calls_total", amount, **labels)
        kinds = Counter((call.name, kind) for call in calls if (kind := error_kind(call)))
        for (name, kind), amount in kinds.items():
            labels = {"agent": agent, "tool": tools[name], "kind": kind}
            add(deltas, "tool_errors_total", amount, **labels)
        sizes: Counter[str] = Counter()
        for call in calls:
            sizes[call.name] += -(-len(call.result or "") // _TOKEN_CHARS)
        for name, size in sizes.items():
            if size:
                add(deltas, "tool_result_tokens_total", size, agent=agent, tool=tools[name])
        for call in calls:
            if call.started_ns and call.ended_ns >= call.started_ns:
                seconds = (call.ended_ns - call.started_ns) / 1e9
                labels = {"agent": agent, "tool": tools[call.name]}
                observe(deltas, "tool_call_duration_seconds", seconds, bounds, 1, **labels)

    def _llm_calls(self, deltas: Deltas, agent: str, calls: Sequence[LlmCall]) -> None:
        tokens: Counter[tuple[str, str]] = Counter()
        for call in calls:
            if call.usage is not None:
                for kind in ("input", "output", "cache_read", "cache_write", "reasoning"):
                    tokens[call.model, kind] += max(0, getattr(call.usage, kind))
            if call.cost_usd is not None and call.cost_usd > 0:
                model = self._labels.admit("model", call.model)
                add(deltas, "llm_cost_usd_total", call.cost_usd, agent=agent, model=model)
        for (name, kind), amount in tokens.items():
            if amount:
                model = self._labels.admit("model", name)
                add(deltas, "llm_tokens_total", amount, agent=agent, model=model, kind=kind)


def _grouped(scores: Sequence[ScoreRecord]) -> Iterable[list[ScoreRecord]]:
    """Put together the verdicts that raise the same series, so that each is raised once."""
    groups: dict[tuple[str, str, str, float | None, str], list[ScoreRecord]] = {}
    for score in scores:
        reason = score.reason if score.verdict == "failure" else ""
        key = (score.scorer, score.scorer_version, score.verdict, score.value, reason)
        groups.setdefault(key, []).append(score)
    return groups.values()


def error_name(reason: str) -> str:
    """Return the error's class from a failure's reason: ``TypeError`` of ``TypeError: text``."""
    name = reason.partition(":")[0]
    return name if _ERROR_NAME.fullmatch(name) else "unknown"


def tool_outcome(call: ToolCall) -> str:
    """Return ``ok``, ``error`` or ``unknown``, by the producer's flag, else by the result."""
    if call.result is None and call.is_error is False:
        return "ok"
    kind = outcome_of(call).kind
    return kind if kind in ("error", "unknown") else "ok"
