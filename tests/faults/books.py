"""Compare an instance that was disturbed with one that was not."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import msgspec
import pytest
from prometheus_client.exposition import generate_latest

from alerts.exporter import Exporter
from collector.config import Config, StoreConfig
from collector.journal import Journal
from collector.model import Conversation
from collector.outbox import decode, rows_in
from collector.replay import Request
from collector.stores.clickhouse import ClickHouseStore
from collector.totals import SeriesKey
from tests.e2e.checks import check_counts, check_exports, counted_once
from tests.e2e.instance import Clock, Instance
from tests.e2e.served import Served, never_falls, parsed, summed
from tests.e2e.traffic import requests_of
from tests.faults.stored import Facts, facts_in, facts_in_engine, facts_of


class Undisturbed(msgspec.Struct, frozen=True, kw_only=True):
    """What comes of some requests when nothing goes wrong."""

    totals: dict[SeriesKey, float]
    facts: Facts


def planned(conversations: Sequence[Conversation]) -> list[Request]:
    """Plan small requests that each carry a few of the conversations under way."""
    return requests_of(conversations, interleave=12, batch=6)


def undisturbed(directory: Path, requests: Iterable[Request]) -> Undisturbed:
    """Process the same requests once without any trouble.

    Nobody is at the store's address, so all that it would be given waits in the journal.
    """
    config = Config(store=StoreConfig(url="http://127.0.0.1:9"))
    with Instance(directory, clock=Clock(), config=config) as instance:
        instance.send(request.body for request in requests)
        instance.later(5)
        journal, path = instance.path.journal, instance.path
        text = generate_latest(Exporter(journal.totals)).decode()
        waiting = [decode(row.payload) for row in journal.outbox(1_000_000)]
        rows: list[Mapping[str, Sequence[Sequence[object]]]] = [*map(rows_in, waiting)]
        for payload in waiting:
            for kept in payload.kept:
                spans = path.shipping._reader.spans(kept.refs)  # noqa: SLF001 - as it would send them
                rows.append(path.shipping._span_rows(spans, kept.probability))  # noqa: SLF001 - the same
    facts = facts_of(rows)
    assert all(facts.values())
    return Undisturbed(totals=totals_of(parsed(text)), facts=facts)


def shared_out(conversations: Sequence[Conversation], senders: int) -> list[list[Conversation]]:
    """Give each sender conversations of its own, as exporters of several processes have."""
    return [list(conversations[number::senders]) for number in range(senders)]


def totals_of(series: dict[SeriesKey, float]) -> dict[SeriesKey, float]:
    """Keep what neither a crash nor a resend may change."""
    return counted_once({key: value for key, value in series.items() if never_falls(key[0])})


def check_balance(data_dir: Path) -> None:
    """Hold received = settled + in flight, as the stopped instance's journal tells."""
    journal = Journal.open(
        data_dir / "journal.db", max_bytes=1 << 40, seen_limit=1_000_000, clock_ns=time.time_ns
    )
    try:
        totals = journal.totals()
        received = summed(totals, "spans_received_total")
        settled = summed(totals, "stage_items_total", stage="assemble")
        assert received > 0
        assert received == settled + journal.spans_in_flight()
        assert summed(totals, "spans_duplicate_total") == received - summed(
            totals, "stage_items_total", stage="assemble", result="new"
        )
    finally:
        journal.close()


def check_once(served: Served, conversations: Sequence[Conversation], want: Undisturbed) -> None:
    """Hold that everything came out once, stop, and hold that the books agree.

    Every conversation is exported and counted once; the totals, and what stands in the store,
    spans included, are those of an undisturbed run; and what was received is accounted for.
    """
    series = served.settled(len(conversations))
    check_exports(served.export, conversations)
    check_counts(lambda name: summed(series, name), conversations)
    assert totals_of(series) == pytest.approx(want.totals)
    assert served.ready() == (200, [])
    served.signal()
    assert served.ended() == 0
    check_balance(served.data_dir)
    check_facts(served, want)


def check_facts(served: Served, want: Undisturbed) -> None:
    """Hold that the store of a stopped instance has the facts of an undisturbed run, each once."""
    found = stored(served)
    for table, facts in want.facts.items():
        assert found[table] - facts == {}, f"{table}: not in an undisturbed run"
        assert facts - found[table] == {}, f"{table}: lost"


def stored(served: Served) -> Facts:
    """Return what is in the store of a stopped instance."""
    url = served.settings.get("STORE__URL")
    if url is None:
        return facts_in_engine(served.data_dir)
    database = served.settings.get("STORE__DATABASE", StoreConfig().database)
    store = ClickHouseStore.server(url, database=database)
    try:
        return facts_in(store)
    finally:
        store.close()
