"""Whatever is sent to a whole process gets an answer of the protocol, and costs neither memory nor the good."""

from __future__ import annotations

import gzip
import io
import socket
import sys
import time
import uuid
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceResponse as Response,
)

from tests.e2e.instance import START_NS
from tests.e2e.otlp import said, span, traces
from tests.e2e.served import PATIENCE_S, Served, eventually

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

PROTO = {"content-type": "application/x-protobuf"}
JSON = {"content-type": "application/json"}
MIB = 1 << 20
LABELS = 40
GROWTH = 320 * MIB
"""More memory than this must nothing take: two bodies of the largest size at a time, and what they become."""
BOMB = bytes(4 * MIB) * 64
"""256 MiB of nothing, sixteen times what may come out of a body."""


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """Run an instance with small limits, so that going far beyond them is cheap."""
    with Served(
        tmp_path_factory.mktemp("hostile") / "data",
        RECEIVE__MAX_BODY="8MiB",
        RECEIVE__MAX_DECOMPRESSED="16MiB",
        TELEMETRY__LABEL_LIMIT=str(LABELS),
    ) as running:
        good(running)  # and so the engine is loaded, which takes memory of its own
        yield running


@pytest.fixture(autouse=True)
def unharmed(served: Served) -> Iterator[None]:
    """Hold, after each test, that memory stayed bounded and that good traffic is scored as before."""
    before = peak(served, reset=True)
    yield
    assert peak(served) - before < GROWTH
    good(served)
    assert served.ready() == (200, [])


def peak(served: Served, *, reset: bool = False) -> int:
    """Return the most memory that the process had, in bytes, since that was last reset."""
    assert served.process is not None
    folder = Path(f"/proc/{served.process.pid}")
    if reset:
        (folder / "clear_refs").write_text("5")
    lines = (folder / "status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM"))


def talk(conversation: str, **attributes: Any) -> bytes:
    """Write one whole conversation of one call, as of now."""
    attributes.setdefault("gen_ai__input__messages", [said("user", "Where is my kettle?")])
    return traces(
        span(
            "chat",
            trace=conversation,
            at=time.time() - START_NS / 1e9,
            gen_ai__operation__name="chat",
            gen_ai__conversation__id=conversation,
            gen_ai__output__messages=[said("assistant", "In Ghent.")],
            outrider__conversation__end=True,
            **attributes,
        )
    )


def post(served: Served, body: bytes, **headers: str) -> httpx.Response:
    """Send traces."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return served.client.post(
        f"{served.receive}/v1/traces", content=body, headers={**PROTO, **named}
    )


def refused(served: Served, body: bytes, status: int, reason: str, **headers: str) -> None:
    """Hold that a request is refused with a status and counted under a reason."""

    def counted() -> float:
        return served.value("requests_rejected_total", receiver="otlp_http", reason=reason)

    before = counted()
    answer = post(served, body, **headers)
    assert answer.status_code == status, answer.content
    eventually(lambda: counted() == before + 1, f"a request is counted as {reason}")


def good(served: Served) -> None:
    """Hold that a good conversation is taken, decided and scored."""
    name = f"good-{uuid.uuid4().hex}"
    assert post(served, talk(name)).status_code == 200
    decided(served, name)


def decided(served: Served, name: str) -> dict[str, Any]:
    """Wait until a conversation is stored, and return what the console says of it."""
    found: dict[str, Any] = {}

    def told() -> bool:
        url = f"{served.console}/v1/conversations/{name}"
        answer = served.client.get(url, follow_redirects=True)
        found.update(answer.json() if answer.is_success else {})
        return answer.is_success

    eventually(told, f"{name} is decided")
    return found


def packed(data: bytes, encoding: str) -> bytes:
    """Compress a body."""
    if encoding == "gzip":
        return gzip.compress(data, 9)
    return zlib.compress(data, 9) if encoding == "deflate" else zstd.compress(data, 9)


def test_bombs(served: Served) -> None:
    """A small body that becomes a huge one is refused before it does."""
    for encoding in ("gzip", "deflate", "zstd"):
        refused(served, packed(BOMB, encoding), 413, "oversized", content_encoding=encoding)


def test_bombs_in_bombs(served: Served) -> None:
    """Only one layer is undone, and an archive is none."""
    layers = gzip.compress(gzip.compress(BOMB, 9), 9)
    refused(served, layers, 400, "malformed", content_encoding="gzip")
    refused(served, layers, 415, "unsupported", content_encoding="gzip, gzip")
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as outer:
        outer.writestr("inner.zip", gzip.compress(BOMB, 9))
    refused(served, archive.getvalue(), 400, "malformed")
    refused(served, archive.getvalue(), 415, "unsupported", content_type="application/zip")
    refused(served, archive.getvalue(), 415, "unsupported", content_encoding="zip")


def test_too_large(served: Served) -> None:
    """A body above the limit is refused, whether it says its length or not."""
    refused(served, bytes(9 * MIB), 413, "oversized")

    def chunks() -> Iterator[bytes]:
        for _ in range(9):
            yield bytes(MIB)

    answer = served.client.post(f"{served.receive}/v1/traces", content=chunks(), headers=PROTO)
    assert answer.status_code == 413


def test_deep_json(served: Served) -> None:
    """Values within values without end are an error of the sender, or are passed over."""
    for depth in (200, 100_000):
        _deep(served, depth)


def _deep(served: Served, depth: int) -> None:
    value = b'{"arrayValue":{"values":[' * depth + b"]}}" * depth
    body = (
        b'{"resourceSpans":[{"scopeSpans":[{"spans":[{"traceId":"' + b"ab" * 16 + b'","spanId":"'
        b"cd" * 8 + b'","name":"x","attributes":[{"key":"k","value":' + value + b"}]}]}]}]}"
    )
    assert post(served, body, **{"content-type": "application/json"}).status_code in {200, 400}
    deep = b"[" * depth + b"]" * depth
    assert post(served, deep, **{"content-type": "application/json"}).status_code == 400


def test_deep_protobuf(served: Served) -> None:
    """The same in protobuf, where each level holds the length of the next."""
    value = b""
    for _ in range(2_000):
        inner = b"\n" + _length(value) + value  # ArrayValue.values
        value = b"*" + _length(inner) + inner  # AnyValue.array_value
    pair = b"\n\x01k\x12" + _length(value) + value
    request = ExportTraceServiceRequest.FromString(talk("deep"))
    inside = request.resource_spans[0].scope_spans[0].spans[0].SerializeToString()
    whole = inside + b"J" + _length(pair) + pair
    scope = b"\x12" + _length(whole) + whole
    spans = b"\x12" + _length(scope) + scope
    assert post(served, b"\n" + _length(spans) + spans).status_code in {200, 400}


def _length(data: bytes) -> bytes:
    size, out = len(data), b""
    while size > 0x7F:
        out += bytes([size & 0x7F | 0x80])
        size >>= 7
    return out + bytes([size])


def test_a_million_attributes(served: Served) -> None:
    """A span of a million attributes is refused before anything is made of them."""
    request = ExportTraceServiceRequest.FromString(talk("many"))
    plain = request.resource_spans[0].scope_spans[0].spans[0].SerializeToString()
    whole = plain + b"J\x00" * 1_000_001
    scope = b"\x12" + _length(whole) + whole
    spans = b"\x12" + _length(scope) + scope
    refused(served, b"\n" + _length(spans) + spans, 413, "oversized")


def test_many_attributes(served: Served) -> None:
    """A span of some thousands is taken, and its conversation is decided."""
    more = {f"key{number}": number for number in range(20_000)}
    assert post(served, talk("attributes", **more)).status_code == 200
    assert decided(served, "attributes")["head"]["message_count"] == 2


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_huge_texts(served: Served) -> None:
    """A text of megabytes is kept, and shown without all of it."""
    huge = "all work and no play " * (7 * MIB // 21)
    messages = [said("user", huge)]
    assert post(served, talk("huge", gen_ai__input__messages=messages)).status_code == 200
    assert decided(served, "huge")["head"]["message_count"] == 2
    page = served.client.get(f"{served.console}/conversations/huge", follow_redirects=True)
    assert page.status_code == 200
    assert len(page.content) < MIB


def test_ids_that_collide(served: Served) -> None:
    """The same ids again and again are one span; whatever else they say is dropped and counted."""
    before = served.value("spans_duplicate_total")
    for number in range(50):
        body = traces(
            span("a", trace="collide", gen_ai__operation__name="chat", at=number % 3, n=number % 7)
        )
        assert post(served, body).status_code == 200
    zero = ExportTraceServiceRequest.FromString(talk("zero"))
    zero.resource_spans[0].scope_spans[0].spans[0].trace_id = bytes(16)
    answer = post(served, zero.SerializeToString())
    assert Response.FromString(answer.content).partial_success.rejected_spans == 1
    eventually(
        lambda: served.value("spans_duplicate_total") >= before + 40, "the duplicates are counted"
    )


def test_strange_times(served: Served) -> None:
    """Spans of 1970 and of a future that no column holds are decided like others."""
    moments = (0, 1, 10**9, 2**62, 2**63 - 1, 2**63, 2**64 - 1)
    for moment in moments:
        request = ExportTraceServiceRequest.FromString(talk(f"moment-{moment}"))
        only = request.resource_spans[0].scope_spans[0].spans[0]
        only.start_time_unix_nano = moment
        only.end_time_unix_nano = max(0, moment - 1)
        assert post(served, request.SerializeToString()).status_code == 200
    for moment in moments:
        assert decided(served, f"moment-{moment}")["head"]["message_count"] == 2


def test_no_utf8(served: Served) -> None:
    """Bytes that are no text cost the span that has them, or its JSON request, and nothing beside it."""
    both = traces(span("bad-name", trace="utf8"), span("good-name", trace="utf8"))
    answer = post(served, both.replace(b"bad-name", b"bad\xff\xfe\xfdxx"))
    assert answer.status_code == 200
    assert Response.FromString(answer.content).partial_success.rejected_spans in {0, 1}
    body = b'{"resourceSpans":[{"scopeSpans":[{"spans":[{"name":"\xff"}]}]}]}'
    assert post(served, body, **{"content-type": "application/json"}).status_code in {200, 400}
    weird = talk("surrogate", gen_ai__agent__name="a\x00b\u202e\ud7ff")
    assert post(served, weird).status_code == 200
    decided(served, "surrogate")


def test_label_values_without_number(served: Served) -> None:
    """Agents, versions and tools that are new with each call end up as one series."""
    many = 3 * LABELS
    bodies = b"".join(
        talk(
            f"label-{n}",
            gen_ai__agent__name=f"agent-{n}",
            gen_ai__agent__version=f"v{n}",
            outrider__variant=f"x{n}",
        )
        for n in range(many)
    )
    assert post(served, bodies).status_code == 200
    for number in range(many):
        if number % 40 == 0:
            decided(served, f"label-{number}")
    eventually(lambda: served.value("episodes_total") >= many, "all are counted")
    series = served.series()
    for label in ("agent", "agent_version", "variant"):
        values = {dict(pairs)[label] for _, pairs in series if label in dict(pairs)}
        assert len(values) <= LABELS + 2, label
    assert any(dict(pairs).get("agent") == "other" for _, pairs in series)
    assert served.value("episodes_total", agent="other") > 0


def test_too_many_connections(served: Served) -> None:
    """Connections above a port's bound are turned away at once, and the rest are served."""
    parts = httpx.URL(served.console)
    held: list[socket.socket] = []
    try:
        turned_away = 0
        for _ in range(300):
            wire = socket.create_connection((parts.host, parts.port or 0), timeout=PATIENCE_S)
            held.append(wire)
        for wire in held:
            wire.setblocking(False)
        deadline = time.monotonic() + PATIENCE_S
        while turned_away < 300 - 128 and time.monotonic() < deadline:
            for wire in held:
                try:
                    turned_away += b" 503 " in wire.recv(64)
                except OSError:
                    continue
            time.sleep(0.01)
        assert turned_away >= 300 - 128
        assert post(served, talk("beside")).status_code == 200
    finally:
        for wire in held:
            wire.close()


@pytest.mark.slow
@pytest.mark.parametrize("port", ["receive", "console", "metrics"])
@pytest.mark.parametrize(
    "begins",
    [
        b"",
        b"POST /v1/traces HTTP/1.1\r\nhost: localhost\r\nx-slow: ",
        b"POST /v1/outcomes HTTP/1.1\r\nhost: localhost\r\ncontent-length: 100000\r\n\r\n",
    ],
    ids=["nothing", "head", "body"],
)
def test_slow_senders(served: Served, port: str, begins: bytes) -> None:
    """Who sends a byte now and then is let go of in less than a minute, and others do not wait."""
    parts = httpx.URL(getattr(served, port))
    began = time.monotonic()
    with socket.create_connection((parts.host, parts.port or 0), timeout=PATIENCE_S) as wire:
        wire.settimeout(0.5)
        wire.sendall(begins)
        while time.monotonic() - began < PATIENCE_S:
            try:
                if begins:
                    wire.sendall(b"x")
                if not wire.recv(4_096):
                    break
            except TimeoutError:
                continue
            except OSError:
                break
        else:
            raise AssertionError("it is still there")
        good(served)
