"""What stands in Kafka comes out scored, and what cannot be read holds nothing up."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import msgspec
import pytest
from opentelemetry.proto.logs.v1.logs_pb2 import LogRecord

from collector.journal import Journal
from collector.totals import SeriesKey
from tests.clickhouse_endpoint import Endpoint
from tests.e2e.checks import check_counts, check_exports
from tests.e2e.kafka.conftest import Topics
from tests.e2e.kafka.exporter import Sent, keyed, unkeyed
from tests.e2e.otlp import logs
from tests.e2e.served import Served, eventually, summed
from tests.e2e.traffic import as_json, synthetic
from tests.faults.books import planned

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]

TRACES_ANYWHERE = {"ASSEMBLE__END_GRACE": "5s"}
"""The turns of a conversation are traces of their own, on any partition: wait for all of them."""


def as_text(sent: Iterable[Sent]) -> Iterator[Sent]:
    """Write the same messages as OTLP JSON."""
    for key, value in sent:
        yield key, as_json(value)


def stored(served: Served, episodes: int) -> dict[SeriesKey, float]:
    """Wait until so many episodes are in the store; they are counted a moment before."""

    def has_them() -> bool:
        return served.value("store_rows_total", table="conversations") >= episodes

    eventually(has_them, f"{episodes} episodes are stored")
    return served.settled(episodes)


def committed_everything(topics: Topics, partitions: int = 2) -> bool:
    """Say whether the group's offsets are those of the ends of both topics."""
    return all(
        {number: offset for number, (offset, _) in found.items()} == ends
        for topic in (topics.traces,)
        for found in [topics.broker.committed(topics.group, topic, partitions)]
        for ends in [topics.broker.ends(topic, partitions)]
    )


@pytest.mark.parametrize("way", [keyed, unkeyed])
@pytest.mark.parametrize("text", [False, True])
def test_both_encodings_are_read_with_and_without_keys(
    tmp_path: Path,
    topics: Topics,
    way: Callable[[Iterable[bytes]], Iterator[Sent]],
    text: bool,
) -> None:
    """Every conversation is scored once, and the offsets follow when nothing needs the messages."""
    conversations = synthetic(30, seed=401)
    sent = list(way(request.body for request in planned(conversations)))
    topics.broker.write(topics.traces, as_text(sent) if text else sent)
    settings = topics.settings(ASSEMBLE__LATE_WINDOW="1s", **TRACES_ANYWHERE)
    with Served(tmp_path / "data", **settings) as served:
        series = stored(served, len(conversations))
        check_exports(served.export, conversations)
        check_counts(lambda name: summed(series, name), conversations)
        assert summed(series, "kafka_messages_total", result="taken") == len(sent)
        eventually(lambda: committed_everything(topics), "everything is committed")
        assert served.value("kafka_connected") == 1
        eventually(lambda: served.value("kafka_lag") == 0, "nothing is left to read")
        served.signal()
        assert served.ended() == 0


def test_letters_that_nobody_takes_hold_nothing_up(tmp_path: Path, topics: Topics) -> None:
    """Without their topic a few are tried, the rest is counted, and the good messages flow on."""
    conversations = synthetic(3, seed=77)
    settings = topics.settings(KAFKA__DEAD_LETTERS="nobody-made-it", **TRACES_ANYWHERE)
    with Served(tmp_path / "data", **settings) as served:
        topics.broker.write(topics.traces, [(b"bad", b"no OTLP")] * 300)
        topics.broker.write(topics.traces, keyed(r.body for r in planned(conversations)))
        series = stored(served, len(conversations))
        assert summed(series, "kafka_dead_letters_total", result="sent") == 0
        assert summed(series, "kafka_dead_letters_total") == 300
        assert summed(series, "kafka_connected") == 1


def test_what_cannot_be_read_goes_to_the_dead_letters_and_the_rest_flows_on(
    tmp_path: Path, topics: Topics
) -> None:
    """Garbage, an empty message and one that is too large stand between good ones."""
    conversations = synthetic(10, seed=402)
    sent = list(keyed(request.body for request in planned(conversations)))
    poison: list[tuple[bytes | None, bytes | None]] = [
        (b"k1", b"no telemetry at all"),
        (b"k2", b'{"resourceSpans": 7}'),
        (b"k3", None),
        (b"k4", b"\n" + b"\xff" * 300_000),
    ]
    mixed: list[tuple[bytes | None, bytes | None]] = []
    for number, message in enumerate(sent):
        mixed += [message, *poison[number : number + 1]]
    topics.broker.write(topics.traces, mixed)
    settings = topics.settings(KAFKA__DEAD_LETTER_MAX="200KB", **TRACES_ANYWHERE)
    with Served(tmp_path / "data", **settings) as served:
        series = stored(served, len(conversations))
        check_exports(served.export, conversations)
        assert summed(series, "kafka_messages_total", result="unreadable") == len(poison)
        assert summed(series, "kafka_dead_letters_total", result="sent") == 3
        assert summed(series, "kafka_dead_letters_total", result="too_large") == 1
    letters = {letter.key: letter for letter in topics.broker.read(topics.letters)}
    assert {key: letter.value for key, letter in letters.items()} == dict(poison[:3])
    headers = {key: dict(letter.headers) for key, letter in letters.items()}
    assert {key: found["outrider.reason"] for key, found in headers.items()} == {
        b"k1": b"malformed",
        b"k2": b"malformed",
        b"k3": b"empty",
    }
    assert all(found["outrider.topic"] == topics.traces.encode() for found in headers.values())


def test_offsets_stay_behind_what_is_undecided(tmp_path: Path, topics: Topics) -> None:
    """An open conversation holds its partition's offset; a crash changes nothing about it."""
    conversations = synthetic(6, seed=403)
    bodies = [[request.body for request in planned([one])] for one in conversations]
    bodies.sort(key=len)
    *others, still_open = bodies
    before, after = others[:2], others[2:]
    assert len(still_open) > 1

    def write(*batches: list[bytes]) -> None:
        sent = [(b"the same partition", body) for batch in batches for body in batch]
        topics.broker.write(topics.traces, sent)

    write(*before, still_open[:-1], *after)
    (partition,) = (n for n, end in topics.broker.ends(topics.traces, 2).items() if end)

    def committed() -> int:
        return topics.broker.committed(topics.group, topics.traces, 2)[partition][0]

    first = sum(map(len, before))
    settings = topics.settings(ASSEMBLE__LATE_WINDOW="1s", ASSEMBLE__TURN_QUIET="200ms")
    with Served(tmp_path / "data", **settings) as served:
        eventually(lambda: served.value("episodes_total") == len(others), "the others are decided")
        left = len(still_open) - 1
        eventually(lambda: served.value("journal_requests") == left, "they are done with")
        eventually(lambda: committed() == first, "the open one holds the offset")
        served.kill()
        served.start()
        eventually(lambda: served.value("kafka_connected") == 1, "it is back")
        assert committed() == first
        write(still_open[-1:])
        series = stored(served, len(conversations))
        check_exports(served.export, conversations)
        check_counts(lambda name: summed(series, name), conversations)
        assert summed(series, "spans_duplicate_total") == 0
        eventually(lambda: committed_everything(topics), "everything is committed")


def test_a_broker_that_goes_away_holds_nothing_else_up(tmp_path: Path, topics: Topics) -> None:
    """Without brokers OTLP goes on; when they are back, so does Kafka."""
    before, meanwhile, after = (synthetic(5, seed=seed) for seed in (404, 405, 406))
    broker = topics.broker
    broker.write(topics.traces, keyed(r.body for r in planned(before)))
    with Served(tmp_path / "data", **topics.settings(**TRACES_ANYWHERE)) as served:
        stored(served, len(before))
        broker.stop()
        try:
            eventually(lambda: served.value("kafka_connected") == 0, "it is noticed")
            for request in planned(meanwhile):
                answer = served.client.post(
                    f"{served.receive}/v1/traces",
                    content=request.body,
                    headers={"Content-Type": "application/x-protobuf"},
                )
                assert answer.status_code == 200
            stored(served, len(before) + len(meanwhile))
        finally:
            broker.start()
        broker.write(topics.traces, keyed(r.body for r in planned(after)))
        stored(served, len(before) + len(meanwhile) + len(after))
        check_exports(served.export, [*before, *meanwhile, *after])
        eventually(lambda: served.value("kafka_connected") == 1, "it is connected again")


def test_without_brokers_an_instance_starts_and_says_so(tmp_path: Path) -> None:
    """What is configured and cannot be reached is a gauge, and no reason not to start."""
    with Served(tmp_path / "data", KAFKA__BOOTSTRAP="127.0.0.1:9") as served:
        assert served.ready() == (200, [])
        assert served.value("kafka_connected") == 0
        eventually(lambda: served.value("kafka_errors_total") > 0, "it is counted")
        served.signal()
        assert served.ended() == 0
    journal = Journal.open(
        tmp_path / "data" / "journal.db", max_bytes=1, seen_limit=1, clock_ns=lambda: 0
    )
    assert msgspec.to_builtins(journal.positions()) == {}
    journal.close()


def test_a_full_journal_pauses_reading_and_keeps_the_partitions(
    tmp_path: Path, endpoint: Endpoint, topics: Topics
) -> None:
    """While the store is away the log waits, for longer than a session; no partition is taken away."""
    conversations = synthetic(40, seed=407)
    sent = list(keyed(r.body for r in planned(conversations)))
    size = sum(len(value) for _, value in sent)
    topics.broker.write(topics.traces, sent)
    endpoint.fault("refuse")
    settings = topics.settings(
        STORE__URL=endpoint.url,
        STORE__DATABASE="kafka_full",
        JOURNAL__MAX_SIZE=f"{size // 2}B",
        ASSEMBLE__LATE_WINDOW="1s",
        **TRACES_ANYWHERE,
    )
    # What is read of two partitions at a time would be more than fits.
    topics.broker.write(topics.traces, [(b"1", b"{}")] * 600)
    with Served(tmp_path / "data", **settings) as served:
        eventually(lambda: served.value("kafka_connected") == 1, "it is connected")
        deadline = time.monotonic() + 10
        while time.monotonic() < deadline:
            assert served.value("journal_bytes") <= size // 2
            time.sleep(0.2)
        endpoint.fault("")
        series = stored(served, len(conversations))
        assert summed(series, "kafka_rebalances_total", event="revoked") == 0
        assert summed(series, "kafka_rebalances_total", event="lost") == 0
        eventually(lambda: committed_everything(topics), "everything is committed")


def test_messages_are_read_however_they_are_compressed(tmp_path: Path, topics: Topics) -> None:
    """All codecs that Kafka's clients use, in one topic."""
    conversations = synthetic(8, seed=408)
    for number, codec in enumerate(("gzip", "snappy", "lz4", "zstd")):
        some = planned(conversations[2 * number : 2 * number + 2])
        topics.broker.write(topics.traces, keyed(r.body for r in some), compression_type=codec)
    with Served(tmp_path / "data", **topics.settings(**TRACES_ANYWHERE)) as served:
        stored(served, len(conversations))
        check_exports(served.export, conversations)


def test_log_records_are_read_from_their_own_topic(tmp_path: Path, topics: Topics) -> None:
    """They count as received, each once."""
    body = logs(LogRecord(time_unix_nano=1, event_name="something.happened"))
    topics.broker.write(topics.logs, [(b"k", body)])
    with Served(tmp_path / "data", **topics.settings()) as served:

        def received() -> bool:
            return served.value("log_records_received_total", receiver="kafka") == 1

        eventually(received, "the record is received")
