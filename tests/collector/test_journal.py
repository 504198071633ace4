"""Test what the journal keeps and gives back."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from collector.errors import JournalFullError, RetryableError
from collector.journal import ConversationRow, Journal, OutboxRow, TipRow, Transaction
from collector.totals import Deltas, series
from tests.collector.journals import done, entry, episode, open_journal

RECEIVED = series("spans_received_total", receiver="otlp_http")
SETTLED = series("stage_items_total", stage="pipeline", result="settled")


@pytest.fixture
def journal(tmp_path: Path) -> Iterator[Journal]:
    """Open a journal and close it after the test."""
    opened = open_journal(tmp_path)
    yield opened
    opened.close()


def test_append_and_read(journal: Journal) -> None:
    """A request is read back as it was appended, under the id its future gave."""
    first = entry(b"a", tenant="acme", credential="00ff")
    second = entry(b"\x00\xff" * 5_000, signal="logs", encoding="json")
    ids = [done(journal.append(first)), done(journal.append(second))]

    read = journal.read(ids)

    assert [(item.id, item.body) for item in read] == [(ids[0], first.body), (ids[1], second.body)]
    assert (read[0].tenant, read[0].credential) == ("acme", "00ff")
    assert (read[1].signal, read[1].encoding) == ("logs", "json")
    assert journal.ids() == ids
    assert journal.pending == 2
    assert journal.bytes_used == 10_001


def test_read_leaves_out_what_is_freed(journal: Journal) -> None:
    """Ids that are freed or were never given are left out of a read."""
    ids = [done(journal.append(entry())) for _ in range(3)]
    done(journal.commit(Transaction(free=[ids[1]])))

    assert [item.id for item in journal.read([*ids, 999])] == [ids[0], ids[2]]


def test_after_goes_in_order_and_stops_short_for_large_bodies(journal: Journal) -> None:
    """A read by range gives the next requests in order, fewer than asked when they are large."""
    for _ in range(4):
        done(journal.append(entry(bytes(9 * 1024 * 1024))))

    assert [item.id for item in journal.after(0, 10)] == [1, 2]
    assert [item.id for item in journal.after(2, 1)] == [3]
    assert journal.after(4, 10) == []


def test_received_items_are_counted_by_receiver(journal: Journal) -> None:
    """Spans and log records count as received with the request that brought them; ends do not."""
    done(journal.append(entry(items=3)))
    done(journal.append(entry(items=4, receiver="kafka")))
    done(journal.append(entry(items=5, signal="logs")))
    done(journal.append(entry(items=0, signal="end", encoding="json")))

    assert journal.totals() == {
        RECEIVED: 3,
        series("spans_received_total", receiver="kafka"): 4,
        series("log_records_received_total", receiver="otlp_http"): 5,
    }


def test_full_journal_refuses_until_something_is_freed(tmp_path: Path) -> None:
    """A body that would not fit is refused at once, and accepted when room was made."""
    journal = open_journal(tmp_path, max_bytes=100)
    first = done(journal.append(entry(bytes(80))))
    with pytest.raises(JournalFullError):
        journal.append(entry(bytes(21)))
    done(journal.append(entry(bytes(20))))

    done(journal.commit(Transaction(free=[first])))

    done(journal.append(entry(bytes(80))))
    assert journal.bytes_used == 100
    journal.close()


def test_ids_are_never_given_twice(tmp_path: Path) -> None:
    """Freed ids are not given again, not even after a restart with an empty journal."""
    journal = open_journal(tmp_path)
    last = max(done(journal.append(entry())) for _ in range(3))
    done(journal.commit(Transaction(free=journal.ids(), processed_through=last)))
    journal.close()

    journal = open_journal(tmp_path)

    assert journal.ids() == []
    assert done(journal.append(entry())) == last + 1
    journal.close()


def test_received_is_settled_plus_in_flight(journal: Journal) -> None:
    """At every step the spans received are those concluded and those behind the watermark."""
    ids = [done(journal.append(entry(items=n))) for n in (1, 2, 4)]
    done(journal.append(entry(items=50, signal="logs")))
    settled = 0
    for row_id, items in zip(ids, (1, 2, 4), strict=True):
        totals = journal.totals()
        assert totals[RECEIVED] == totals.get(SETTLED, 0) + journal.spans_in_flight()
        settled += items
        done(journal.commit(Transaction(processed_through=row_id, totals={SETTLED: items})))
        assert journal.spans_in_flight() == 7 - settled


def test_watermarks_never_go_back(journal: Journal) -> None:
    """An older watermark or observation number leaves the newer one in place."""
    done(journal.commit(Transaction(processed_through=9, observation_sequence=4)))
    done(journal.commit(Transaction(processed_through=3, observation_sequence=2)))
    done(journal.commit(Transaction()))

    assert (journal.processed_through, journal.observation_sequence) == (9, 4)


def test_everything_is_there_after_a_restart(tmp_path: Path) -> None:
    """Requests, conclusions, totals, seen spans, the producer's id and the watermarks survive."""
    journal = open_journal(tmp_path)
    producer = journal.producer
    kept = done(journal.append(entry(b"kept")))
    totals: Deltas = {SETTLED: 2, series("score_value_sum", scorer="looping"): 0.25}
    (outbox_id,) = done(
        journal.commit(
            Transaction(
                processed_through=kept,
                observation_sequence=7,
                totals=totals,
                seen=[b"s" * 24],
                episodes=[episode()],
                conversations=[ConversationRow(key="c-1", touched_ns=1, record=b"c")],
                tips=[TipRow(tip=b"t" * 16, key="c-1", touched_ns=1)],
                outbox=[OutboxRow(created_ns=3, payload=b"rows")],
            )
        )
    )
    before = journal.totals()
    journal.close()

    journal = open_journal(tmp_path)

    assert journal.producer == producer
    assert journal.totals() == before
    assert (journal.processed_through, journal.observation_sequence) == (kept, 7)
    assert (journal.pending, journal.bytes_used) == (1, 4)
    assert b"s" * 24 in journal.seen
    assert b"u" * 24 not in journal.seen
    assert list(journal.episodes()) == [episode()]
    assert journal.conversation("c-1") == ConversationRow(key="c-1", touched_ns=1, record=b"c")
    assert journal.tip(b"t" * 16) == "c-1"
    assert journal.outbox(5) == [OutboxRow(id=outbox_id, created_ns=3, payload=b"rows")]
    journal.close()


def test_episodes_are_replaced_marked_and_dropped(journal: Journal) -> None:
    """An episode is written over under its id, marked as stored, and dropped."""
    done(journal.commit(Transaction(episodes=[episode(), episode("e-2")])))
    done(
        journal.commit(
            Transaction(
                episodes=[episode(record=b"revised")],
                stored_episodes=["e-1", "unknown"],
                drop_episodes=["e-2"],
            )
        )
    )

    assert journal.episode("e-1") == episode(record=b"revised", stored=True)
    assert journal.episode("e-2") is None


def test_episodes_are_read_in_parts(journal: Journal) -> None:
    """All episodes come, each once, when there are more than one read fetches."""
    ids = [f"e-{number}" for number in range(1_200)]
    done(journal.commit(Transaction(episodes=[episode(name) for name in ids])))

    assert [row.episode_id for row in journal.episodes()] == ids


def test_outbox_keeps_its_order(journal: Journal) -> None:
    """Outbox rows come in the order they were committed until they are dropped."""
    ids: list[int] = []
    for payload in (b"1", b"2", b"3"):
        row = OutboxRow(created_ns=1, payload=payload)
        given = done(journal.commit(Transaction(outbox=[row])))
        ids += given
    done(journal.commit(Transaction(drop_outbox=[ids[0]])))

    assert [(row.id, row.payload) for row in journal.outbox(10)] == [(ids[1], b"2"), (ids[2], b"3")]
    assert [row.payload for row in journal.outbox(1)] == [b"2"]


def test_a_tip_moves_on(journal: Journal) -> None:
    """A tip that was extended is dropped in the transaction that adds the new one."""
    done(journal.commit(Transaction(tips=[TipRow(tip=b"old", key="c-1", touched_ns=1)])))
    done(
        journal.commit(
            Transaction(tips=[TipRow(tip=b"new", key="c-1", touched_ns=2)], drop_tips=[b"old"])
        )
    )

    assert journal.tip(b"old") is None
    assert journal.tip(b"new") == "c-1"


def test_unknown_conversation(journal: Journal) -> None:
    """A conversation that nothing is remembered of is ``None``."""
    assert journal.conversation("nobody") is None


def test_close_writes_what_is_queued(tmp_path: Path) -> None:
    """Work queued before the close is durable; after it, work and reads are refused."""
    journal = open_journal(tmp_path)
    futures = [journal.append(entry(b"%d" % number)) for number in range(50)]
    journal.close()
    journal.close()

    assert sorted(future.result(timeout=0) for future in futures) == list(range(1, 51))
    with pytest.raises(RetryableError, match="closed"):
        journal.append(entry())
    with pytest.raises(RetryableError, match="closed"):
        journal.commit(Transaction())
    with pytest.raises(RetryableError, match="closed"):
        journal.ids()
    reopened = open_journal(tmp_path)
    assert len(reopened.ids()) == 50
    reopened.close()
