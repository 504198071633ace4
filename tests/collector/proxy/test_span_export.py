"""Test that captured calls reach another backend: whole, redacted, bounded, and never twice."""

from __future__ import annotations

import gzip
import threading
from collections import Counter
from collections.abc import Sequence
from typing import Any

import msgspec
import pytest
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export import SpanExporter, SpanExportResult

from collector.config import ProxyExportConfig
from collector.otlp import parse
from collector.own_telemetry import is_own
from collector.proxy.span_export import REQUEST_BYTES, SpanExport, otlp_exporter, what_may_leave
from collector.redactor import Redactor
from collector.telemetry import Span
from tests.collector.proxy.provider import Provider, plain
from tests.collector.proxy.scripts import MESSAGE
from tests.collector.proxy.standing import Standing, post
from tests.collector.receivers.desk import Desk
from tests.collector.receivers.grpc_desk import TOKEN, served

ASK = msgspec.json.encode(
    {"model": "m", "messages": [{"role": "user", "content": "I am ada@mail.example"}]}
)
HEADERS = ("X-Outrider-Conversation-Id: of ada@mail.example", "X-Outrider-Agent: desk")
PARENT = f"traceparent: 00-{'ab' * 16}-{'cd' * 8}-01"


class Counts(Counter[str]):
    """What became of the spans."""

    def rise(self, name: str, amount: float, labels: dict[str, str]) -> None:
        """Raise a counter."""
        assert name == "proxy_export_total"
        self[labels["result"]] += int(amount)


def export_of(wanted: ProxyExportConfig, counts: Counts, kinds: Sequence[str]) -> SpanExport:
    """Make what the proxy makes of a configuration."""
    return SpanExport(
        otlp_exporter(wanted),
        allow=what_may_leave(wanted, Redactor(kinds)),
        version="1",
        count=counts.rise,
    )


def called(export: SpanExport) -> list[Span]:
    """Make a call through the proxy, stop the export, and return what was captured."""
    with Provider() as provider, Standing(provider.url, export=export.offer) as proxy:
        provider.script("/v1/messages", plain(msgspec.json.encode(MESSAGE)))
        proxy.raw(post("/v1/messages", ASK, *HEADERS, PARENT, "Connection: close"))
        proxy.stop()
        export.close()
        return proxy.spans


def sent(wanted: ProxyExportConfig, kinds: Sequence[str] = ("email",)) -> tuple[Span, Span]:
    """Export a call by HTTP and return it as captured and as it arrived."""
    counts = Counts()
    with Provider() as backend:
        backend.script("/base/v1/traces", plain(b""))
        endpoint = f"{backend.url}/base/"
        (before,) = called(
            export_of(msgspec.structs.replace(wanted, endpoint=endpoint), counts, kinds)
        )
        (asked,) = backend.asked
    assert counts == {"sent": 1}
    assert asked.header("x-scope-orgid") == wanted.headers.get("x-scope-orgid")
    (after,) = parse("traces", "proto", gzip.decompress(asked.body)).spans()
    return before, after


def test_a_call_arrives_by_http() -> None:
    """The span is the captured one in its own trace, with everything the convention has."""
    wanted = ProxyExportConfig(redact=False, headers={"x-scope-orgid": "team"})
    before, after = sent(wanted)

    assert (after.trace_id, after.parent_id) == ("ab" * 16, "cd" * 8)
    for field in ("span_id", "name", "kind", "start_ns", "end_ns", "attributes", "resource"):
        assert getattr(after, field) == getattr(before, field)


def test_a_call_arrives_by_grpc() -> None:
    """The same over gRPC, with its metadata."""
    desk, counts = Desk(), Counts()
    with served(desk, token=TOKEN) as serving:
        wanted = ProxyExportConfig(
            endpoint=f"http://{serving.address}",
            protocol="grpc",
            headers={"Authorization": f"Bearer {TOKEN}"},
        )
        (before,) = called(export_of(wanted, counts, ()))

    (after,) = desk.batches[0].spans()
    assert counts == {"sent": 1}
    assert (after.span_id, after.attributes) == (before.span_id, before.attributes)


def test_what_leaves_is_redacted() -> None:
    """Content is redacted before it leaves; a conversation's id stays one of its own."""
    before, after = sent(ProxyExportConfig())

    assert "ada@mail.example" in str(before)
    assert "ada@mail.example" not in str(after)
    assert "I am [email]" in str(after.attributes["gen_ai.input.messages"])
    assert str(after.attributes["gen_ai.conversation.id"]).startswith("id-")


def test_without_content() -> None:
    """Without content, what was said stays here; who, when and how much goes out."""
    _, after = sent(ProxyExportConfig(content=False))

    assert "I look up both" not in str(after)
    assert after.attributes["gen_ai.usage.output_tokens"] == 55
    assert after.resource["service.name"] == "desk"


def test_what_comes_back_is_no_second_call() -> None:
    """A collector may hand our spans back to us: they are known by their scope and not scored."""
    before, after = sent(ProxyExportConfig())

    assert is_own(after)
    assert not is_own(before)


class Backend(SpanExporter):
    """Take spans when told to."""

    def __init__(self, *, open_: bool = True) -> None:
        self.begun, self.opened = threading.Event(), threading.Event()
        self.requests: list[list[str]] = []
        self.refuses: set[str] = set()
        if open_:
            self.opened.set()

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        """Take a request."""
        self.begun.set()
        assert self.opened.wait(60)
        names = [span.name for span in spans]
        self.requests.append(names)
        if "bug" in self.refuses.intersection(names):
            raise LookupError
        return SpanExportResult(int(bool(self.refuses.intersection(names))))

    def shutdown(self) -> None:
        """Give up."""
        self.opened.set()


def a_span(name: str, number: int) -> Span:
    """Build a call."""
    return Span(
        trace_id="ab" * 16,
        span_id=f"{number + 1:016x}",
        name=name,
        start_ns=1,
        end_ns=2,
        attributes={},
        resource={},
    )


def exported(backend: Backend, counts: Counts, **bounds: Any) -> SpanExport:
    """Export to a backend."""
    return SpanExport(backend, allow=lambda span: span, version="1", count=counts.rise, **bounds)


@pytest.mark.parametrize("bounds", [{"waiting": 5}, {"waiting_bytes": 59}])
def test_a_backend_that_hangs(bounds: dict[str, int]) -> None:
    """What does not fit is dropped and counted at once; a stop does not wait for the backend."""
    backend, counts = Backend(open_=False), Counts()
    export = exported(backend, counts, **bounds)
    for number in range(20):
        export.offer([a_span("chat", number)], 10)
    assert counts == {"dropped": 15}
    export.close(timeout_s=0.1)

    assert counts == {"dropped": 15, "sent": 5}


def test_room_comes_back() -> None:
    """What was sent, or failed, leaves its room to the next."""
    backend, counts = Backend(), Counts()
    backend.refuses = {"bug", "bad"}
    export = exported(backend, counts, waiting=2, waiting_bytes=20)
    for number, name in enumerate(["bug", "bad", "chat"] * 4):
        while True:
            before = counts["dropped"]
            export.offer([a_span(name, number)], 10)
            if counts["dropped"] == before:
                break
            threading.Event().wait(0.01)
    export.close()

    assert counts["sent"] + counts["failed"] == 12


def test_a_large_call_does_not_take_others_along() -> None:
    """A request that is refused, for its size or a bug, costs the others of its batch nothing."""
    backend, counts = Backend(), Counts()
    backend.refuses = {"large", "bug"}
    export = exported(backend, counts)
    for number, name in enumerate(["chat", "large", "chat", "bug", "chat"]):
        export.offer([a_span(name, number)], 10 if name == "chat" else REQUEST_BYTES)
    export.close()

    assert backend.requests == [["chat"], ["large"], ["chat"], ["bug"], ["chat"]]
    assert counts == {"sent": 3, "failed": 2}


def test_a_batch_of_several() -> None:
    """Calls that fit together go in one request."""
    backend, counts = Backend(), Counts()
    export = exported(backend, counts)
    export.offer([a_span("chat", number) for number in range(10)], 10)
    export.close()

    assert backend.requests == [["chat"] * 10]
