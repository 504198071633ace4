"""Account for every episode and scorer: scored, or why not."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable

import msgspec

from alerts.console.current import EPISODE, current, equal, within
from alerts.console.parameters import Period
from alerts.console.store import Query

_COUNTS = f"""
SELECT scorer, agent_version, decision, reason, uniqExact({EPISODE}) AS episodes
FROM decisions
WHERE {equal(agent="agent", environment="environment", agent_version="version")}
  AND {within("episode_started")} AND {current("decisions")}
GROUP BY scorer, agent_version, decision, reason
ORDER BY scorer, agent_version, episodes DESC LIMIT 5000"""

_EPISODES = f"""
SELECT agent_version, uniqExact(cityHash64(episode_id)) AS episodes
FROM decisions
WHERE {equal(agent="agent", environment="environment", agent_version="version")}
  AND {within("episode_started")}
GROUP BY agent_version LIMIT 5000"""

_OF_ONE = """
SELECT episode_id, episode, agent, agent_version, environment, variant, scorer, scorer_version,
  decision, reason, targets, revision, toUnixTimestamp64Nano(decided) AS decided_ns,
  toUnixTimestamp64Nano(episode_started) AS started_ns
FROM decisions
WHERE conversation_id = {id:String}
ORDER BY episode, episode_id, scorer, revision DESC
LIMIT 1 BY episode_id, scorer
LIMIT 2000"""


class Count(msgspec.Struct, frozen=True, kw_only=True):
    """Episodes that one scorer decided in one way."""

    agent_version: str
    decision: str
    reason: str
    """Why it was skipped, or the error; empty when scored."""
    episodes: int


class Account(msgspec.Struct, frozen=True, kw_only=True):
    """What became of the episodes under one scorer."""

    scorer: str
    episodes: int
    """Sum of the counts."""
    absent: int
    """Episodes without a row of this scorer: it was not there yet, or was turned off."""
    decisions: dict[str, int]
    """Episodes by decision."""
    counts: list[Count]


class Ledger(msgspec.Struct, frozen=True, kw_only=True):
    """The whole account."""

    episodes: int = 0
    """Episodes that any scorer has a row of."""
    rows: int = 0
    """Rows of the ledger, one for each episode and scorer."""
    adds_up: bool = True
    """Whether every scorer accounts for every episode."""
    scorers: list[Account] = []


class Entry(msgspec.Struct, frozen=True, kw_only=True):
    """Why one scorer did or did not score one episode."""

    episode_id: str
    episode: int
    agent: str
    agent_version: str
    environment: str
    variant: str
    scorer: str
    scorer_version: str
    decision: str
    reason: str
    targets: int
    revision: int
    decided_ns: int
    started_ns: int


class Entries(msgspec.Struct, frozen=True, kw_only=True):
    """The ledger's rows of one conversation."""

    conversation_id: str
    decisions: list[Entry]


def read_ledger(
    query: Query, *, agent: str, environment: str, version: str, period: Period
) -> Ledger:
    """Read the account of a period."""
    bound = {
        "agent": agent,
        "environment": environment,
        "version": version,
        **period.parameters(),
    }
    total = sum(row["episodes"] for row in query(_EPISODES, bound))
    by_scorer: dict[str, list[Count]] = defaultdict(list)
    for row in query(_COUNTS, bound):
        by_scorer[row.pop("scorer")].append(Count(**row))
    accounts = [_account(scorer, counts, total) for scorer, counts in by_scorer.items()]
    return Ledger(
        episodes=total,
        rows=sum(account.episodes for account in accounts),
        adds_up=all(account.episodes == total for account in accounts),
        scorers=accounts,
    )


def read_entries(query: Query, conversation_id: str) -> list[Entry]:
    """Read what the ledger says of one conversation's episodes."""
    return [Entry(**row) for row in query(_OF_ONE, {"id": conversation_id})]


def _account(scorer: str, counts: Iterable[Count], total: int) -> Account:
    counts = list(counts)
    decisions: Counter[str] = Counter()
    for count in counts:
        decisions[count.decision] += count.episodes
    episodes = decisions.total()
    return Account(
        scorer=scorer,
        episodes=episodes,
        absent=max(0, total - episodes),
        decisions=dict(decisions),
        counts=counts,
    )
