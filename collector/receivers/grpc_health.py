"""Answer ``grpc.health.v1.Health``, so that a probe or a load balancer sees whether calls are taken."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Collection
from typing import Any, TypeAlias

import grpc
import grpc.aio
from google.protobuf.message import DecodeError
from grpc_health.v1.health_pb2 import HealthCheckRequest, HealthCheckResponse

Context: TypeAlias = "grpc.aio.ServicerContext[Any, Any]"

_SERVICE = "/grpc.health.v1.Health/"
_SERVING: bytes = HealthCheckResponse(status=HealthCheckResponse.SERVING).SerializeToString()
_NOT_SERVING: bytes = HealthCheckResponse(
    status=HealthCheckResponse.NOT_SERVING
).SerializeToString()
_UNKNOWN: bytes = HealthCheckResponse(
    status=HealthCheckResponse.SERVICE_UNKNOWN
).SerializeToString()


class GrpcHealth(grpc.GenericRpcHandler):
    """Say of each service that it serves, until the port stops; to anybody, as ``/healthz`` does."""

    def __init__(self, services: Collection[str]) -> None:
        """Take the full names of the services; for one event loop."""
        self._services = {"", *services}
        self._stopping = asyncio.Event()

    def service(self, handler_call_details: grpc.HandlerCallDetails) -> Any:
        """Return what serves a method; ``None`` when it is none of ours."""
        if handler_call_details.method == f"{_SERVICE}Check":
            return grpc.unary_unary_rpc_method_handler(self._check)
        if handler_call_details.method == f"{_SERVICE}Watch":
            return grpc.unary_stream_rpc_method_handler(self._watch)
        return None

    def stop(self) -> None:
        """Tell those who watch that it is over, and let them go."""
        self._stopping.set()

    async def _check(self, request: bytes, context: Context) -> bytes:
        if await _service_of(request, context) not in self._services:
            await context.abort(grpc.StatusCode.NOT_FOUND, "there is no such service")
        return _NOT_SERVING if self._stopping.is_set() else _SERVING

    async def _watch(self, request: bytes, context: Context) -> AsyncIterator[bytes]:
        known = await _service_of(request, context) in self._services
        yield _SERVING if known else _UNKNOWN
        await self._stopping.wait()
        if known:
            yield _NOT_SERVING


async def _service_of(request: bytes, context: Context) -> str:
    try:
        service: str = HealthCheckRequest.FromString(request).service
    except DecodeError:
        await context.abort(
            grpc.StatusCode.INVALID_ARGUMENT, "the message is not a HealthCheckRequest"
        )
        raise
    return service
