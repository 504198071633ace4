"""Read outcomes and labels back, by themselves and joined to the conversations that they are about.

The join is made when they are read, so it does not matter which of the two came first. They
name their conversation by its id, else by a trace of it; the newest word about a thing holds.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Literal, Protocol

import msgspec

Line = dict[str, Any]
HindsightKind = Literal["outcomes", "labels"]


class Queries(Protocol):
    """The part of a store that answers queries."""

    def query(self, sql: str, parameters: dict[str, Any] | None = None) -> list[Line]:
        """Run a query and return its rows."""


_EPISODES = """
  conversation_id BETWEEN {c0:String} AND {c1:String}
  AND (conversation_id, episode) > ({c0:String}, {e0:UInt32})
  AND (conversation_id, episode) <= ({c1:String}, {e1:UInt32})"""

_JOINED = f"""
WHERE conversation_id IN (SELECT conversation_id FROM conversations WHERE {_EPISODES})
  OR (conversation_id = '' AND trace_id IN (
    SELECT arrayJoin(trace_ids) FROM conversations WHERE {_EPISODES}))"""  # noqa: S608 - our own words

_OWNERS = """
SELECT DISTINCT conversation_id, episode, tenant, environment, variant,
  arrayIntersect(c.trace_ids, {traces:Array(String)}) AS traces
FROM conversations AS c WHERE hasAny(c.trace_ids, {traces:Array(String)})"""


class _Table(msgspec.Struct, frozen=True, kw_only=True):
    """How one of the tables is read."""

    times: str
    """Expressions of its times."""
    key: tuple[str, ...]
    """Columns that tell its rows apart, in the order of the table."""
    line: Callable[[Line], Line]

    def select(self, name: str) -> str:
        return f"SELECT *, {self.times} FROM {name} FINAL"  # noqa: S608 - our own words

    def page(self, name: str) -> str:
        columns = ", ".join(self.key)
        bounds = ", ".join(f"{{k{n}:String}}" for n in range(len(self.key)))
        return (
            f"{self.select(name)} WHERE conversation_id >= {{k0:String}}"
            f" AND ({columns}) > ({bounds}) ORDER BY {columns} LIMIT {{limit:UInt32}}"
        )

    def joined(self, name: str) -> str:
        return f"{self.select(name)} {_JOINED} ORDER BY received, {', '.join(self.key)}"


def _outcome(row: Line) -> Line:
    return {
        "conversation_id": row["conversation_id"],
        "name": row["name"],
        "value": _value(row),
        "source": row["source"],
        "call_id": row["call_id"],
        "tool": row["tool"],
        "at_ns": row["at_ns"],
        **_about(row),
        "outcome_id": row["outcome_id"],
    }


def _label(row: Line) -> Line:
    return {
        "conversation_id": row["conversation_id"],
        "scorer": row["scorer"],
        "level": row["level"],
        "target": row["target"],
        "verdict": row["verdict"] or None,
        "value": None if row["value"] is None else float(row["value"]),
        "category": row["category"],
        "author": row["author"],
        "source": row["source"],
        "comment": row["comment"],
        "at_ns": row["at_ns"],
        **_about(row),
        "label_id": row["label_id"],
    }


def _value(row: Line) -> bool | float | str:
    if row["success"] is not None:
        return bool(row["success"])
    return str(row["text"]) if row["number"] is None else float(row["number"])


def _about(row: Line) -> Line:
    return {
        key: row[key]
        for key in (
            "id",
            "trace_id",
            "span_id",
            "episode",
            "tenant",
            "environment",
            "variant",
            "received_ns",
        )
    }


_RECEIVED = "toUnixTimestamp64Nano(received) AS received_ns"
_TABLES: dict[HindsightKind, _Table] = {
    "outcomes": _Table(
        times=f"toUnixTimestamp64Nano(observed) AS at_ns, {_RECEIVED}",
        key=("conversation_id", "name", "outcome_id"),
        line=_outcome,
    ),
    "labels": _Table(
        times=f"toUnixTimestamp64Nano(created) AS at_ns, {_RECEIVED}",
        key=("conversation_id", "scorer", "author", "label_id"),
        line=_label,
    ),
}


def hindsight(store: Queries, what: HindsightKind, *, page: int) -> Iterator[Line]:
    """Yield all outcomes or labels, by conversation.

    One that only names a trace gets the id of the conversation as soon as that is stored, when
    there is just one.
    """
    table = _TABLES[what]
    last = [""] * len(table.key)
    while True:
        bound = {f"k{n}": value for n, value in enumerate(last)}
        rows = store.query(table.page(what), {**bound, "limit": page})
        if not rows:
            return
        last = [rows[-1][column] for column in table.key]
        owners = _owners(store, rows)
        for row in rows:
            yield {**table.line(row), "conversation_id": owners(row)}


def _owners(store: Queries, rows: Iterable[Line]) -> Callable[[Line], str]:
    """Find whose the traces are."""
    traces = sorted({row["trace_id"] for row in rows if not row["conversation_id"]})
    found: dict[str, list[Line]] = defaultdict(list)
    for owner in store.query(_OWNERS, {"traces": traces}) if traces else ():
        for trace in owner["traces"]:
            found[trace].append(owner)

    def owner_of(row: Line) -> str:
        if row["conversation_id"]:
            return str(row["conversation_id"])
        ids = {o["conversation_id"] for o in found[row["trace_id"]] if _means(row, o)}
        return ids.pop() if len(ids) == 1 else ""

    return owner_of


class Joined:
    """Give each conversation of a page what was learned of it later."""

    def __init__(self, store: Queries, bounds: dict[str, Any]) -> None:
        """Read what belongs to the episodes within ``bounds``."""
        self._by_id: dict[tuple[str, str], list[Line]] = defaultdict(list)
        self._by_trace: dict[tuple[str, str], list[Line]] = defaultdict(list)
        for what, table in _TABLES.items():
            for row in store.query(table.joined(what), bounds):
                if row["conversation_id"]:
                    self._by_id[what, row["conversation_id"]].append(row)
                else:
                    self._by_trace[what, row["trace_id"]].append(row)

    def of(self, head: Line) -> Line:
        """Return the ``outcomes`` and ``labels`` of one episode, in the order in which they came."""
        return {what: self._lines(what, head) for what in _TABLES}

    def _lines(self, what: HindsightKind, head: Line) -> list[Line]:
        rows = list(self._by_id.get((what, head["conversation_id"]), ()))
        if self._by_trace:
            for trace in head["trace_ids"]:
                rows += self._by_trace.get((what, trace), ())
        own = [row for row in rows if _means(row, head)]
        return [
            {**_TABLES[what].line(row), "conversation_id": head["conversation_id"]} for row in own
        ]


def _means(row: Line, head: Line) -> bool:
    """Say whether a conversation's episode is one that is meant; what is not said means any."""
    return row["episode"] in (0, head["episode"]) and all(
        not row[key] or row[key] == head[key] for key in ("tenant", "environment", "variant")
    )
