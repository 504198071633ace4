"""Give what the proxy captured to the journal, and to the pipeline once it is durable."""

from __future__ import annotations

from concurrent.futures import Future

import msgspec

from collector.handoff import Handoff
from collector.journal import Journal
from collector.journal_records import Entry
from collector.otlp import Batch
from collector.proxy.capture import Keep


def keeping(journal: Journal, handoff: Handoff) -> Keep:
    """Return how a span is kept; it never blocks, and its future has a result when it is durable.

    It raises as ``Journal.append`` does.
    """

    def keep(entry: Entry, batch: Batch) -> Future[None]:
        kept: Future[None] = Future()

        def durable(appended: Future[int]) -> None:
            error = appended.exception()
            if error is not None:
                kept.set_exception(error)
                return
            handoff.offer(msgspec.structs.replace(entry, id=appended.result()), batch)
            kept.set_result(None)

        journal.append(entry).add_done_callback(durable)
        return kept

    return keep
