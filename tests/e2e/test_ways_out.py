"""Test that nothing secret leaves the process, by any way there is, wherever a producer puts it.

The ways out: the store's tables and their rows that were set aside, exports, metrics with their
exemplars, alarms and webhooks, evaluation events, the proxy's export, the console's pages and
JSON, what commands print, log lines, and every file of the data directory but the journal.
"""

from __future__ import annotations

import io
import json
import logging
import threading
from pathlib import Path
from typing import Any

import msgspec
import pytest

from alerts.exporter import Exporter
from alerts.incident import gather
from alerts.notice import notice_of
from alerts.stream_view import AlertEvent
from collector.cli import main
from collector.config import (
    Config,
    JournalConfig,
    ProxyExportConfig,
    RedactConfig,
    SampleConfig,
    TelemetryConfig,
)
from collector.configuration.keeping import FieldRule
from collector.log_gate import LogGate
from collector.otlp import parse
from collector.proxy.span_export import what_may_leave
from collector.redaction import strict_redactor
from collector.stores.export import What
from tests.alerts.alarms import CHANGE, alarm
from tests.alerts.console.front import Front
from tests.alerts.test_evaluation_event import endpoint
from tests.e2e.instance import START_NS, Clock, Instance
from tests.e2e.planting import SECRETS, left_over, planted, planted_logs, planted_words

EXPORTS: tuple[What, ...] = (
    *("conversations", "scores", "decisions", "observations"),
    *("outcomes", "labels"),
)
PAGES = (
    *("/", "/conversations", "/ledger", "/alerts", "/quality"),
    *("/v1", "/v1/conversations", "/v1/ledger", "/v1/alerts", "/v1/quality"),
)
KEY = "00" * 32
JOURNAL = ("journal.db", "journal.db-wal", "journal.db-shm")


class Out:
    """Everything that came out of one instance, by way."""

    def __init__(self) -> None:
        self.ways: dict[str, str] = {}

    def __setitem__(self, way: str, text: Any) -> None:
        """Keep what one way gave."""
        self.ways[way] = text if isinstance(text, str) else json.dumps(text, default=repr)

    def __getitem__(self, way: str) -> str:
        """Return what one way gave."""
        return self.ways[way]


def config_of(mode: str, events: str) -> Config:
    """Make the configuration of a mode."""
    kept = mode != "unkept"
    return Config(
        sample=SampleConfig(
            rate=1.0 if kept else 0.0, keep_failing=kept, keep_errors=kept, keep_new_version=0
        ),
        journal=JournalConfig(encryption_key=KEY if mode == "sealed" else ""),
        redact=RedactConfig(
            content="metadata_only" if mode == "metadata_only" else "redacted",
            at_ingest=mode == "at_ingest",
            fields=(FieldRule(field="user.id", action="pseudonym"),) if mode == "sealed" else (),
        ),
        telemetry=TelemetryConfig(otlp_endpoint=events),
    )


MODES = (
    *("sealed", "at_ingest"),
    *(pytest.param(mode, marks=pytest.mark.slow) for mode in ("kept", "unkept", "metadata_only")),
)


@pytest.fixture(scope="module", params=MODES)
def out(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Out:
    """Plant a secret of each kind everywhere, run an instance over it, and collect what comes out."""
    found = Out()
    data_dir = tmp_path_factory.mktemp("ways") / "data"
    lines = io.StringIO()
    with endpoint() as (url, posted):
        config = config_of(request.param, url)
        handler = logging.StreamHandler(lines)
        handler.setFormatter(LogGate("%(name)s %(message)s", strict_redactor(config.redact).text))
        ours = [logging.getLogger(name) for name in ("collector", "scorers", "alerts")]
        for log in ours:
            log.addHandler(handler)
            log.setLevel(logging.DEBUG)
        try:
            collect(found, config, data_dir)
        finally:
            for log in ours:
                log.setLevel(logging.NOTSET)
                log.removeHandler(handler)
    found["evaluation events"] = b"".join(body for _, body in posted).decode("utf-8", "replace")
    found["log"] = lines.getvalue()
    found["journal"] = raw(data_dir, JOURNAL)
    found["files"] = raw(data_dir, None)
    return found


def raw(data_dir: Path, names: tuple[str, ...] | None) -> str:
    """Return the bytes of the journal's files, or of all but those, as text."""
    files = (p for p in sorted(data_dir.rglob("*")) if p.is_file())
    chosen = (p for p in files if (p.name in names if names else p.name not in JOURNAL))
    return "\n".join(path.read_bytes().decode("latin-1") for path in chosen)


def collect(found: Out, config: Config, data_dir: Path) -> None:
    """Run an instance over a conversation of each kind and ask it everything."""
    with Instance(data_dir, config=config, clock=Clock()) as instance:
        stop = threading.Event()
        beside = [
            threading.Thread(target=work, args=(stop,), daemon=True)
            for work in instance.path.background
        ]
        for thread in beside:
            thread.start()
        for kind, secret in SECRETS.items():
            instance.send([planted(secret, trace=kind)])
            instance.send([planted_logs(secret, trace=kind)], signal="logs")
            for words in planted_words(secret):
                instance.note(*words)
        instance.settle()
        for secret in SECRETS.values():
            instance.end(secret)
        instance.later(30)
        for what in EXPORTS:
            found[f"export {what}"] = instance.export(what)
        store = instance.path.store
        tables = [row["name"] for row in store.query("SHOW TABLES")]
        found["tables"] = {t: store.query(f"SELECT * FROM {t}") for t in tables}  # noqa: S608  # ours
        found["totals"] = [repr(key) for key in instance.path.journal.totals()]
        path = instance.path
        exporter = Exporter(path.journal.totals, path.gauges, path.exemplars)
        found["metrics"] = [repr(family) for family in exporter.collect()]
        front = Front(store, now_ns=instance.clock())
        episodes = [
            row["episode_id"] for row in store.query("SELECT episode_id FROM conversations")
        ]
        pages = [*PAGES, *(f"{at}/conversations/{one}" for one in episodes for at in ("", "/v1"))]
        found["console"] = "\n".join(front.get(page).text for page in pages)
        found["webhook"] = webhooks(instance)
        stop.set()
        for thread in beside:
            thread.join(30)
    found["proxy export"] = exported(config)


def webhooks(instance: Instance) -> list[Any]:
    """Spell the alarm of every stream that has verdicts, as it would be posted."""
    query = instance.path.store.query
    notices = []
    for row in query(
        "SELECT DISTINCT agent, agent_version, environment, scorer, scorer_version FROM scores"
    ):
        event: AlertEvent = alarm(**{**row, "version": row["agent_version"]})
        change = msgspec.structs.replace(CHANGE, low_ns=START_NS - 10**12)
        detail = msgspec.structs.replace(
            event.detail, **{k: v for k, v in row.items() if k != "agent_version"}, change=change
        )
        event = msgspec.structs.replace(event, detail=detail)
        notice = notice_of(gather(event, query), console="http://console.example")
        notices.append(msgspec.json.decode(msgspec.json.encode(notice)))
    return notices


def exported(config: Config) -> list[str]:
    """Return what the proxy's export lets out of the planted spans."""
    allow = what_may_leave(ProxyExportConfig(redact=True), strict_redactor(config.redact, b"k"))
    bodies = [planted(secret, trace=kind) for kind, secret in SECRETS.items()]
    return [repr(allow(span)) for body in bodies for span in parse("traces", "proto", body).spans()]


WAYS = (
    *(f"export {what}" for what in EXPORTS),
    *("tables", "totals", "metrics", "console", "webhook", "proxy export"),
    *("evaluation events", "log", "files"),
)


@pytest.mark.parametrize("way", WAYS)
def test_no_secret_leaves(out: Out, way: str) -> None:
    """No kind of secret, whichever field it was planted in, comes out this way."""
    assert left_over(out[way]) == []


def test_every_way_was_open(out: Out, request: pytest.FixtureRequest) -> None:
    """Something about the planted conversations came out everywhere, or the search proves nothing."""
    mode = request.node.callspec.params["out"]
    for way in ("tables", "metrics", "console", "proxy export", "export labels", "export outcomes"):
        assert "[email]" in out[way], way
    for way in ("export scores", "export decisions", "export observations"):
        assert "id-" in out[way], way
    if mode != "metadata_only":
        # A reason that names the tool, and with it the secret in its name.
        for way in ("export scores", "evaluation events", "webhook"):
            assert "find [email]" in out[way], way
    assert ("Refund it" in out["tables"]) is (mode in ("kept", "sealed", "at_ingest"))


def test_one_alias_stands_for_an_id_everywhere(out: Out) -> None:
    """Exports of one conversation can be joined, though its id gave somebody away."""
    ids = [
        {row["conversation_id"] for row in json.loads(out[f"export {what}"])}
        for what in ("conversations", "scores", "decisions", "observations")
    ]
    assert ids == [ids[0]] * len(ids)
    assert len(ids[0]) == len(SECRETS)
    assert all(alias.startswith("id-") for alias in ids[0])


def test_only_the_journal_holds_them_and_not_when_it_is_sealed(
    out: Out, request: pytest.FixtureRequest
) -> None:
    """The owner-only journal has requests as they came; sealed, nothing that was said; else nothing at all."""
    mode = request.node.callspec.params["out"]
    texts = [json.dumps(f"I am {secret}. Refund it")[1:-1] for secret in SECRETS.values()]
    said = [text in out["journal"] for text in texts]
    # One or another is broken by the edge of a page.
    assert any(said) is (mode not in ("sealed", "at_ingest"))
    if mode == "at_ingest":
        assert left_over(out["journal"]) == []


@pytest.mark.parametrize("command", ["score", "evaluate"])
def test_commands_print_no_secret(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], command: str
) -> None:
    """Verdicts and listed errors of transcripts are redacted on the screen."""
    rows = [
        {
            "id": secret,
            "messages": [
                {"role": "user", "content": f"{secret}: I want to speak to a real person {secret}"},
                {"role": "assistant", "content": f"I have refunded {secret} to you."},
            ],
            "labels": {"missed_escalation": False},
        }
        for secret in SECRETS.values()
    ]
    file = tmp_path / "talks.jsonl"
    file.write_text("\n".join(map(json.dumps, rows)))
    main([command, str(file), *(["--errors"] if command == "evaluate" else [])])
    said = capsys.readouterr()
    assert "missed_escalation" in said.out
    assert left_over(said.out + said.err) == []


def test_verdicts_do_not_hang_on_the_gate(tmp_path: Path) -> None:
    """The same is said of the same targets in each mode; labels of metrics are clean in each, too."""
    said: dict[str, list[Any]] = {}
    for mode in ("full", "redacted", "metadata_only"):
        config = Config(redact=RedactConfig(content=mode))
        with Instance(tmp_path / mode, config=config, clock=Clock()) as instance:
            for kind, secret in SECRETS.items():
                instance.send([planted(secret, trace=kind)])
            instance.settle()
            for secret in SECRETS.values():
                instance.end(secret)
            instance.later(30)
            while instance.path.shipping.unstored:
                instance.step()
            rows = instance.path.store.query(
                "SELECT episode_id, scorer, level, verdict, value FROM scores ORDER BY ALL"
            )
            said[mode] = [tuple(row.values()) for row in rows]
            assert left_over(repr(list(instance.path.journal.totals()))) == [], mode
    assert len({row[3] for row in said["full"]}) > 1
    assert said["full"] == said["redacted"] == said["metadata_only"]
