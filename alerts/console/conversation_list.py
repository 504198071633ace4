"""Find conversations by what was concluded about them, newest first."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping

import msgspec

from alerts.console.current import EPISODE, current, equal, within
from alerts.console.parameters import (
    END_NS,
    Period,
    choice_of,
    number_of,
    period_of,
    text_of,
)
from alerts.console.store import Query, Row
from collector.errors import MalformedError

VERDICTS = ("fail", "pass", "skip", "failure", "any")
PAGE = 50
MOST = 200
"""Conversations on one page at most."""
_VERDICTS_EACH = 12
"""Verdicts listed of one conversation; those that are alike are listed once."""
_REASON = 400
_QUOTE = 300
"""Characters of each that a row shows."""

_WHERE = f"""
  ({{verdict:String}} = 'any' OR verdict = {{verdict:String}})
  AND {equal(scorer="scorer", agent="agent", agent_version="version", environment="environment", variant="variant", conversation_id="conversation")}
  AND {within("episode_started")} AND {current("scores")}"""

_FOUND = f"""
SELECT episode_id, any(conversation_id) AS of_conversation,
  toUnixTimestamp64Nano(max(episode_started)) AS started_ns
FROM scores
WHERE {_WHERE}
  AND episode_started <= fromUnixTimestamp64Nano({{before:Int64}}, 'UTC')
GROUP BY episode_id
HAVING (started_ns, episode_id) < ({{before:Int64}}, {{before_id:String}})
ORDER BY started_ns DESC, episode_id DESC LIMIT {{limit:UInt32}}"""

_COUNT = f"SELECT uniqExact({EPISODE}) AS found FROM scores WHERE {_WHERE}"

_HEADS = """
SELECT episode_id, conversation_id, episode, agent, agent_version, environment, variant,
  toUnixTimestamp64Nano(started) AS started_ns, toUnixTimestamp64Nano(ended) AS ended_ns,
  message_count, tool_call_count, kept, end_reason
FROM conversations
WHERE conversation_id IN {ids:Array(String)} AND episode_id IN {episodes:Array(String)}
ORDER BY revision DESC LIMIT 1 BY episode_id"""

_VERDICTS = f"""
SELECT episode_id, scorer, verdict, level, target, substringUTF8(s.reason, 1, {_REASON}) AS reason,
  substringUTF8(JSONExtractString(s.evidence, 1, 'quote'), 1, {_QUOTE}) AS quote,
  conversation_id, episode, agent, agent_version, environment, variant
FROM scores AS s
WHERE conversation_id IN {{ids:Array(String)}} AND episode_id IN {{episodes:Array(String)}}
  AND {_WHERE}
ORDER BY episode_id, verdict != 'fail', scorer, length(target), target
LIMIT {8 * _VERDICTS_EACH} BY episode_id"""


class Search(msgspec.Struct, frozen=True, kw_only=True):
    """Which conversations are wanted; an empty text means any."""

    verdict: str = "fail"
    scorer: str = ""
    agent: str = ""
    version: str = ""
    environment: str = ""
    conversation: str = ""
    """The id of a conversation, all of whose variants are wanted then."""
    variant: str = "production"
    period: Period = Period()
    limit: int = PAGE
    before_ns: int = END_NS
    before_id: str = ""

    @classmethod
    def of(cls, query: Mapping[str, str]) -> Search:
        """Read it from a query string.

        Raises:
            MalformedError: a parameter is not what it has to be.
        """
        before_ns, before_id = END_NS, ""
        if cursor := text_of(query, "cursor"):
            stamp, _, before_id = cursor.partition("-")
            if not (stamp.isascii() and stamp.isdigit() and int(stamp[:20]) <= END_NS):
                raise MalformedError("cursor: take it from the page before")
            before_ns = int(stamp)
        conversation = text_of(query, "conversation").strip()
        return cls(
            verdict=choice_of(query, "verdict", VERDICTS, "fail"),
            scorer=text_of(query, "scorer"),
            agent=text_of(query, "agent"),
            version=text_of(query, "version"),
            environment=text_of(query, "environment"),
            conversation=conversation,
            variant=text_of(query, "variant", "" if conversation else "production"),
            period=period_of(query),
            limit=max(1, number_of(query, "limit", default=PAGE, most=MOST)),
            before_ns=before_ns,
            before_id=before_id,
        )

    def parameters(self) -> dict[str, object]:
        """Return what the queries bind."""
        return {
            "verdict": self.verdict,
            "scorer": self.scorer,
            "agent": self.agent,
            "version": self.version,
            "environment": self.environment,
            "variant": self.variant,
            "conversation": self.conversation,
            **self.period.parameters(),
        }


class Finding(msgspec.Struct, frozen=True, kw_only=True):
    """One verdict on a conversation that was found."""

    scorer: str
    verdict: str
    level: str
    target: str
    reason: str
    quote: str
    """The first words it rests on; may be cut, and empty."""


class Found(msgspec.Struct, frozen=True, kw_only=True):
    """One conversation's episode."""

    episode_id: str
    conversation_id: str
    episode: int
    agent: str
    agent_version: str
    environment: str
    variant: str
    started_ns: int
    ended_ns: int = 0
    message_count: int = 0
    tool_call_count: int = 0
    kept: bool = False
    end_reason: str = ""
    """Empty while it goes on."""
    verdicts: list[Finding] = []
    """Those that were searched for, failing ones first; of those that are alike the last."""


class FoundPage(msgspec.Struct, frozen=True, kw_only=True):
    """Some conversations, newest first."""

    conversations: list[Found] = []
    cursor: str = ""
    """Where the next page begins; empty on the last one."""


def read_list(query: Query, search: Search) -> FoundPage:
    """Read one page."""
    bound = search.parameters()
    rows = query(
        _FOUND,
        {
            **bound,
            "before": search.before_ns,
            "before_id": search.before_id,
            "limit": search.limit + 1,
        },
    )
    shown = rows[: search.limit]
    if not shown:
        return FoundPage()
    keys = {
        "ids": sorted({row["of_conversation"] for row in shown}),
        "episodes": [row["episode_id"] for row in shown],
    }
    heads = {row["episode_id"]: row for row in query(_HEADS, keys)}
    verdicts: dict[str, list[Row]] = defaultdict(list)
    for row in query(_VERDICTS, {**bound, **keys}):
        verdicts[row["episode_id"]].append(row)
    last = shown[-1]
    return FoundPage(
        conversations=[
            _found(row, heads.get(row["episode_id"]), verdicts[row["episode_id"]]) for row in shown
        ],
        cursor=f"{last['started_ns']}-{last['episode_id']}" if len(rows) > search.limit else "",
    )


def count(query: Query, search: Search) -> int:
    """Count the pairs of a conversation and a scorer that a search finds."""
    return int(query(_COUNT, search.parameters())[0]["found"])


def _found(row: Row, head: Row | None, verdicts: list[Row]) -> Found:
    # An episode that still goes on has verdicts on its turns and no head yet.
    who = head or (verdicts[0] if verdicts else {})
    told = {**who, "episode_id": row["episode_id"], "started_ns": row["started_ns"]}
    fields = {name: told[name] for name in Found.__struct_fields__ if name in told}
    findings = {
        (found["scorer"], found["verdict"], found["reason"]): Finding(
            **{name: found[name] for name in Finding.__struct_fields__}
        )
        for found in verdicts
    }
    blank = dict.fromkeys(
        ("conversation_id", "agent", "agent_version", "environment", "variant"), ""
    )
    return Found(
        **{"episode": 1, **blank, **fields, "verdicts": list(findings.values())[:_VERDICTS_EACH]}
    )
