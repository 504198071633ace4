"""Ask the running instance, over HTTP, how the agent does and what the alarms say."""

from __future__ import annotations

from typing import Any, TypeVar
from urllib.parse import quote

import httpx
import msgspec

from collector.errors import MalformedError, RetryableError

T = TypeVar("T")


class Change(msgspec.Struct, frozen=True, kw_only=True):
    """When a failure rate changed, in the time of the conversations."""

    low_ns: int
    at_ns: int
    high_ns: int
    observations: int
    """Conversations scored since."""
    failures: float


class Stream(msgspec.Struct, frozen=True, kw_only=True):
    """One detector as it stands."""

    slice: str
    scorer: str
    agent_version: str
    phase: str
    """``learning`` or ``armed``."""
    learned: int
    learned_hours: int
    evidence: float
    threshold: float
    observations: int
    traffic_ns: int
    """The latest start among the conversations seen."""


class Detail(msgspec.Struct, frozen=True, kw_only=True):
    """What an event is about."""

    agent: str
    agent_version: str
    """Empty for all versions together."""
    scorer: str
    severity: str
    evidence: float
    threshold: float
    reference_rate: float
    traffic_ns: int
    change: Change | None = None


class Event(msgspec.Struct, frozen=True, kw_only=True):
    """Something a detector said."""

    event_id: str
    kind: str
    """``armed``, ``fired`` or ``cleared``."""
    slice: str
    detail: Detail


class Alarms(msgspec.Struct, frozen=True, kw_only=True):
    """The answer of ``/v1/alarms``."""

    streams: list[Stream] = []
    events: list[Event] = []


class Share(msgspec.Struct, frozen=True, kw_only=True):
    """How many conversations of a version failed."""

    agent_version: str
    episodes: int
    failing: int
    rate: float


class ScorerQuality(msgspec.Struct, frozen=True, kw_only=True):
    """What one scorer says of each version."""

    scorer: str
    versions: list[Share] = []


class Version(msgspec.Struct, frozen=True, kw_only=True):
    """One version of the agent."""

    agent_version: str
    episodes: int
    first_ns: int
    """Start of its first conversation."""


class Section(msgspec.Struct, frozen=True, kw_only=True):
    """One agent."""

    agent: str
    episodes: int
    versions: list[Version] = []
    scorers: list[ScorerQuality] = []


class Quality(msgspec.Struct, frozen=True, kw_only=True):
    """The answer of ``/v1/quality``."""

    sections: list[Section] = []


class Finding(msgspec.Struct, frozen=True, kw_only=True):
    """A failing verdict."""

    reason: str


class Example(msgspec.Struct, frozen=True, kw_only=True):
    """A conversation that fails."""

    episode_id: str
    conversation_id: str
    verdicts: list[Finding] = []


class Examples(msgspec.Struct, frozen=True, kw_only=True):
    """The answer of ``/v1/conversations``."""

    conversations: list[Example] = []


class Console:
    """Read the API of an instance.

    Every method raises ``RetryableError`` when the instance does not answer, and
    ``MalformedError`` when it answers something else.
    """

    def __init__(self, url: str, client: httpx.Client) -> None:
        self._url = url
        self._client = client

    def alarms(self) -> Alarms:
        """Return the detectors' streams and what they said."""
        return self._get("/v1/alarms", Alarms, limit="500")

    def quality(self) -> Quality:
        """Return how each version does under each scorer."""
        return self._get("/v1/quality", Quality, range="all")

    def examples(self, detail: Detail, *, limit: int) -> list[Example]:
        """Return the newest conversations that had shown what an event is about when it came."""
        asked = {
            "scorer": detail.scorer,
            "agent": detail.agent,
            "version": detail.agent_version,
            "until": str(detail.traffic_ns + 1),
        }
        if detail.change is not None:
            asked["since"] = str(max(0, detail.change.low_ns))
        found = self._get("/v1/conversations", Examples, **asked, limit=str(limit))
        return found.conversations

    def link(self, episode_id: str) -> str:
        """Return the page of a conversation."""
        return f"{self._url}/conversations/{quote(episode_id, safe='')}"

    def _get(self, path: str, kind: type[T], **parameters: Any) -> T:
        try:
            answer = self._client.get(f"{self._url}{path}", params=parameters)
            answer.raise_for_status()
        except httpx.HTTPError as error:
            raise RetryableError(
                f"{self._url}{path}: {str(error) or type(error).__name__}"
            ) from error
        try:
            return msgspec.json.decode(answer.content, type=kind)
        except msgspec.DecodeError as error:
            raise MalformedError(f"{self._url}{path}: {error}") from error
