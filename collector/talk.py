"""Hold what the assembler knows about one conversation while it is alive.

These are the assembler's working state, the only mutable records of the data path; they
belong to the pipeline thread.
"""

from __future__ import annotations

from typing import Literal

import msgspec

from collector.model import EndReason, Facts, Message, VerdictName
from collector.telemetry import Span

Ref = tuple[int, int]
"""Where a span stands in the journal: request id, position within the request."""


class Held(msgspec.Struct, kw_only=True, gc=False):
    """One span or log record of an episode, with its content while that is in memory."""

    key: bytes
    ref: Ref
    size: int
    """Bytes that the content takes, roughly."""
    richness: int
    """Larger for a description that says more; a resend that is not richer is a duplicate."""
    span_id: str = ""
    parent_id: str = ""
    own_id: bool = False
    """Whether the span carries a conversation id itself."""
    facts: Facts | None = None
    span: Span | None = None
    """The span as it arrived; ``None`` for log records and while content is not in memory."""
    is_log: bool = False


class Verdict(msgspec.Struct, frozen=True, kw_only=True, array_like=True):
    """What was last said about one target by one scorer."""

    scorer: str
    version: str
    level: str
    target: str
    revision: int
    verdict: VerdictName
    value: float | None


class OpenEpisode(msgspec.Struct, kw_only=True):
    """An episode that is still growing."""

    number: int
    opened_s: float
    last_s: float
    """When something last arrived, on the pipeline's clock."""
    held: dict[bytes, Held] = {}
    requests: dict[int, int] = {}
    """Request id to number of spans held from it."""
    traces: dict[str, bool] = {}
    """Trace id to whether its root span has ended."""
    waits_for_tool: bool = False
    """Whether the latest model call asked for a tool: another call will follow."""
    latest_call_ns: int = 0
    """When the latest model call began."""
    active: bool = False
    """Whether anything here is an agent's: a model call, a tool, an agent, a conversation id."""
    failed: bool = False
    """Whether any span ended in an error."""
    started_ns: int = 0
    ended_ns: int = 0
    end_s: float | None = None
    """When an explicit end arrived."""
    end_ns: int = 0
    """The sender's time of the explicit end."""
    scheduled_s: float = float("inf")
    """The earliest time this episode stands in the schedule with."""
    content_size: int = 0
    """Bytes of content in memory, roughly."""
    context: tuple[Message, ...] = ()
    context_tip: bytes = b""
    verdicts: list[Verdict] = []
    """What was said about turns that were finished already."""


class DecidedEpisode(msgspec.Struct, kw_only=True):
    """An episode that was decided less than a late window ago."""

    episode_id: str
    number: int
    revision: int
    decided_s: float
    started_ns: int
    ended_ns: int
    end_reason: EndReason
    refs: list[Ref]
    pinned: list[int]
    """Requests that this episode keeps in the journal; one may stand twice."""
    traces: list[str]
    verdicts: list[Verdict]
    kept: bool
    stored: bool = False
    tip: bytes = b""
    context_tip: bytes = b""
    messages: tuple[Message, ...] = ()
    """For the next episode's context; empty after a restart."""
    unfinished: dict[bytes, int] = {}
    """Spans decided before they ended, with their richness."""
    late: dict[bytes, Held] = {}
    """Late arrivals that wait for their revision."""
    late_s: float = 0.0


class Talk(msgspec.Struct, kw_only=True, eq=False):
    """One conversation: its identity, its open episode and its recent ones."""

    key: str
    id: str
    explicit: bool
    labels: tuple[str, str, str] = ("", "", "")
    """Tenant, environment and variant of an explicit conversation."""
    number: int = 0
    """Number of its latest episode."""
    open: OpenEpisode | None = None
    decided: dict[int, DecidedEpisode] = {}
    tips: dict[bytes, None] = {}
    """Keys of histories that nothing has continued yet."""
    continued: dict[bytes, None] = {}
    """Keys of histories that a later call continued."""
    heads: dict[bytes, None] = {}
    """Keys of histories that its first call continues but nobody has seen."""
    pending_tools: dict[bytes, None] = {}
    """Keys of tool calls that nothing has answered yet."""
    responses: dict[tuple[str, str], None] = {}
    traces: dict[str, None] = {}
    last_ended_ns: int = 0
    """When its last decided episode was over, on the sender's clock."""
    last_tip: bytes = b""
    """Key of the message history at the end of the last decided episode."""


class Due(msgspec.Struct, kw_only=True):
    """An episode that is to be decided now."""

    kind: Literal["episode", "revision", "plain", "turn"]
    talk: Talk
    number: int
    reason: EndReason = "idle"
    held: list[Held]
    opened: OpenEpisode | None = None
    earlier: DecidedEpisode | None = None
