"""Test that a request that was redacted before the journal can still be put together and scored."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest

from collector.config_file import load
from collector.configuration.keeping import FieldRule, RedactConfig
from collector.errors import ConfigError
from collector.hindsight import About, Label, Outcome
from collector.ingest_gate import IngestGate
from collector.journal_records import ConversationEnd, Entry
from collector.otlp import parse
from collector.redaction import redactor_of
from tests.e2e.otlp import said, span, traces

MIA, BO = "mia@example.com", "bo@example.com"
GATE = IngestGate(redactor_of(RedactConfig(), b"key"))
ID = redactor_of(RedactConfig(), b"key").id


def entry(signal: Any, body: bytes, encoding: Any = "json") -> Entry:
    """Build a request."""
    return Entry(
        received_ns=1, receiver="test", signal=signal, encoding=encoding, items=1, body=body
    )


def test_spans_stay_in_their_order_and_conversations_apart() -> None:
    """Two conversations whose ids are addresses are two aliases, the ones that the store shows."""

    def about(who: str) -> dict[str, Any]:
        return {
            "gen_ai.conversation.id": who,
            "session.id": who,
            "to": who,
            "gen_ai.input.messages": [said("user", f"I am {who}")],
        }

    chats = [span(f"chat {who}", **about(who)) for who in (MIA, BO)]
    clean = GATE(entry("traces", traces(*chats), "proto"))
    spans = parse("traces", clean.encoding, clean.body).spans()
    assert [s.span_id for s in spans] == [chat.span_id.hex() for chat in chats]
    assert [s.attributes["gen_ai.conversation.id"] for s in spans] == [ID(MIA), ID(BO)]
    assert [s.attributes["session.id"] for s in spans] == [ID(MIA), ID(BO)]
    assert [s.attributes["to"] for s in spans] == ["[email]"] * 2
    assert b"example.com" not in clean.body


@pytest.mark.parametrize(
    ("action", "left"),
    [("pseudonym", "id-"), ("hash", "sha-"), ("mask", "id-"), ("drop", "")],
)
def test_an_id_that_a_rule_takes_does_not_come_back(action: Any, left: str) -> None:
    """An id in which no kind finds anything is not raw where a rule is about it, and two stay two."""
    rule = FieldRule(field="user.id", action=action)
    gate = IngestGate(redactor_of(RedactConfig(fields=(rule,)), b"key"))
    people: list[dict[str, Any]] = [{"user.id": f"customer-{n}"} for n in (17, 18, 17)]
    body = traces(*(span("chat", **who) for who in people))
    clean = gate(entry("traces", body, "proto"))
    assert b"customer-1" not in clean.body
    found = [
        s.attributes.get("user.id", "") for s in parse("traces", clean.encoding, clean.body).spans()
    ]
    assert all(str(one).startswith(left) for one in found)
    assert found[0] == found[2]
    assert (found[0] == found[1]) is (action == "drop")
    assert gate(clean).body == clean.body


def test_ids_that_say_nothing_stay() -> None:
    """An id in which nothing is found stays as it came; a number in which something is is no id."""
    said: dict[str, Any] = {"session.id": "talk-7", "user.id": 4111111111111111, "thread": 7}
    clean = GATE(entry("traces", traces(span("chat", **said)), "proto"))
    (read,) = parse("traces", clean.encoding, clean.body).spans()
    assert read.attributes == {**said, "user.id": "[card]"}


def test_a_secret_beside_a_session_does_not_come_back() -> None:
    """What its name gives away is not raw because the name speaks of a session too."""
    dirty: dict[str, Any] = {"session_token": "hunter-two", "session.cookie": "hunter-two"}
    clean = GATE(entry("traces", traces(span("chat", **dirty)), "proto"))
    assert b"hunter" not in clean.body


def test_log_records_go_through_it_as_spans_do() -> None:
    """What a log record says is redacted, and its conversation's id an alias."""
    record = {
        "timeUnixNano": "1",
        "body": {"stringValue": f"I am {MIA}"},
        "attributes": [{"key": "session.id", "value": {"stringValue": MIA}}],
    }
    body = json.dumps({"resourceLogs": [{"scopeLogs": [{"logRecords": [record]}]}]}).encode()
    clean = GATE(entry("logs", body))
    (read,) = parse("logs", clean.encoding, clean.body).logs()
    assert (read.body, read.attributes) == ("I am [email]", {"session.id": ID(MIA)})


def test_json_becomes_protobuf() -> None:
    """A request in OTLP's JSON is written as protobuf, and says so."""
    body = {
        "resourceSpans": [
            {
                "scopeSpans": [
                    {
                        "spans": [
                            {
                                "traceId": "4bf92f3577b34da6a3ce929d0e0e4736",
                                "spanId": "00f067aa0ba902b7",
                                "name": f"to {MIA}",
                                "startTimeUnixNano": "1",
                            }
                        ]
                    }
                ]
            }
        ]
    }
    clean = GATE(entry("traces", json.dumps(body).encode()))
    assert clean.encoding == "proto"
    assert parse("traces", "proto", clean.body).spans()[0].name == "to [email]"


def test_words_and_ends_are_about_the_same_alias() -> None:
    """An outcome, a label and the end of a conversation name it as its spans do."""
    about = About(conversation_id=MIA)
    bodies = {
        "end": msgspec.json.encode(ConversationEnd(conversation_id=MIA, tenant=MIA)),
        "outcomes": msgspec.json.encode([Outcome(about=about, name="x", value=MIA)]),
        "labels": msgspec.json.encode([Label(about=about, scorer="x", comment=MIA)]),
    }
    for signal, body in bodies.items():
        clean = GATE(entry(signal, body)).body.decode()
        assert ID(MIA) in clean
        assert MIA not in clean
        again = GATE(entry(signal, clean.encode())).body.decode()
        assert again == clean


def test_full_content_and_the_early_gate_contradict_each_other() -> None:
    """Whoever asks for both is told."""
    with pytest.raises(ConfigError, match=r"redact\.at_ingest"):
        load(
            None,
            {"OUTRIDER__REDACT__AT_INGEST": "true", "OUTRIDER__REDACT__CONTENT": "full"},
        )
