"""Add up what became of the recordings of one library."""

from __future__ import annotations

from collections import Counter

from tests.capture.comparison import Fate, Finding
from tests.capture.facts import Kind
from tests.capture.playing import Played


class Tally:
    """Counts of facts by kind and fate."""

    def __init__(self) -> None:
        self.by_kind: Counter[tuple[Kind, Fate]] = Counter()
        self.streamed: Counter[Fate] = Counter()
        """Facts of calls whose answers were streams."""
        self.lost: list[tuple[str, Finding]] = []
        self.jobs = 0
        self.calls = 0
        """Calls that went over the wire."""
        self.twice = 0
        """Model calls that were counted beyond those."""
        self.conversations = 0
        self.named = 0
        """Conversations whose id the library sent."""

    def add(self, played: Played) -> None:
        """Count one cassette."""
        result = played.result
        self.jobs += 1
        self.calls += result.exchanges
        self.twice += max(0, result.calls - result.exchanges)
        self.conversations += result.conversations
        self.named += result.explicit
        for finding in result.findings:
            self.by_kind[finding.fact.kind, finding.fate] += 1
            if finding.streamed:
                self.streamed[finding.fate] += 1
            if finding.fate == "lost":
                self.lost.append((played.cassette, finding))
