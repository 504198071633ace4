"""Stand in for an OTel Collector that sends on what it gets, changed as its processors would."""

from __future__ import annotations

import gzip
import http.client
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler
from typing import Any
from urllib.parse import urlsplit

from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from tests.listening import Listening

Request = ExportTraceServiceRequest | ExportLogsServiceRequest
Change = Callable[[Request], None]
"""Changes a request in place."""
_KINDS: dict[str, type[Request]] = {
    "/v1/traces": ExportTraceServiceRequest,
    "/v1/logs": ExportLogsServiceRequest,
}


def renamed(request: Request) -> None:
    """Let every service be called the same, as a resource processor does."""
    for part in parts(request):
        for attribute in part.resource.attributes:
            if attribute.key == "service.name":
                attribute.value.string_value = "gateway"


def flattened(request: Request) -> None:
    """Lose scopes as well, as formats do that have none."""
    renamed(request)
    for part in parts(request):
        for scoped in getattr(part, "scope_spans", None) or part.scope_logs:
            scoped.ClearField("scope")


def parts(request: Request) -> list[Any]:
    """Return a request's parts, one a resource."""
    if isinstance(request, ExportTraceServiceRequest):
        return list(request.resource_spans)
    return list(request.resource_logs)


class Relay(Listening):
    """Take OTLP/HTTP on a port of its own and send it on."""

    def __init__(self, to: str, change: Change = lambda _: None) -> None:
        """Take where to, as a base URL, and what is changed on the way."""
        host, change_ = urlsplit(to), change

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["content-length"]))
                if self.headers.get("content-encoding") == "gzip":
                    body = gzip.decompress(body)
                request = _KINDS[self.path].FromString(body)
                change_(request)
                onward = http.client.HTTPConnection(host.hostname or "", host.port, timeout=30)
                headers = {"content-type": "application/x-protobuf"}
                onward.request("POST", self.path, request.SerializeToString(), headers)
                answer = onward.getresponse()
                said = answer.read()
                onward.close()
                self.send_response(answer.status)
                self.send_header("content-type", "application/x-protobuf")
                self.send_header("content-length", str(len(said)))
                self.end_headers()
                self.wfile.write(said)

            def log_message(self, format: str, *arguments: object) -> None:
                """Say nothing."""

        super().__init__(Handler)
