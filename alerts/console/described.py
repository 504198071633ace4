"""Say what the console's JSON paths answer, and which parameters they take."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from alerts.console import alarm_log, conversation_list
from alerts.console.conversation import Told
from alerts.console.ledger import Entries, Ledger
from alerts.console.parameters import LONGEST, RANGES
from alerts.console.quality import Quality

_TEXT: Mapping[str, Any] = {"type": "string", "maxLength": LONGEST}
_WHO = dict.fromkeys(("agent", "environment"), _TEXT)
_MOMENT: Mapping[str, Any] = {
    "type": "string",
    "maxLength": LONGEST,
    "description": "ISO 8601 (UTC where no offset is given), Unix seconds or Unix nanoseconds",
}
_TIME: Mapping[str, Mapping[str, Any]] = {
    "range": {"type": "string", "enum": list(RANGES)},
    "since": _MOMENT,
    "until": _MOMENT,
}


class Described(msgspec.Struct, frozen=True, kw_only=True):
    """What a path answers, and what it is asked."""

    answer: Any
    """The type that is answered as JSON, or a tuple of several."""
    parameters: Mapping[str, Mapping[str, Any]] = {}
    """JSON schema of each parameter, by name."""


def described() -> dict[str, Described]:
    """Return it by path."""
    return {
        "/v1/alarms": Described(
            answer=alarm_log.AlarmsAnswer, parameters={"limit": _number(alarm_log.MOST)}
        ),
        "/v1/quality": Described(answer=Quality, parameters={**_WHO, **_TIME}),
        "/v1/conversations": Described(
            answer=conversation_list.FoundPage,
            parameters={
                "verdict": {"type": "string", "enum": list(conversation_list.VERDICTS)},
                "scorer": _TEXT,
                "version": _TEXT,
                "conversation": _TEXT,
                "variant": _TEXT,
                "cursor": _TEXT,
                "limit": _number(conversation_list.MOST),
                **_WHO,
                **_TIME,
            },
        ),
        "/v1/conversations/{episode_id}": Described(
            answer=Told, parameters={"episode_id": {"type": "string", "minLength": 1}}
        ),
        "/v1/ledger": Described(
            answer=(Ledger, Entries), parameters={"version": _TEXT, "id": _TEXT, **_WHO, **_TIME}
        ),
    }


def _number(most: int) -> dict[str, Any]:
    return {"type": "integer", "minimum": 0, "maximum": most}
