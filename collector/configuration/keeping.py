"""Hold what a user can set about how traffic becomes conversations, and what of them is kept."""

from __future__ import annotations

from typing import Literal

import msgspec

from collector.configuration.units import Duration, Limit, Rate, Size, Timeout


class JournalConfig(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The durable log of what was acknowledged."""

    max_size: Limit = 4 * 1024 * 1024 * 1024
    """Bytes of raw requests kept; when full, senders get 503 and Retry-After."""
    queue_size: Size = 64 * 1024 * 1024
    """Acknowledged bodies kept in memory for the pipeline; over it the pipeline re-reads the journal."""
    seen_limit: int = 2_000_000
    """Span ids remembered to recognise resends after their conversation was decided."""
    shutdown_timeout: Timeout = 10.0
    """Longest a stop takes to finish what was received; what is left stays in the journal and is done after the next start."""
    encryption_key: str = ""
    """Key under which request bodies are sealed with AES-256-GCM: 32 bytes in base64 or hex, as ``${env:NAME}``.
    Several, separated by commas, open what they sealed; the first one seals."""


class AssembleConfig(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How spans become conversations and when these are finished."""

    idle_timeout: Timeout = 900.0
    """Quiet time after which an episode is decided; must be longer than the pauses of a conversation."""
    lone_trace_timeout: Timeout = 5.0
    """Quiet time after the root of a trace that carries no conversation id."""
    end_grace: Duration = 1.0
    """Time left for stragglers after an explicit end."""
    turn_quiet: Duration = 2.0
    """Quiet time after which a turn whose root span ended counts as finished."""
    late_window: Duration = 600.0
    """How long after the decision a late span still makes a revision."""
    max_episode: Timeout = 21600.0
    """Longest an episode may stay open; then it is decided and marked truncated."""
    max_open_episodes: int = 50_000
    """Open episodes; over it the oldest is decided early and marked truncated."""
    content_budget: Size = 128 * 1024 * 1024
    """Decoded content kept in memory; over it the longest-idle conversations are re-read when needed."""


class FieldRule(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What becomes of a field, whatever it holds."""

    field: str
    """Its name, or the last names of its path joined by dots; ``*`` stands for any characters."""
    action: Literal["drop", "hash", "mask", "pseudonym"]
    """``pseudonym`` gives the same alias to the same value, ``hash`` one that is the same everywhere."""


class RedactConfig(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What never leaves the process."""

    content: Literal["full", "redacted", "metadata_only"] = "redacted"
    """What is kept of what was said: all, with the kinds below replaced, or nothing; verdicts are the same."""
    kinds: tuple[str, ...] = ("key", "token", "card", "iban", "email", "national_id", "phone")
    """What is replaced by ``[kind]`` before store, log, metric and export; ``ip`` is there too, and off."""
    patterns: dict[str, str] = {}
    """Your own kinds: name to regular expression."""
    fields: tuple[FieldRule, ...] = ()
    """Rules ``{field, action}`` for fields by name, such as ``{field: arguments.email, action: pseudonym}``;
    actions are ``drop``, ``hash``, ``mask`` and ``pseudonym``."""
    pseudonym_key: str = ""
    """Key of the pseudonyms, as ``${env:NAME}``; empty for one that is made in the data directory."""
    at_ingest: bool = False
    """Redact before the journal too: scorers then see what is stored, and lose accuracy; see docs/privacy.md."""


class SampleConfig(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which conversations are stored in full; verdicts and counts are always complete."""

    rate: Rate = 1.0
    """Share of conversations kept, chosen by a hash of the conversation id."""
    keep_failing: bool = True
    """Always keep an episode with a failing verdict."""
    keep_errors: bool = True
    """Always keep an episode with a failed span or scorer."""
    keep_new_version: int = 20
    """Always keep this many first episodes of an agent version."""
    plain_trace_rate: Rate = 1.0
    """Share of traces without any model or tool call that are stored."""


class StoreConfig(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Where decided episodes are written."""

    url: str = ""
    """``http(s)://host:8123`` of a ClickHouse server; empty for the embedded engine in the data dir."""
    user: str = "default"
    """ClickHouse user."""
    password: str = ""
    """ClickHouse password; write it as ``${env:NAME}``."""
    database: str = "outrider"
    """Database that holds Outrider's tables."""
    timeout: Timeout = 60.0
    """Longest a call to the server may take, in whole seconds; then it is made again, which changes nothing that was written."""
    ttl_days: int = 30
    """Days that content (spans, messages, tool calls) is kept; 0 keeps it for ever."""
    flush_interval: Duration = 1.0
    """Longest a decided episode waits for its batch."""
    batch_episodes: int = 500
    """Most episodes in one insert."""
