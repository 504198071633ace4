"""Hold one rule of a policy as a user writes it."""

from __future__ import annotations

import re
from fnmatch import fnmatchcase
from functools import lru_cache
from typing import Annotated, Any

import jsonschema_rs
import msgspec

from collector.model import ToolCall, ToolDefinition
from scorers.rules.handover import is_handover
from scorers.rules.tool_effect import effect_of

_OF_CALLS = ("needs_before", "forbidden", "at_most", "needs_confirmation")
_OF_WHOLE = ("max_steps", "max_cost_usd", "must_say", "must_not_say")


class PolicyRule(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One rule: the calls it is about, or none, and one demand."""

    name: str
    """What its reason and its readers call it."""
    agents: tuple[str, ...] = ()
    """Names of the agents it holds for; empty for all."""
    tool: str = ""
    """Name of the tools whose calls it is about, with ``*`` for any characters; ``writes`` for every tool that changes something, hand-overs to a person aside."""
    arguments: dict[str, Any] = {}
    """JSON Schema of the arguments of the calls it is about; empty for all."""
    needs_before: tuple[str, ...] = ()
    """Tools of which one has to have worked before."""
    same: tuple[str, ...] = ()
    """With ``needs_before``: arguments that have to be the same in both calls."""
    forbidden: bool = False
    """Whether such a call must never be made."""
    at_most: Annotated[int, msgspec.Meta(ge=1)] | None = None
    """Most such calls in an episode."""
    needs_confirmation: bool = False
    """Whether the user has to have agreed in the message before."""
    max_steps: Annotated[int, msgspec.Meta(ge=1)] | None = None
    """Most model calls in an episode."""
    max_cost_usd: Annotated[float, msgspec.Meta(gt=0)] | None = None
    """Most that an episode may cost."""
    must_say: str = ""
    """Regular expression that a message of the agent has to match."""
    must_not_say: str = ""
    """Regular expression that no message of the agent may match."""

    def __post_init__(self) -> None:
        """Check that it makes one demand, of things that can be looked at.

        Raises:
            ValueError: it does not.
        """
        demands = [name for name in (*_OF_CALLS, *_OF_WHOLE) if self.demands(name)]
        if len(demands) != 1:
            made = " and ".join(demands) or "none"
            raise ValueError(
                f"rule {self.name!r} makes {made}; it has to make one of {', '.join((*_OF_CALLS, *_OF_WHOLE))}"
            )
        of_calls = demands[0] in _OF_CALLS
        if of_calls and not self.tool:
            raise ValueError(f"rule {self.name!r}: {demands[0]} wants a `tool`")
        if not of_calls and (self.tool or self.arguments):
            raise ValueError(f"rule {self.name!r}: {demands[0]} is not about a `tool`")
        if self.same and not self.needs_before:
            raise ValueError(f"rule {self.name!r}: `same` goes with `needs_before`")
        try:
            for pattern in (self.must_say, self.must_not_say):
                re.compile(pattern)
        except re.error as error:
            raise ValueError(f"rule {self.name!r}: {error}") from error
        try:
            _validator(msgspec.json.encode(self.arguments))
        except ValueError as error:
            raise ValueError(f"rule {self.name!r}: arguments: {error}") from error

    def demands(self, name: str) -> bool:
        """Say whether it makes the demand of that name."""
        return getattr(self, name) not in ((), False, None, "")

    def is_about(self, call: ToolCall, definition: ToolDefinition | None) -> bool:
        """Say whether it is about a call."""
        if self.tool == "writes":
            if effect_of(call.name, definition) != "write" or is_handover(call.name, definition):
                return False
        elif not fnmatchcase(call.name, self.tool):
            return False
        return not self.arguments or bool(
            _validator(msgspec.json.encode(self.arguments)).is_valid(call.arguments)
        )


@lru_cache(maxsize=256)
def _validator(schema: bytes) -> Any:
    return jsonschema_rs.validator_for(msgspec.json.decode(schema))
