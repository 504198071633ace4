"""Measure the scorers on whole conversations that ended well: how often each flags one, and what it costs."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

import msgspec

from collector.model import Conversation
from scorers.interval import Interval, wilson
from scorers.runner import Runner
from scorers.scorer import ScorerInfo


class Flagged(msgspec.Struct, frozen=True, kw_only=True):
    """How often a scorer fails something in conversations whose environment calls them successful."""

    scorer: str
    conversations: int
    """Of which it judged at least one target."""
    flagged: int
    targets: int
    failed_targets: int

    @property
    def share(self) -> Interval | None:
        """Share of the conversations."""
        return wilson(self.flagged, self.conversations)

    @property
    def share_of_targets(self) -> Interval | None:
        """Share of the targets: calls or turns, where it judges those."""
        return wilson(self.failed_targets, self.targets)


def flagged(
    talks: Iterable[tuple[Conversation, dict[str, Any]]], scorers: Sequence[ScorerInfo]
) -> list[Flagged]:
    """Run every scorer on the successful conversations."""
    runner = Runner(scorers, clock_ns=lambda: 0, seconds=lambda: 0.0)
    judged: Counter[str] = Counter()
    failing: Counter[str] = Counter()
    targets: Counter[str] = Counter()
    failed: Counter[str] = Counter()
    for conversation, labels in talks:
        if not labels.get("success"):
            continue
        records, _ = runner.run(conversation)
        scored = [one for one in records if one.verdict in ("pass", "fail")]
        targets.update(one.scorer for one in scored)
        failed.update(one.scorer for one in scored if one.verdict == "fail")
        judged.update({one.scorer for one in scored})
        failing.update({one.scorer for one in scored if one.verdict == "fail"})
    return [
        Flagged(
            scorer=info.name,
            conversations=judged[info.name],
            flagged=failing[info.name],
            targets=targets[info.name],
            failed_targets=failed[info.name],
        )
        for info in scorers
    ]


def milliseconds(
    talks: Sequence[Conversation], scorers: Sequence[ScorerInfo], *, rounds: int = 3
) -> float:
    """Return the processor time of all scorers together on one conversation, the mean of the fastest round."""
    runner = Runner(scorers, clock_ns=lambda: 0, seconds=lambda: 0.0)
    took = []
    for _ in range(rounds):
        started = time.process_time()
        for talk in talks:
            runner.run(talk)
        took.append(time.process_time() - started)
    return 1_000 * min(took) / len(talks)
