"""Brokers that cannot be reached are told of in words."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.e2e.served import Served, eventually

pytestmark = pytest.mark.slow


def test_brokers_that_do_not_answer_are_told_of_in_one_line(tmp_path: Path) -> None:
    """The line names the key and the brokers, and shows no lines of our code."""
    with Served(tmp_path / "data", KAFKA__BOOTSTRAP="127.0.0.1:1") as served:
        said = (
            "no broker of kafka.bootstrap (127.0.0.1:1) lets us in: KafkaTimeoutError; tried again"
        )
        eventually(lambda: said in served.errors.read_text(), "it is told")
        assert 'File "' not in served.errors.read_text()
        eventually(lambda: served.value("kafka_errors_total") > 0, "it is counted")
