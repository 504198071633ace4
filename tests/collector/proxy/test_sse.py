"""Test what is read out of an event stream, and what is counted as unread."""

from __future__ import annotations

import pytest

from collector.proxy.sse import DONE, Event, events, told
from tests.collector.proxy.provider import LAST, STREAM, Provider, chunk, event
from tests.collector.proxy.scripts import MESSAGE, message_events
from tests.collector.proxy.standing import Standing, post


@pytest.mark.parametrize("line", ["\n", "\r\n", "\r"])
def test_lines(line: str) -> None:
    """Lines end in any of three ways; comments and other fields say nothing; data may have several."""
    stream = "\ufeff: hello|event: a|id: 1|data: x|data:y||data|data: z".replace("|", line)
    assert list(events(stream.encode())) == [
        Event("a", b"x\ny"),
        Event("", b"\nz", whole=False),
    ]


def test_what_cannot_be_read_is_counted() -> None:
    """An event that is no JSON is counted, unless it is a stream's mark of its end, empty, or cut off."""
    said = told(
        [
            Event("ping", b'{"a": 1}'),
            Event("", b'{"type": "b"}'),
            Event("", b" [DONE]"),
            Event("", b"nonsense"),
            Event("", b" "),
            Event("", b'{"a": \xff}'),
            Event("", b"[" * 5000),
            Event("", b'{"cut', whole=False),
        ]
    )
    assert said.events == [("ping", {"a": 1}), ("b", {"type": "b"}), (DONE, {})]
    assert said.unread == 3


def test_they_are_counted_by_api() -> None:
    """A call whose stream holds such events is captured, and they are counted."""
    stream = b"".join([event(b"nonsense"), *message_events(MESSAGE), event(b"[DONE]")])
    with Provider() as provider, Standing(provider.url) as proxy:
        provider.script("/v1/messages", STREAM + chunk(stream) + LAST)
        proxy.raw(post("/v1/messages", b'{"stream": true}', "Connection: close"))
        proxy.stop()

    assert proxy.counts["proxy_events_unread_total", "messages"] == 1
    assert proxy.spans[0].attributes["gen_ai.response.finish_reasons"] == ["tool_use"]
