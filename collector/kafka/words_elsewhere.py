"""Find out which outcomes and labels others have written down of the messages that we read after them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from collector.dialects.hindsight_events import is_hindsight, told
from collector.kafka.elsewhere import Query
from collector.kafka.messages import Request
from collector.notebook import Word, key_of, row_of
from collector.redactor import Redactor
from collector.stamps import stamp
from collector.stores.tables import TABLES
from collector.telemetry import LogRecord

_IDS = {"outcomes": "outcome_id", "labels": "label_id"}
_TIMES = {"outcomes": "observed", "labels": "created"}
_LATEST = """
SELECT {id} AS id, toInt64(toUnixTimestamp64Nano(max({time}))) AS latest
FROM {table} WHERE conversation_id IN {talks:Array(String)} AND {id} IN {ids:Array(String)}
GROUP BY id
"""


class WordsElsewhere:
    """Ask the store about events before they are taken in; used by one thread."""

    def __init__(self, *, query: Query, redactor: Redactor) -> None:
        """Take what asks the store, and what wrote the rows there."""
        self._query = query
        self._redactor = redactor

    def seen(self, requests: Iterable[Request]) -> list[bytes]:
        """Return the keys of the events that the store has, or something newer about the same.

        An event without a time cannot be told from one that says the same again, and is not asked
        about.

        Raises:
            StoreUnavailableError: The store did not answer; the same call may succeed later.
        """
        rows: dict[str, list[tuple[Word, dict[str, Any]]]] = {}
        for request in requests:
            if request.entry.signal != "logs":
                continue
            for item in request.batch.items():
                word = _told(item)
                if word is None:
                    continue
                table, row = row_of(
                    word, redactor=self._redactor, received_ns=request.entry.received_ns
                )
                found = dict(zip(TABLES[table], row, strict=True))
                rows.setdefault(table, []).append((word, found))
        return [key_of(word) for table, some in rows.items() for word in self._stored(table, some)]

    def _stored(self, table: str, rows: list[tuple[Word, dict[str, Any]]]) -> list[Word]:
        id_, time = _IDS[table], _TIMES[table]
        sql = _LATEST.replace("{id}", id_).replace("{time}", time).replace("{table}", table)
        parameters = {
            "talks": sorted({row["conversation_id"] for _, row in rows}),
            "ids": sorted({row[id_] for _, row in rows}),
        }
        latest = {row["id"]: stamp(int(row["latest"])) for row in self._query(sql, parameters)}
        return [word for word, row in rows if latest.get(row[id_], "") >= row[time]]


def _told(item: object) -> Word | None:
    if not isinstance(item, LogRecord) or not is_hindsight(item):
        return None
    try:
        word = told(item)
    except Exception:  # noqa: BLE001 - the pipeline meets the same error, and counts it
        return None
    return None if word is None or word.at_ns is None else word
