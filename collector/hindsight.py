"""Hold what is learned of a conversation later: outcomes that were verified, and people's labels."""

from __future__ import annotations

from typing import Literal

import msgspec

from collector.model import Level

LONGEST_ID = 1024
"""Characters of an id."""
LONGEST_NAME = 256
"""Characters of a name: of an outcome, a scorer, a tool, a source, a person."""
LONGEST_TEXT = 4096
"""Characters of an outcome that is a text."""
LONGEST_COMMENT = 16_384
"""Characters of a comment."""


class About(msgspec.Struct, frozen=True, kw_only=True):
    """Which conversation is meant: the one of an id, or that of a trace where no id is known."""

    conversation_id: str = ""
    trace_id: str = ""
    """32 lowercase hex digits."""
    span_id: str = ""
    """16 lowercase hex digits: the span that it is about."""
    episode: int = 0
    """0 for the conversation as a whole."""
    tenant: str = ""
    environment: str = ""
    variant: str = ""
    """These three say whose conversation is meant when an id is used by several; empty for any."""


class Outcome(msgspec.Struct, frozen=True, kw_only=True):
    """A verified truth about a conversation, such as whether the refund really happened."""

    about: About
    name: str
    """What is verified, such as ``refund_issued``."""
    value: bool | float | str
    source: str = ""
    """The system that knows it."""
    call_id: str = ""
    """The tool call that it is about."""
    tool: str = ""
    """The tool that it is about."""
    id: str = ""
    """The sender's id; what comes later under the same one replaces what was said."""
    at_ns: int | None = None
    """When it became true; ``None`` for when it came in."""


class Label(msgspec.Struct, frozen=True, kw_only=True):
    """A person's verdict on a conversation, a turn or a tool call."""

    about: About
    scorer: str
    """The scorer whose question is answered, or a dimension of one's own."""
    verdict: Literal["", "pass", "fail"] = ""
    value: float | None = None
    category: str = ""
    """One of these three is there at least."""
    level: Level = "conversation"
    target: str = ""
    """Empty for the conversation, the turn's index, or the tool call's id, as in a score."""
    author: str = ""
    """Who says so."""
    source: str = ""
    """The system in which it was said."""
    comment: str = ""
    id: str = ""
    """The sender's id; what comes later under the same one replaces what was said."""
    at_ns: int | None = None
    """When it was said; ``None`` for when it came in."""
