"""Write OTLP to Kafka as the OTel Collector's exporter does."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

Sent = tuple[bytes | None, bytes]
"""Key and value of a message."""


def unkeyed(bodies: Iterable[bytes]) -> Iterator[Sent]:
    """Write each batch as one message without a key: its spans land on any partition."""
    for body in bodies:
        yield None, body


def keyed(bodies: Iterable[bytes]) -> Iterator[Sent]:
    """Write one message for each trace of each batch, with the trace id in hex as its key."""
    for body in bodies:
        traces: dict[bytes, ExportTraceServiceRequest] = {}
        for resource_spans in ExportTraceServiceRequest.FromString(body).resource_spans:
            for scope_spans in resource_spans.scope_spans:
                for span in scope_spans.spans:
                    trace = traces.setdefault(span.trace_id, ExportTraceServiceRequest())
                    resource = trace.resource_spans.add()
                    resource.resource.CopyFrom(resource_spans.resource)
                    scope = resource.scope_spans.add()
                    scope.scope.CopyFrom(scope_spans.scope)
                    scope.spans.add().CopyFrom(span)
        for trace_id, request in traces.items():
            yield trace_id.hex().encode(), request.SerializeToString()
