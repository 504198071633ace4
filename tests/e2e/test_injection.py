"""Test that what traffic says is never a query, a path, a template, a format or a setting."""

from __future__ import annotations

import urllib.parse
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from alerts.exporter import Exporter
from collector.config import Config, TelemetryConfig
from tests.alerts.console.front import Front
from tests.e2e.instance import Clock, Instance
from tests.e2e.planting import planted, planted_logs, planted_words
from tests.e2e.test_ways_out import webhooks

PAYLOADS = {
    "statement": "'; DROP TABLE conversations; --",
    "escaped statement": "\\'); DROP TABLE scores; SELECT 1 FORMAT Null; -- ",
    "placeholder": "{c0:String} {limit:UInt32} %(agent)s %s ?",
    "format": "{0.__class__.__mro__} {self} %x$n",
    "template": "{{ 7*191 }} {% for x in ().__class__ %} ${7*191} <%= 7*191 %>",
    "path": "../../../../tmp/outrider-planted",
    "command": "$(touch /tmp/outrider-planted) `touch /tmp/outrider-planted` | touch x",
    "setting": "${env:HOME} OUTRIDER__STORE__URL=http://evil.example",
    "like": "%_\\%",
}
"""Each has no secret in it, so that it is stored as it is; 7 times 191 is nowhere else."""
KEPT = {
    "journal.db",
    "journal.db-wal",
    "journal.db-shm",
    "lock",
    "store",
    "store.lock",
    "pseudonym.key",
}
"""What a data directory consists of, whatever was sent."""


class Ran:
    """What one instance has of all payloads, and ways to ask it."""

    def __init__(self, instance: Instance, data_dir: Path, tables: list[str]) -> None:
        self.instance = instance
        self.data_dir = data_dir
        self.tables_before = tables
        self.front = Front(instance.path.store, now_ns=instance.clock())

    def query(self, sql: str) -> list[dict[str, Any]]:
        """Ask the store."""
        return self.instance.path.store.query(sql)


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ran]:
    """Send every payload in every field, as spans, log records, outcomes and labels."""
    data_dir = tmp_path_factory.mktemp("injection") / "data"
    config = Config(telemetry=TelemetryConfig(label_limit=100))
    with Instance(data_dir, config=config, clock=Clock()) as instance:
        instance.send([planted("plain", trace="plain")])
        instance.end("plain")
        instance.later(30)
        instance.export("scores")
        tables = [row["name"] for row in instance.path.store.query("SHOW TABLES")]
        for name, payload in PAYLOADS.items():
            instance.send([planted(payload, trace=name)])
            instance.send([planted_logs(payload, trace=name)], signal="logs")
            for words in planted_words(payload):
                instance.note(*words)
        instance.settle()
        for payload in PAYLOADS.values():
            instance.end(payload)
        instance.later(30)
        yield Ran(instance, data_dir, tables)


def test_everything_is_stored_and_nothing_else_happened(ran: Ran) -> None:
    """Each conversation is there under its own id, word for word, and every table still is."""
    exported = {line["conversation_id"]: line for line in ran.instance.export("conversations")}
    assert set(exported) == {*PAYLOADS.values(), "plain"}
    for payload in PAYLOADS.values():
        line = exported[payload]
        assert payload in line["messages"][0]["text"]
        assert line["identity"]["agent"] == payload
    assert [row["name"] for row in ran.query("SHOW TABLES")] == ran.tables_before
    for what in ("scores", "decisions", "outcomes", "labels"):
        lines = ran.instance.export(what)
        assert {line["conversation_id"] for line in lines} >= set(PAYLOADS.values())


@pytest.mark.parametrize("payload", PAYLOADS.values(), ids=PAYLOADS)
def test_a_filter_is_a_value(ran: Ran, payload: str) -> None:
    """Asked for an agent of such a name, the console finds that agent's conversation and no other."""
    asked = {"agent": payload, "verdict": "any", "variant": ""}
    answer = ran.front.json(f"/v1/conversations?{urllib.parse.urlencode(asked)}")
    assert {row["conversation_id"] for row in answer["conversations"]} == {payload}


def test_nothing_is_evaluated(ran: Ran) -> None:
    """No page, notice or metric holds the result of what was written as a template or a format."""
    episodes = [row["episode_id"] for row in ran.query("SELECT episode_id FROM conversations")]
    pages = "".join(ran.front.get(f"/conversations/{one}").text for one in episodes)
    path = ran.instance.path
    families = Exporter(path.journal.totals, path.gauges, path.exemplars).collect()
    said = pages + repr(webhooks(ran.instance)) + "".join(map(repr, families))
    assert "191" in said
    assert "1337" not in said
    assert "<class" not in said
    assert str(Path.home()) not in said.replace(str(ran.data_dir), "")


def test_no_file_is_named_by_traffic(ran: Ran) -> None:
    """The data directory holds what it always does, and nothing was made outside of it."""
    assert {path.name for path in ran.data_dir.iterdir()} <= KEPT
    assert not Path("/tmp/outrider-planted").exists()  # noqa: S108 - where the payloads point
