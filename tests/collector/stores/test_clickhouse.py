"""Test writing and reading: the same on the embedded engine and over HTTP."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from collector.config import StoreConfig
from collector.directory_lock import DirectoryLock
from collector.errors import (
    ConfigError,
    InsertRefusedError,
    PermanentError,
    PoisonRowError,
    StoreUnavailableError,
)
from collector.stores.clickhouse import ClickHouseStore, open_store
from collector.stores.rows import rows_of, span_rows
from collector.stores.tables import TABLES
from tests.build import span
from tests.clickhouse_endpoint import Endpoint
from tests.collector.stores.episodes import START_NS, decided, score, through_outbox

GOOD = ["p", "spans", "{}", 1.5, "1790000000.000000001"]
POISON = ["p", "spans", "{}", "many", "1790000000.000000001"]


def everything(store: ClickHouseStore) -> dict[str, list[object]]:
    """Read all tables as readers see them."""
    return {
        table: [
            list(row.values())
            for row in store.query(f"SELECT * FROM {table} FINAL ORDER BY ALL")  # noqa: S608  # our own names
        ]
        for table in TABLES
    }


def test_resent_rows_change_nothing(store: ClickHouseStore) -> None:
    """Rows inserted again after a crash leave what readers see as it was."""
    rows = through_outbox(rows_of(decided()))
    spans = through_outbox(span_rows([span(start_s=1_790_000_000)], sample_probability=0.5))
    store.insert(rows)
    store.insert(spans)
    before = everything(store)
    assert {table for table, lines in before.items() if lines} == set(rows) | set(spans)
    store.insert({**rows, **spans})
    assert everything(store) == before


def test_times_keep_their_nanoseconds(store: ClickHouseStore) -> None:
    """A time read back is the time written, whatever the server's zone."""
    store.insert(rows_of(decided()))
    store.insert(span_rows([span(start_s=0.0)], sample_probability=1.0))
    assert store.query("SELECT toUnixTimestamp64Nano(started) AS t FROM conversations") == [
        {"t": START_NS}
    ]
    assert store.query("SELECT toUnixTimestamp64Nano(Timestamp) AS t FROM otel_traces") == [
        {"t": 0}
    ]


def test_current_scores_are_the_newest_revisions(store: ClickHouseStore) -> None:
    """A revision replaces all of a scorer's earlier verdicts on the episode."""
    first = (score("policy", target="a"), score("policy", target="b"), score("looping"))
    store.insert(rows_of(decided(scores=first)))
    revised = (score("policy", target="a", revision=1, verdict="fail", value=0.0),)
    store.insert(rows_of(decided(scores=revised, revision=1)))
    rows = store.query("SELECT scorer, target, verdict FROM scores_current ORDER BY scorer")
    assert [tuple(row.values()) for row in rows] == [
        ("looping", "", "pass"),
        ("policy", "a", "fail"),
    ]
    assert store.query("SELECT count() AS n FROM scores FINAL") == [{"n": 4}]


def test_a_revision_replaces_the_ledger_row(store: ClickHouseStore) -> None:
    """Each (episode, scorer) has one decision, the latest, whatever the order of arrival."""
    store.insert(rows_of(decided(revision=1)))
    store.insert(rows_of(decided(revision=0)))
    assert store.query("SELECT revision FROM decisions FINAL") == [{"revision": 1}]


def test_the_trace_index_keeps_the_widest_range(store: ClickHouseStore) -> None:
    """Later batches of a trace widen its range, and resends do not change it."""
    for start in (100.0, 50.0, 200.0, 50.0):
        store.insert(span_rows([span(start_s=start)], sample_probability=1.0))
    assert store.query(
        "SELECT toUnixTimestamp(min(Start)) AS s, toUnixTimestamp(max(End)) AS e"
        " FROM otel_traces_trace_id_ts WHERE TraceId = {id:String}",
        {"id": "1" * 32},
    ) == [{"s": 50, "e": 200}]


def test_the_sample_rate_is_a_column(store: ClickHouseStore) -> None:
    """Readers that weight by SampleRate find it, 1 where nothing was sampled."""
    store.insert(span_rows([span()], sample_probability=0.25))
    store.insert(span_rows([span(id="9" * 16)], sample_probability=1.0))
    rows = store.query("SELECT SampleRate FROM otel_traces ORDER BY SampleRate")
    assert rows == [{"SampleRate": 1}, {"SampleRate": 4}]


def test_an_insert_may_touch_any_number_of_days(store: ClickHouseStore) -> None:
    """A replay of recordings from hundreds of days is not refused for its partitions."""
    rows = store.query(
        "SELECT value FROM system.settings WHERE name = 'max_partitions_per_insert_block'"
    )
    assert rows == [{"value": "0"}]


def test_parameters_are_bound_not_pasted(store: ClickHouseStore) -> None:
    """Quotes, newlines and backslashes in a parameter are data."""
    text = "o'clock \"\\\n\t{x}"
    assert store.query("SELECT {t:String} AS t", {"t": text}) == [{"t": text}]


def test_a_row_the_store_cannot_take_is_poison(store: ClickHouseStore) -> None:
    """A wrong value in a row is told apart from an unavailable store."""
    with pytest.raises(PoisonRowError, match="CANNOT_PARSE_NUMBER"):
        store.insert({"totals": [GOOD, POISON]})


@pytest.mark.parametrize("value", ["\ud800", object()])
def test_a_row_that_cannot_be_encoded_is_poison(store: ClickHouseStore, value: object) -> None:
    """What cannot be sent at all is the row's fault."""
    with pytest.raises(PoisonRowError):
        store.insert({"totals": [["p", value, "{}", 1.5, "1790000000.000000001"]]})


def test_a_wrong_query_is_permanent(store: ClickHouseStore) -> None:
    """A refused query is not retried."""
    with pytest.raises(PermanentError, match="nowhere"):
        store.query("SELECT 1 FROM nowhere")


def test_a_missing_table_does_not_blame_the_row(store: ClickHouseStore) -> None:
    """While the schema is missing an insert is to be retried, so nothing is lost."""
    store.database = "absent"
    try:
        with pytest.raises(InsertRefusedError):
            store.insert({"totals": [GOOD]})
    finally:
        store.database = "outrider"


def test_a_refusal_nobody_knows_is_told_as_such(endpoint: Endpoint) -> None:
    """Whether the row, the table or the server is at fault is for the caller to find out."""
    store = ClickHouseStore.server(endpoint.url, timeout_s=5)
    store.migrate(ttl_days=0, verdict_days=0)
    for code in (16, 49):
        endpoint.fault("error", code=code)
        try:
            with pytest.raises(InsertRefusedError):
                store.insert({"totals": [GOOD]})
        finally:
            endpoint.fault("")
    store.close()


def test_ping_answers(store: ClickHouseStore) -> None:
    """A living store answers."""
    store.ping()


@pytest.mark.parametrize(
    "fault",
    [
        {"mode": "refuse"},
        {"mode": "hang"},
        {"mode": "error", "code": 252},
        {"mode": "error", "code": 241},
        {"mode": "error", "code": 164},
        {"mode": "error", "code": 0, "status": 502},
        {"mode": "late"},
        {"mode": "half"},
    ],
)
def test_a_failing_server_is_unavailable(endpoint: Endpoint, fault: dict[str, object]) -> None:
    """Lost connections, timeouts and server trouble are retryable, and it recovers."""
    store = ClickHouseStore.server(endpoint.url, timeout_s=1)
    store.migrate(ttl_days=0, verdict_days=0)
    endpoint.fault(**fault)  # type: ignore[arg-type]  # the parameters above
    try:
        with pytest.raises(StoreUnavailableError):
            store.insert({"totals": [GOOD]})
    finally:
        endpoint.fault("")
    store.insert({"totals": [GOOD]})
    store.close()


def test_an_absent_server_is_contacted_late() -> None:
    """A server that is down does not stop the start; its first use says so."""
    store = ClickHouseStore.server("http://127.0.0.1:9", timeout_s=1)
    for use in (store.ping, store.migrate, lambda: store.insert({"totals": [GOOD]})):
        with pytest.raises(StoreUnavailableError):
            use()
    store.close()


def test_a_wrong_password_is_retried(tmp_path: Path) -> None:
    """Credentials that an operator can mend do not lose rows."""
    with Endpoint(tmp_path / "engine", password="right") as guarded:  # noqa: S106  # a test's own
        wrong = ClickHouseStore.server(guarded.url, password="wrong", timeout_s=5)  # noqa: S106  # a test's own
        with pytest.raises(StoreUnavailableError, match="Authentication failed"):
            wrong.ping()
        right = ClickHouseStore.server(guarded.url, password="right", timeout_s=5)  # noqa: S106  # a test's own
        right.ping()
        right.close()


@pytest.mark.parametrize("url", ["localhost:8123", "ftp://h", "http://", "clickhouse://h"])
def test_a_wrong_url_is_a_config_error(url: str, tmp_path: Path) -> None:
    """The error names the key and the form."""
    with pytest.raises(ConfigError, match=r"store\.url.*http\(s\)://host:8123"):
        open_store(StoreConfig(url=url), tmp_path)


def test_a_wrong_database_name_is_a_config_error(tmp_path: Path) -> None:
    """The name goes into statements, so it must be one."""
    with pytest.raises(ConfigError, match=r"store\.database"):
        open_store(StoreConfig(url="http://h", database="a;b"), tmp_path)


def test_a_held_directory_is_a_config_error(tmp_path: Path) -> None:
    """A second process is told who holds the directory."""
    lock = DirectoryLock(tmp_path / "store.lock")
    with pytest.raises(ConfigError, match="in use by process"):
        open_store(StoreConfig(), tmp_path)
    lock.release()


def test_the_directory_belongs_to_this_user_alone(tmp_path: Path) -> None:
    """Nobody else may read what conversations said, whatever the directory around it permits."""
    open_store(StoreConfig(), tmp_path, at_first_use=True).close()
    assert (tmp_path / "store").stat().st_mode & 0o777 == 0o700


def test_an_unwritable_directory_is_a_config_error(tmp_path: Path) -> None:
    """The directory must be one that can be written."""
    (tmp_path / "file").write_text("")
    with pytest.raises(ConfigError, match="not writable"):
        open_store(StoreConfig(), tmp_path / "file")


def test_without_the_engine_the_fix_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where chdb is not installed the error names the extra and the other way, and frees the lock."""
    for module in list(sys.modules):
        if module.split(".")[0] == "chdb" or "_chdbclient" in module or "chdb_backend" in module:
            monkeypatch.delitem(sys.modules, module)
    monkeypatch.setitem(sys.modules, "chdb", None)
    with pytest.raises(ConfigError, match=r"pip install 'outrider\[embedded\]'.*store\.url"):
        open_store(StoreConfig(), tmp_path)
    DirectoryLock(tmp_path / "store.lock").release()
