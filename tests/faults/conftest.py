"""Give fault tests one ClickHouse server; each test uses a database of its own."""

from __future__ import annotations

from tests.e2e.conftest import endpoint, engine

__all__ = ["endpoint", "engine"]
