"""Check that a reply follows the instructions that a program can verify."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any

import msgspec

from collector.model import Conversation, Evidence, Turn
from scorers.constraints.constraint import Constraint
from scorers.constraints.found import constraints_in
from scorers.constraints.kinds import broken, constraint
from scorers.result import Score, ScorerResult, Skip
from scorers.rules.replies import final_reply
from scorers.scorer import scorer

_QUOTE_CHARS = 160
_TOLD = 4
_MAX_REASON = 600


class Instruction(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One instruction that an agent's replies have to follow."""

    kind: str
    arguments: dict[str, Any] = {}
    agents: tuple[str, ...] = ()
    """Names of the agents it holds for; empty for all."""

    def __post_init__(self) -> None:
        """Try it, so that a mistake is an error at the start.

        Raises:
            ValueError: there is no such kind, or its arguments do not fit.
        """
        constraint(self.kind, self.arguments)


@scorer(level="turn", version="1")
def instructions(
    conversation: Conversation,
    turn: Turn,
    *,
    declared: tuple[Instruction, ...] = (),
    from_prompt: bool = True,
) -> ScorerResult:
    """Check the final reply of a turn against what a program can verify: length, words, form, language.

    Instructions are ``declared``, each a ``kind`` with its ``arguments`` and the ``agents`` it
    holds for, and, with ``from_prompt``, found in the system prompt where it states one plainly
    and without a condition. The value is the share that is followed; one that is not fails the
    reply. Skips with ``no_instructions`` where there are none, ``no_reply`` without a reply.
    """
    asked = _asked(conversation, declared, from_prompt=from_prompt)
    if not asked:
        return Skip(reason="no_instructions")
    at = final_reply(conversation, turn)
    if at < 0:
        return Skip(reason="no_reply")
    reply = conversation.messages[at].text
    wrong = [(one, told) for one in asked if (told := broken(one, reply))]
    if not wrong:
        return Score(
            value=1.0, verdict="pass", reason=f"All {len(asked)} instructions are followed."
        )
    return Score(
        value=round(1 - len(wrong) / len(asked), 4),
        verdict="fail",
        reason=_reason(wrong, len(asked)),
        evidence=tuple(_evidence(at, reply, wrong)),
    )


def _asked(
    conversation: Conversation, declared: Sequence[Instruction], *, from_prompt: bool
) -> list[Constraint]:
    agent = conversation.identity.agent
    asked = [
        _constraint(one.kind, msgspec.json.encode(one.arguments))
        for one in declared
        if not one.agents or agent in one.agents
    ]
    if from_prompt and conversation.system_prompt:
        known = {(one.kind, one.wording) for one in asked}
        found = constraints_in(conversation.system_prompt)
        asked += [one for one in found if (one.kind, one.wording) not in known]
    return asked


@lru_cache(maxsize=1_024)
def _constraint(kind: str, arguments: bytes) -> Constraint:
    return constraint(kind, msgspec.json.decode(arguments))


def _reason(wrong: Sequence[tuple[Constraint, str]], of: int) -> str:
    told = "; ".join(f"it should {one.wording[:120]}, but {what}" for one, what in wrong[:_TOLD])
    more = f"; and {len(wrong) - _TOLD} more" if len(wrong) > _TOLD else ""
    return f"{len(wrong)} of {of} instructions not followed: {told}{more}."[:_MAX_REASON]


def _evidence(at: int, reply: str, wrong: Sequence[tuple[Constraint, str]]) -> Iterator[Evidence]:
    """Cite the end of a reply where that is what is wrong, else its beginning."""
    at_end = any(one.kind == "startend:end_checker" for one, _ in wrong)
    yield Evidence(message=at, quote=reply[-_QUOTE_CHARS:] if at_end else reply[:_QUOTE_CHARS])
