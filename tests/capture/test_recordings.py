"""Test that recordings of every form are read."""

from __future__ import annotations

import gzip
from pathlib import Path

import msgspec
import yaml

from tests.capture.recordings import Recording, cassettes


def test_bodies_are_read_as_text_as_bytes_and_parsed(tmp_path: Path) -> None:
    """VCR keeps text or bytes, compressed or not; others parse both bodies."""
    answer = {"id": "chatcmpl-1", "choices": []}
    plain = msgspec.json.encode(answer)
    request = {
        "method": "POST",
        "uri": "https://api.example/v1/chat/completions",
        "body": '{"model": "m"}',
    }
    interactions = [
        {
            "request": request,
            "response": {
                "status": {"code": 200},
                "headers": {},
                "body": {"string": plain.decode()},
            },
        },
        {
            "request": request,
            "response": {
                "status": {"code": 200},
                "headers": {"Content-Encoding": ["gzip"], "Content-Type": ["application/json"]},
                "body": {"string": gzip.compress(plain)},
            },
        },
        {
            "request": {**request, "body": None, "parsed_body": {"model": "m"}},
            "response": {"status": {"code": 200}, "headers": {}, "parsed_body": answer},
        },
        {
            "request": {**request, "uri": "https://api.example/v1/files"},
            "response": {"status": {"code": 200}, "headers": {}, "body": {"string": ""}},
        },
    ]
    (tmp_path / "one.yaml").write_text(yaml.safe_dump({"interactions": interactions}))
    (tmp_path / "two.yaml").write_text(yaml.safe_dump({"interactions": interactions[3:]}))

    (found,) = cassettes(tmp_path, "chat")
    assert found.name == "one"
    assert [msgspec.json.decode(recording.body) for recording in found.recordings] == [answer] * 3
    assert {recording.request["model"] for recording in found.recordings} == {"m"}
    assert list(cassettes(tmp_path, "messages")) == []


def test_a_stream_is_known_by_its_type() -> None:
    """Whatever parameters the type has."""
    recording = Recording(
        api="chat",
        path="/v1/chat/completions",
        request={},
        status=200,
        headers={"content-type": "text/event-stream; charset=utf-8"},
        body=b"",
    )
    assert recording.streamed
