"""Stand where the journal and the counters are, for tests of a receiver."""

from __future__ import annotations

import asyncio
import json
import logging
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import httpx
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from collector.address import parse_address
from collector.callers import programs
from collector.config import ReceiveConfig, TokenConfig
from collector.journal_records import Entry
from collector.otlp import Batch
from collector.receivers.admission import Admission
from collector.receivers.otlp_http import otlp_http
from tests.collector.access import tokens

PROTO = "application/x-protobuf"
JSON = "application/json"


class Desk:
    """Stand where the journal and the counters are."""

    def __init__(self, accept: Callable[[Entry], Awaitable[None]] | None = None) -> None:
        self.entries: list[Entry] = []
        self.batches: list[Batch] = []
        self.counts: Counter[tuple[str, str, str]] = Counter()
        self._accept = accept

    async def accept(self, entry: Entry, batch: Batch) -> None:
        """Take a request."""
        if self._accept is not None:
            await self._accept(entry)
        self.entries.append(entry)
        self.batches.append(batch)

    def count(self, name: str, amount: float, labels: dict[str, str]) -> None:
        """Raise a counter."""
        self.counts[name, labels["receiver"], labels["reason"]] += int(amount)

    def rejected(self) -> dict[str, int]:
        """Return the requests turned away, by reason."""
        return {
            reason: n for (name, _, reason), n in self.counts.items() if name.startswith("requests")
        }

    def app(
        self, *, token: str = "", named: Mapping[str, TokenConfig] | None = None, **limits: Any
    ) -> Any:
        """Build the application in front of this desk; ``named`` are more tokens."""
        limit = ReceiveConfig(**limits)
        who = programs(host=parse_address(limit.http).host, tokens=tokens(token, **(named or {})))
        return otlp_http(self.admission(limit), limits=limit, callers=who)

    def admission(self, limits: ReceiveConfig) -> Admission:
        """Build what receivers hand their requests to."""
        return Admission(
            accept=self.accept,
            count=self.count,
            limits=limits,
            clock_ns=lambda: 77,
            log=logging.getLogger("outrider.test"),
        )


def send(
    app: Any,
    body: Any = b"",
    *,
    path: str = "/v1/traces",
    type_: str = PROTO,
    method: str = "POST",
    **headers: str,
) -> httpx.Response:
    """Send one request."""

    async def ask() -> httpx.Response:
        transport = httpx.ASGITransport(app, raise_app_exceptions=True)
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
            return await client.request(
                method,
                path,
                content=body,
                headers={
                    "content-type": type_,
                    **{name.replace("_", "-"): value for name, value in headers.items()},
                },
            )

    return asyncio.run(ask())


def traces(*span_ids: bytes, filler: int = 0) -> bytes:
    """Build a protobuf request with one span an id."""
    request = ExportTraceServiceRequest()
    spans = request.resource_spans.add().scope_spans.add().spans
    for span_id in span_ids:
        spans.add(trace_id=b"t" * 16, span_id=span_id, name="chat" + "." * filler)
    return request.SerializeToString()


def json_traces(*span_ids: str) -> bytes:
    """Build a JSON request with one span an id."""
    spans = [{"traceId": "ab" * 16, "spanId": span_id, "name": "chat"} for span_id in span_ids]
    return json.dumps({"resourceSpans": [{"scopeSpans": [{"spans": spans}]}]}).encode()


TWO = traces(b"a" * 8, b"b" * 8)
