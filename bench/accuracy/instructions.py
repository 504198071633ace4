"""Compare the kinds of instructions with the verdicts of IFEval's own checker."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from scorers.constraints.kinds import broken, constraint


class Agreement(msgspec.Struct, frozen=True, kw_only=True):
    """How often one kind of instruction is judged as its official checker does."""

    kind: str
    rows: int
    agreed: int


def agreement(rows: Iterable[Mapping[str, Any]]) -> list[Agreement]:
    """Judge every instruction of every answer; a row has ``followed`` for each."""
    count: Counter[str] = Counter()
    agreed: Counter[str] = Counter()
    for row in rows:
        asked = zip(row["instruction_ids"], row["arguments"], row["followed"], strict=True)
        for kind, arguments, followed in asked:
            count[kind] += 1
            agreed[kind] += (broken(constraint(kind, arguments), row["response"]) == "") is followed
    return [Agreement(kind=kind, rows=count[kind], agreed=agreed[kind]) for kind in sorted(count)]
