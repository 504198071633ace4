"""Test that the test endpoint speaks ClickHouse's HTTP interface to a client not ours."""

from __future__ import annotations

import gzip
from collections.abc import Iterator

import clickhouse_connect
import pytest
from clickhouse_connect.driver.client import Client
from clickhouse_connect.driver.exceptions import DatabaseError

from tests.clickhouse_endpoint import Endpoint


@pytest.fixture
def client(endpoint: Endpoint) -> Iterator[Client]:
    """Connect the ordinary network client, compressing both ways."""
    made = clickhouse_connect.get_client(host="127.0.0.1", port=endpoint.port, compress="gzip")
    made.command("CREATE TABLE IF NOT EXISTS pets (name String, age UInt8) ENGINE = Memory")
    yield made
    made.command("DROP TABLE pets")
    made.close()


def test_rows_go_in_and_out(client: Client) -> None:
    """A compressed, chunked insert is read back through a streamed Native query."""
    rows = [(f"pet {n}", n % 20) for n in range(5_000)]
    body = gzip.compress("".join(f"{name},{age}\n" for name, age in rows).encode())
    chunks = (body[start : start + 1_000] for start in range(0, len(body), 1_000))
    client.raw_insert("pets", ["name", "age"], chunks, fmt="CSV", compression="gzip")
    with client.query_rows_stream("SELECT * FROM pets") as stream:
        assert sorted(stream) == sorted(rows)


def test_settings_and_parameters_reach_the_engine(client: Client) -> None:
    """Per-request settings and bound parameters are applied."""
    result = client.query(
        "SELECT {name:String}, getSetting('max_threads')",
        parameters={"name": "Rex"},
        settings={"max_threads": 1},
    )
    assert result.result_rows == [("Rex", 1)]


def test_errors_carry_their_code(client: Client) -> None:
    """A refused statement comes back with ClickHouse's code and text."""
    with pytest.raises(DatabaseError, match="UNKNOWN_TABLE") as caught:
        client.query("SELECT * FROM nowhere")
    assert caught.value.code == 60


def test_faults_end_after_so_many_requests(endpoint: Endpoint, client: Client) -> None:
    """A fault meets the statements that match, as often as told."""
    endpoint.fault("error", times=1, code=252, match="pets")
    assert client.command("SELECT 1") == 1
    with pytest.raises(DatabaseError) as caught:
        client.command("SELECT count() FROM pets")
    assert caught.value.code == 252
    assert client.command("SELECT count() FROM pets") == 0
