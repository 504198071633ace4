"""Give end-to-end tests one ClickHouse server; each test uses a database of its own."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.clickhouse_endpoint import Endpoint


@pytest.fixture(scope="package")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Endpoint]:
    """Serve ClickHouse's HTTP interface from a process of its own."""
    with Endpoint(tmp_path_factory.mktemp("endpoint") / "engine") as running:
        yield running


@pytest.fixture
def endpoint(engine: Endpoint) -> Iterator[Endpoint]:
    """Give the server in good health, and leave it so."""
    yield engine
    engine.fault("")
