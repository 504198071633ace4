"""Serve the OTLP/gRPC receiver on a real port, and call it with bytes."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import grpc

from collector.callers import Callers
from collector.config import ReceiveConfig, TokenConfig
from collector.receivers.grpc_port import GrpcPort
from collector.receivers.otlp_grpc import OtlpGrpc
from collector.servers import run_all
from collector.tls import Certificates
from tests.collector.access import tokens
from tests.collector.receivers.desk import Desk

_PACKAGE = "/opentelemetry.proto.collector"
TRACES = f"{_PACKAGE}.trace.v1.TraceService/Export"
LOGS = f"{_PACKAGE}.logs.v1.LogsService/Export"
METRICS = f"{_PACKAGE}.metrics.v1.MetricsService/Export"

PATIENCE_S = 30.0
TOKEN = "open"  # noqa: S105 - an invented one


class Serving:
    """A port that serves on a thread of its own."""

    def __init__(self, port: GrpcPort) -> None:
        self._port = port
        self.address = port.address
        self._loop = asyncio.new_event_loop()
        self._open = threading.Event()
        self._thread = threading.Thread(target=self._run)

    def start(self) -> None:
        """Start, and wait until calls are taken."""
        self._thread.start()
        assert self._open.wait(PATIENCE_S)

    def tell(self) -> None:
        """Tell it to stop."""
        self._loop.call_soon_threadsafe(self._port.stop)

    def stop(self) -> None:
        """Stop it and wait until it has."""
        if self._thread.is_alive():
            self.tell()
        self._thread.join(PATIENCE_S)
        assert not self._thread.is_alive()

    def _run(self) -> None:
        async def serve() -> None:
            await self._port.open()
            self._open.set()
            await run_all([self._port])

        with asyncio.Runner(loop_factory=lambda: self._loop) as runner:
            runner.run(serve())


@contextmanager
def served(
    desk: Desk,
    *,
    token: str = "",
    named: Mapping[str, TokenConfig] | None = None,
    within_s: float = PATIENCE_S,
    patience_s: float = PATIENCE_S,
    most: int = 8,
    certificates: Certificates | None = None,
    **limits: Any,
) -> Iterator[Serving]:
    """Serve the receiver in front of a desk on a free port; ``named`` are more tokens."""
    config = ReceiveConfig(**limits)
    otlp = OtlpGrpc(
        desk.admission(config),
        limits=config,
        callers=Callers(host="", tokens=tokens(token, **(named or {})), any_name=True),
        within_s=within_s,
        patience_s=patience_s,
    )
    serving = Serving(
        GrpcPort(
            "receive.grpc",
            "127.0.0.1:0",
            otlp,
            max_message=config.max_body,
            most=most,
            certificates=certificates,
        )
    )
    serving.start()
    try:
        yield serving
    finally:
        serving.stop()


@contextmanager
def channel(
    serving: Serving, credentials: grpc.ChannelCredentials | None = None
) -> Iterator[grpc.Channel]:
    """Connect to it."""
    options = [("grpc.max_send_message_length", -1), ("grpc.enable_retries", 0)]
    made = (
        grpc.insecure_channel(serving.address, options)
        if credentials is None
        else grpc.secure_channel(serving.address, credentials, options)
    )
    try:
        yield made
    finally:
        made.close()


def call(
    through: grpc.Channel,
    body: bytes,
    *,
    method: str = TRACES,
    compression: grpc.Compression | None = None,
    timeout: float = PATIENCE_S,
    **metadata: str,
) -> bytes:
    """Call a method with bytes and return the bytes of its answer."""
    named: grpc.UnaryUnaryMultiCallable[bytes, bytes] = through.unary_unary(method)
    return named(body, timeout=timeout, compression=compression, metadata=tuple(metadata.items()))


def later(through: grpc.Channel, body: bytes) -> grpc._CallFuture[bytes]:
    """Send traces without waiting for the answer."""
    named: grpc.UnaryUnaryMultiCallable[bytes, bytes] = through.unary_unary(TRACES)
    return named.future(body, timeout=PATIENCE_S)


def refused(through: grpc.Channel, body: bytes, **settings: Any) -> grpc.RpcError:
    """Call a method and return how it failed."""
    try:
        call(through, body, **settings)
    except grpc.RpcError as error:
        return error
    raise AssertionError("it was taken")


def code(error: grpc.RpcError) -> grpc.StatusCode:
    """Return the status that a call failed with."""
    assert isinstance(error, grpc.Call)
    return error.code()


def said(error: grpc.RpcError) -> str:
    """Return what the sender was told."""
    assert isinstance(error, grpc.Call)
    return error.details()


def trailing(error: grpc.RpcError) -> dict[str, Any]:
    """Return what else the sender was told."""
    assert isinstance(error, grpc.Call)
    return {field.key: field.value for field in error.trailing_metadata()}
